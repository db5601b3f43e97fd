#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "apps/atc/outcome.h"

namespace npustream::atc {

// --fusion_switch_file: names of the passes that it switches off. Two forms are read: lines "Pass:off", and JSON with
// "Pass":"off" at any depth. "ALL" (or the vendor's group names GraphFusion and UBFusion with the value off) means
// every pass. Names of passes that do not exist here are ignored with a warning, as the vendor's are others.
Outcome<std::set<std::string>> ReadFusionSwitches(const std::filesystem::path& path);

}  // namespace npustream::atc
