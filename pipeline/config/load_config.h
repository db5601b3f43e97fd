#pragma once

#include <filesystem>

#include "base/status.h"
#include "pipeline/config/run_config.h"

namespace npustream::pipeline {

// Reads and validates a file of cameras; docs/configuration.md has every key. Errors name file, line and key, with a
// suggestion for a key or model name that was mistyped; no camera is opened, no model compiled. Relative paths of
// inputs, descriptions and labels start at the file's folder, or at the current one when it is a pipe; those of outputs
// at the current folder. Any thread.
Result<RunConfig> LoadRunConfig(const std::filesystem::path& path);

}  // namespace npustream::pipeline
