#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/status.h"

namespace npustream::serving {

// A compiled model and what belongs to it.
struct OmCacheEntry {
  std::filesystem::path om;
  std::filesystem::path interface_json;  // the ONNX file's inputs and outputs, as ParseOnnxJson reads them
};

// Finds the entry of `key` below CacheFolder()/om, or has it made: `make` gets an empty scratch folder and must leave
// model.om and interface.json there, which are then published together. Of several processes or threads that want one
// key, one makes it and the others wait. An entry that is damaged is made again. Nothing is ever deleted: the folder
// may be emptied by hand at any time. `stem` (a model's name) begins the file's name, for people. Any thread.
Result<OmCacheEntry> GetOrMakeOm(const std::string& stem, const std::string& key,
                                 const std::function<Status(const std::filesystem::path& scratch)>& make);

}  // namespace npustream::serving
