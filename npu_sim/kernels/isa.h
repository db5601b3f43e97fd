#pragma once

#include <string>

#include "base/status.h"
#include "npu_sim/om/native_plan.h"

namespace npustream::kernels {

// What the vector kernels are compiled for, each with all before it. kBaseline is plain x86-64; VNNI multiplies bytes, AMX
// tiles of them.
enum class Isa { kBaseline, kAvx2, kAvx512, kAvx512Vnni, kAmx };

// The best that this CPU and oneDNN's limit (environment variable ONEDNN_MAX_CPU_ISA, e.g. AVX2) allow. With
// NPUSTREAM_EMULATE_AMX=1 a CPU with VNNI has AMX too, whose instructions are done one by one: for tests.
Isa RunningIsa();
const char* ToString(Isa isa);
// The blocked layout that suits it: 16 channels for AVX-512, else 8.
om::Layout BlockedLayout(Isa isa);
// Names the engine that packs weights: "oneDNN 2.6.3 <commit>, npustream kernels <revision>".
std::string EngineVersion();

}  // namespace npustream::kernels
