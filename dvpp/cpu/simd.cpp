#include "dvpp/cpu/simd.h"

#include <cstdlib>
#include <string_view>

namespace npustream::dvpp {

bool CanRun(Simd simd) {
  switch (simd) {
    case Simd::kScalar: return true;
    case Simd::kAvx2: return __builtin_cpu_supports("avx2");
    case Simd::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi");
  }
  return false;
}

namespace {

Simd Choose() {
  const char* text = std::getenv("NPUSTREAM_SIMD");
  const std::string_view limit = text ? text : "";
  if (limit != "scalar" && limit != "avx2" && CanRun(Simd::kAvx512)) return Simd::kAvx512;
  if (limit != "scalar" && CanRun(Simd::kAvx2)) return Simd::kAvx2;
  return Simd::kScalar;
}

}  // namespace

Simd BestSimd() {
  static const Simd best = Choose();
  return best;
}

}  // namespace npustream::dvpp
