// BatchNormalization that could not be folded into a convolution: y = x · s + t per channel, s and t computed when the
// executor is prepared.
#include <cmath>
#include <cstring>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

class BatchNorm final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 5, 5));
    NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
    const om::Dims& x = problem.inputs[0].dims;
    if (x.size() < 2) return Invalid("rank {}", x.size());
    for (size_t i = 1; i < 5; ++i) {
      if (problem.inputs[i].dims != om::Dims{x[1]} || !problem.inputs[i].is_constant)
        return Unsupported("parameters must be constants of one value per channel");
    }
    return RequireOutputDims(problem, 0, x);
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    choice.inputs[0] = choice.outputs[0] = problem.inputs[0].layout;
    choice.in_place_input = 0;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    const TensorInfo& x = problem.inputs[0];
    if (x.layout != problem.outputs[0].layout) return Invalid("layouts differ");
    const auto block = static_cast<size_t>(om::BlockOf(x.layout)), channels = static_cast<size_t>(x.dims[1]);
    const size_t groups = (channels + block - 1) / block, images = static_cast<size_t>(x.dims[0]);
    const size_t pixels = images * groups > 0 ? StoredCount(x) / (images * groups * block) : 0;
    std::vector<float> scale(groups * block), shift(groups * block);
    const auto value = [&](size_t input, size_t channel) {
      float read = 0;
      std::memcpy(&read, problem.inputs[input].constant.data() + channel * sizeof(float), sizeof(float));
      return static_cast<double>(read);
    };
    const double epsilon = om::GetFloat(*problem.node, "epsilon", 1e-5f);
    for (size_t i = 1; i < 5; ++i) {
      if (problem.inputs[i].constant.size() != channels * sizeof(float))
        return Invalid("parameter {} has another size", i);
    }
    for (size_t c = 0; c < channels; ++c) {
      const double s = value(1, c) / std::sqrt(value(4, c) + epsilon);
      scale[c] = static_cast<float>(s);
      shift[c] = static_cast<float>(value(2, c) - value(3, c) * s);
    }
    const SimdTable& simd = SimdFor(problem.isa);
    if (block == 1) {
      const auto mul = simd.binary_scalar[static_cast<int>(BinaryOp::kMul)],
                 add = simd.binary_scalar[static_cast<int>(BinaryOp::kAdd)];
      return MakeExecutor([=](const Arguments& a) {
        for (size_t i = 0; i < images * channels; ++i) {
          mul(In<float>(a, 0) + i * pixels, scale[i % channels], Out<float>(a) + i * pixels, pixels, false);
          add(Out<float>(a) + i * pixels, shift[i % channels], Out<float>(a) + i * pixels, pixels, false);
        }
      });
    }
    const auto mul = simd.binary_lanes[static_cast<int>(BinaryOp::kMul)],
               add = simd.binary_lanes[static_cast<int>(BinaryOp::kAdd)];
    return MakeExecutor([=](const Arguments& a) {
      for (size_t i = 0; i < images * groups; ++i) {
        const size_t at = i * pixels * block, lanes = i % groups * block;
        mul(In<float>(a, 0) + at, scale.data() + lanes, Out<float>(a) + at, pixels, block, false);
        add(Out<float>(a) + at, shift.data() + lanes, Out<float>(a) + at, pixels, block, false);
      }
    });
  }
};

}  // namespace

const Kernel* BatchNormKernel() {
  static const BatchNorm kernel;
  return &kernel;
}

}  // namespace npustream::kernels
