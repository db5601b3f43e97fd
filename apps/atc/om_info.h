#pragma once

#include <filesystem>

#include "apps/atc/outcome.h"

namespace npustream::atc {

// Mode 6: prints what an OM says about itself: how it was made, for which chip, what it needs, its parts' sizes.
Check PrintOmInfo(const std::filesystem::path& path);

}  // namespace npustream::atc
