#pragma once

namespace npustream::dvpp {

// Which vector instructions a fast path may use.
enum class Simd { kScalar, kAvx2, kAvx512 };

// The best that this processor has; NPUSTREAM_SIMD=scalar|avx2 lowers it. kAvx512 stands for F, BW, VL and VBMI.
Simd BestSimd();
// True when the processor can run `simd`.
bool CanRun(Simd simd);

}  // namespace npustream::dvpp

// In front of a function which is compiled for these instructions whatever the rest of the program is compiled for.
#define NPUSTREAM_AVX2 __attribute__((target("avx2")))
#define NPUSTREAM_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx2")))
