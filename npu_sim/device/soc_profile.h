#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace npustream::device {

// What the chip is.
struct SocProfile {
  std::string name;  // as --soc_version of atc writes it: "Ascend310P3"
  int ai_cores = 0;
  int vector_cores = 0;
  int cube_mhz = 0;
  uint64_t memory_bytes = 0;
  uint64_t l2_bytes = 0;
  uint64_t unified_buffer_bytes = 0;  // a core's own memory, where a fused operator keeps what lies between its parts
};

// The profile of that name, with or without "Ascend" in front; kInvalidArgument names all that exist.
Result<SocProfile> FindSocProfile(std::string_view name);

}  // namespace npustream::device
