#pragma once

#include <filesystem>
#include <string>

#include "pipeline/config/run_config.h"

namespace npustream::pipeline {

// True for a name that ends like a picture that can be decoded: jpg, jpeg, png, bmp, webp, in any case.
bool IsPictureName(const std::filesystem::path& name);

// What a `uri:`, `file:` or --input means: a URI unless it is a path or file://…; a path is a folder of pictures, a
// picture or a video. Looks at the file system to tell folders apart.
SourceKind SourceKindOf(const std::string& location);

// The path of a location that is no URI: file:// is taken off.
std::string PathOfSource(const std::string& location);

}  // namespace npustream::pipeline
