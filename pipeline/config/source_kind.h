#pragma once

#include <string>

#include "pipeline/config/run_config.h"

namespace npustream::pipeline {

// What a `uri:`, `file:` or --input means: a URI unless it is a path or file://…; a path is a folder of pictures, a
// picture or a video, which the file's content tells, not its name. A path that leads nowhere counts as a video.
SourceKind SourceKindOf(const std::string& location);

// The path of a location that is no URI: file:// is taken off.
std::string PathOfSource(const std::string& location);

// What is wrong with a network URI's host or port; empty when nothing is. Other URIs are not looked at.
std::string MistakeOfUri(const std::string& uri);

}  // namespace npustream::pipeline
