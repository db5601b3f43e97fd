#include "npu_sim/device/soc_profile.h"

#include <array>

#include <fmt/format.h>

namespace npustream::device {
namespace {

constexpr uint64_t kKiB = uint64_t{1} << 10;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

struct Row {
  std::string_view name;
  int ai_cores;
  int vector_cores;
  int cube_mhz;
  uint64_t memory_bytes;
  uint64_t l2_bytes;
  uint64_t unified_buffer_bytes;
};

// Cores, clocks, L2, unified buffers and most memory sizes are those of the platform files of CANN 8.1. These leave the
// memory of the 310, the 310B4 and the 910A open; there it is that of the Atlas 200 (8 GiB), the Atlas 200I A2 (4 GiB) and
// the Atlas 800 with 910A (32 GiB).
constexpr std::array kRows = {
    Row{"Ascend310", 2, 0, 680, 8 * kGiB, 8 * kMiB, 248 * kKiB},
    Row{"Ascend310P3", 8, 7, 1060, 24'000'000'000, 16 * kMiB, 256 * kKiB},
    Row{"Ascend310P1", 10, 8, 1060, 24'000'000'000, 16 * kMiB, 256 * kKiB},
    Row{"Ascend310B1", 1, 1, 1224, 32 * kGiB, 4 * kMiB, 248 * kKiB},
    Row{"Ascend310B4", 1, 1, 500, 4 * kGiB, 4 * kMiB, 248 * kKiB},
    Row{"Ascend910A", 32, 0, 1000, 32 * kGiB, 32 * kMiB, 256 * kKiB},
    Row{"Ascend910B1", 24, 48, 1850, 64 * kGiB, 192 * kMiB, 192 * kKiB},
    Row{"Ascend910B2", 24, 48, 1800, 64 * kGiB, 192 * kMiB, 192 * kKiB},
    Row{"Ascend910B3", 20, 40, 1800, 64 * kGiB, 192 * kMiB, 192 * kKiB},
    Row{"Ascend910B4", 20, 40, 1500, 32 * kGiB, 96 * kMiB, 192 * kKiB},
};

constexpr std::string_view kPrefix = "Ascend";

}  // namespace

Result<SocProfile> FindSocProfile(std::string_view name) {
  std::string known;
  for (const Row& row : kRows) {
    if (name == row.name || name == row.name.substr(kPrefix.size())) {
      return SocProfile{std::string(row.name), row.ai_cores, row.vector_cores,        row.cube_mhz,
                        row.memory_bytes,      row.l2_bytes, row.unified_buffer_bytes};
    }
    known += known.empty() ? "" : ", ";
    known += row.name;
  }
  return Status(StatusCode::kInvalidArgument, fmt::format("there is no SoC \"{}\"; known are {}", name, known));
}

}  // namespace npustream::device
