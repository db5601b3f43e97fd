#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/status.h"

namespace npustream::serving {

struct PullOptions {
  // Told how far the transfer is; `total_bytes` is 0 while that is unknown. Called on the pulling thread; may be empty.
  std::function<void(uint64_t bytes, uint64_t total_bytes)> progress;
};

struct PulledModel {
  std::filesystem::path file;
  bool was_there = false;  // a file with the right sha256 had been there before; nothing was transferred
};

// Brings the file of a described model (`name` as for --model) into the first folder of NPUSTREAM_MODEL_PATH that can
// be written, else into UserModelFolder(). It comes from NPUSTREAM_MODEL_MIRROR, a folder or a base URL under which the
// file lies by its name, else from the description's source-url. The file appears only whole and with the description's
// sha256. kNotFound for a name, mirror file or address that does not exist, kUnsupported for a model whose description
// names no source or no sha256, kUnavailable when the network fails, kCorruptData for another sha256. Any thread.
Result<PulledModel> PullModel(const std::string& name, const PullOptions& options = {});

}  // namespace npustream::serving
