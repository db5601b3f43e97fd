#include "npu_sim/kernels/isa.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "npu_sim/kernels/simd/simd.h"

namespace npustream::kernels {
namespace {

// Counts up when the form of packed weights or the meaning of a step changes.
constexpr int kRevision = 8;

bool EmulatesAmx() {
  static const bool emulates = [] {
    const char* wish = std::getenv("NPUSTREAM_EMULATE_AMX");
    return wish != nullptr && std::string_view(wish) == "1";
  }();
  return emulates;
}

// The operating system keeps the tiles' state only for processes that have asked for it: Linux,
// Documentation/arch/x86/xstate.rst.
bool MayUseTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

Isa RunningIsa() {
  static const Isa isa = [] {
    // oneDNN's answer already takes CPUID, the operating system's state saving and its environment variable into
    // account.
    const auto engine = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    const auto covers = [&](dnnl::cpu_isa wanted) {
      return (engine & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
    };
    if (covers(dnnl::cpu_isa::avx512_core_amx) && MayUseTiles()) return Isa::kAmx;
    if (covers(dnnl::cpu_isa::avx512_core_vnni)) return EmulatesAmx() ? Isa::kAmx : Isa::kAvx512Vnni;
    if (covers(dnnl::cpu_isa::avx512_core)) return Isa::kAvx512;
    if (covers(dnnl::cpu_isa::avx2) && __builtin_cpu_supports("fma")) return Isa::kAvx2;
    return Isa::kBaseline;
  }();
  return isa;
}

const char* ToString(Isa isa) {
  switch (isa) {
    case Isa::kBaseline: return "baseline";
    case Isa::kAvx2: return "avx2";
    case Isa::kAvx512: return "avx512";
    case Isa::kAvx512Vnni: return "avx512_vnni";
    case Isa::kAmx: return "amx";
  }
  return "unknown";
}

om::Layout BlockedLayout(Isa isa) { return isa >= Isa::kAvx512 ? om::Layout::kBlocked16 : om::Layout::kBlocked8; }

std::optional<Isa> FindIsa(std::string_view name) {
  for (const Isa isa : kAllIsas) {
    if (name == ToString(isa)) return isa;
  }
  return std::nullopt;
}

std::string PackingVersion(bool with_dnnl) {
  const std::string own = fmt::format("npustream kernels {}", kRevision);
  if (!with_dnnl) return own;
  const dnnl::version_t* version = dnnl::version();
  return fmt::format("{}, oneDNN {}.{}.{} {} for {:#x}", own, version->major, version->minor, version->patch,
                     version->hash, static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
}

const SimdTable& SimdFor(Isa isa) {
  switch (isa) {
    case Isa::kAmx: {
      static const SimdTable table = [] {
        SimdTable made = SimdFor(Isa::kAvx512Vnni);
        EmulatesAmx() ? FillBlocksEmulated(made) : FillBlocksAmx(made);
        return made;
      }();
      return table;
    }
    case Isa::kAvx512Vnni: {
      static const SimdTable table = [] {
        SimdTable made = Avx512Simd();
        FillBytesAvx512Vnni(made);
        return made;
      }();
      return table;
    }
    case Isa::kAvx512: return Avx512Simd();
    case Isa::kAvx2: return Avx2Simd();
    case Isa::kBaseline: break;
  }
  return BaselineSimd();
}

}  // namespace npustream::kernels
