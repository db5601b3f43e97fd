#pragma once

#include <string>
#include <vector>

namespace npustream::atc {

// The whole program: reads the flags, does what --mode says, prints the tool's lines. Returns the exit code: 0 done,
// 1 failed.
int Run(const std::vector<std::string>& arguments);

}  // namespace npustream::atc
