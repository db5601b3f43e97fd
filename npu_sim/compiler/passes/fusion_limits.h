#pragma once

#include <cstdint>
#include <limits>

namespace npustream::compiler {

// What the chip that a model is compiled for sets to fusion.
struct FusionLimits {
  // A core's own memory (device/soc_profile.h).
  uint64_t buffer_bytes = std::numeric_limits<uint64_t>::max();

  // Whether a fused operator may be made whose smallest piece of work keeps `values` numbers between its parts. The chip
  // holds them as halves.
  bool Fits(uint64_t values) const { return values <= buffer_bytes / 2; }
};

}  // namespace npustream::compiler
