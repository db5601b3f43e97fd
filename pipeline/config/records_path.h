#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/config/run_config.h"

namespace npustream::pipeline {

// What may stand in a records path for something else: "{camera}".
const std::vector<std::string_view>& RecordsPlaceholders();

// Where a camera's records go: its own file or that of the outputs, with "{camera}" replaced; "" none, "-" stdout.
std::string RecordsPath(const RunConfig& config, const CameraConfig& camera);

// The same for a pipeline in a process of its own: when cameras share a file, the camera's name goes before its ending.
std::string SeparateRecordsPath(const RunConfig& config, const CameraConfig& camera);

}  // namespace npustream::pipeline
