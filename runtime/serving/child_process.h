#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"

namespace npustream::serving {

struct ProcessOutcome {
  int exit_code = 0;   // 128 + signal for one that was killed
  std::string output;  // stdout and stderr as they came; the last 64 KiB
};

// Runs a program to its end, with this process's environment and no input. Fails when it cannot be started; an exit
// code other than 0 is not a failure of this function. Any thread.
Result<ProcessOutcome> RunProgram(const std::filesystem::path& program, const std::vector<std::string>& arguments);

}  // namespace npustream::serving
