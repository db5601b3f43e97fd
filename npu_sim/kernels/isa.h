#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "npu_sim/om/native_plan.h"

namespace npustream::kernels {

// What the vector kernels are compiled for, each with all before it. kBaseline is plain x86-64; VNNI multiplies bytes, AMX
// tiles of them.
enum class Isa { kBaseline, kAvx2, kAvx512, kAvx512Vnni, kAmx };
inline constexpr std::array kAllIsas = {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni, Isa::kAmx};

// The best that this CPU and oneDNN's limit (environment variable ONEDNN_MAX_CPU_ISA, e.g. AVX2) allow. With
// NPUSTREAM_EMULATE_AMX=1 a CPU with VNNI has AMX too, whose instructions are done one by one: for tests.
Isa RunningIsa();
const char* ToString(Isa isa);
// The one of that name.
std::optional<Isa> FindIsa(std::string_view name);
// The blocked layout that suits it: 16 channels for AVX-512, else 8.
om::Layout BlockedLayout(Isa isa);
// Who packs weights: "npustream kernels <revision>"; where oneDNN packs some, also "oneDNN 2.6.3 <commit> for <the
// instructions it uses here, a number>", as what it does depends on all of that.
std::string PackingVersion(bool with_dnnl);

}  // namespace npustream::kernels
