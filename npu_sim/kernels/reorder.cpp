// Reorder, an operator of the lowering's own: the same tensor in another layout (or a plain copy).
#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/byte_planes.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// Bytes between planes and groups of `block` channels.
void ReorderBytes(const uint8_t* from, uint8_t* to, size_t channels, size_t pixels, size_t block, bool to_blocked) {
  if (to_blocked && block == 4 && channels <= 4) return JoinFourPlanes(from, channels, pixels, to);  // a picture
  if (!to_blocked && block == 16) {
    for (size_t c = 0; c < channels; c += block)
      SplitSixteenPlanes(from + c * pixels, std::min(block, channels - c), pixels, to + c * pixels, pixels);
    return;
  }
  for (size_t c = 0; c < channels; ++c) {
    const size_t plane = c * pixels, group = (c / block * pixels) * block + c % block;
    for (size_t p = 0; p < pixels; ++p) {
      if (to_blocked) {
        to[group + p * block] = from[plane + p];
      } else {
        to[plane + p] = from[group + p * block];
      }
    }
  }
}

class Reorder final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    if (problem.inputs[0].type != problem.outputs[0].type) return Invalid("types differ");
    return RequireOutputDims(problem, 0, problem.inputs[0].dims);
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    choice.inputs[0] = problem.inputs[0].layout;
    choice.outputs[0] = problem.outputs[0].layout;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    const TensorInfo &in = problem.inputs[0], &out = problem.outputs[0];
    if (in.layout == out.layout) {
      return MakeExecutor([bytes = in.Bytes()](const Arguments& a) { std::memcpy(a.outputs[0], a.inputs[0], bytes); });
    }
    const bool to_blocked = in.layout == om::Layout::kPlain;
    const om::Layout layout = to_blocked ? out.layout : in.layout;
    if (!to_blocked && out.layout != om::Layout::kPlain) return Invalid("one side must be plain");
    const bool bytes = in.type == om::DataType::kUInt8;
    if ((!bytes && in.type != om::DataType::kFloat32) || in.dims.size() < 3)
      return Unsupported("only images of float32 or uint8 can be blocked");
    const auto block = static_cast<size_t>(om::BlockOf(layout));
    const auto images = static_cast<size_t>(in.dims[0]), channels = static_cast<size_t>(in.dims[1]);
    const size_t pixels =
        images * channels > 0 ? static_cast<size_t>(om::ElementCount(in.dims)) / (images * channels) : 0;
    const size_t stored = (channels + block - 1) / block * block * pixels;
    if (bytes) {
      const size_t from_step = to_blocked ? channels * pixels : stored;
      const size_t to_step = to_blocked ? stored : channels * pixels;
      return MakeExecutor([=](const Arguments& a) {
        for (size_t n = 0; n < images; ++n) {
          ReorderBytes(In<uint8_t>(a, 0) + n * from_step, Out<uint8_t>(a) + n * to_step, channels, pixels, block,
                       to_blocked);
        }
      });
    }
    const auto function = to_blocked ? SimdFor(problem.isa).to_blocked : SimdFor(problem.isa).from_blocked;
    const size_t from_step = to_blocked ? channels * pixels : stored, to_step = to_blocked ? stored : channels * pixels;
    return MakeExecutor([=](const Arguments& a) {
      for (size_t n = 0; n < images; ++n)
        function(In<float>(a, 0) + n * from_step, Out<float>(a) + n * to_step, channels, pixels, block);
    });
  }
};

}  // namespace

const Kernel* ReorderKernel() {
  static const Reorder kernel;
  return &kernel;
}

}  // namespace npustream::kernels
