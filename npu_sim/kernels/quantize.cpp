// Quantize and Dequantize, operators of the compiler's own: between real numbers and the integers that stand for them
// by the quantisation of the tensor (om::Quantization). uint8 with one scale in any layout; other types and scales per
// axis one by one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/byte_planes.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// Index of the scale of element i.
struct Scales {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  int64_t inner = 1;  // elements that share one, in a row

  explicit Scales(const TensorInfo& tensor)
      : scales(tensor.quantization->scales), zero_points(tensor.quantization->zero_points) {
    for (size_t axis = static_cast<size_t>(tensor.quantization->axis) + 1; axis < tensor.dims.size(); ++axis)
      inner *= tensor.dims[axis];
  }
  size_t Of(int64_t i) const { return static_cast<size_t>(i / inner) % scales.size(); }
};

template <typename T>
std::unique_ptr<Executor> OneByOne(const Problem& problem) {
  const bool forward = problem.node->op == "Quantize";
  const TensorInfo& integers = forward ? problem.outputs[0] : problem.inputs[0];
  const int64_t count = om::ElementCount(integers.dims);
  if (!forward) {
    return MakeExecutor([s = Scales(integers), count](const Arguments& a) {
      for (int64_t i = 0; i < count; ++i) {
        const size_t k = s.Of(i);
        Out<float>(a)[i] = static_cast<float>(static_cast<int64_t>(In<T>(a, 0)[i]) - s.zero_points[k]) * s.scales[k];
      }
    });
  }
  return MakeExecutor([s = Scales(integers), count](const Arguments& a) {
    constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min()),
                   kHigh = static_cast<double>(std::numeric_limits<T>::max());
    for (int64_t i = 0; i < count; ++i) {
      const size_t k = s.Of(i);
      const double steps = std::nearbyint(In<float>(a, 0)[i] / s.scales[k]) + s.zero_points[k];
      Out<T>(a)[i] = static_cast<T>(std::isnan(steps) ? 0 : std::clamp(steps, kLow, kHigh));
    }
  });
}

class Quantize final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    const bool forward = problem.node->op == "Quantize";
    const TensorInfo& integers = forward ? problem.outputs[0] : problem.inputs[0];
    const TensorInfo& reals = forward ? problem.inputs[0] : problem.outputs[0];
    if (!integers.quantization) return Invalid("integers that stand for nothing");
    switch (integers.type) {
      case om::DataType::kUInt8:
      case om::DataType::kInt8:
      case om::DataType::kUInt16:
      case om::DataType::kInt16:
      case om::DataType::kInt32: break;
      default: return Unsupported("integers of type {}", om::ToString(integers.type));
    }
    if (reals.type != om::DataType::kFloat32) return Unsupported("type {}", om::ToString(reals.type));
    return RequireOutputDims(problem, 0, problem.inputs[0].dims);
  }

  Result<Choice> Choose(const Problem& problem) const override {
    if (!IsFast(problem)) return PlainChoice(problem, "one by one");
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    choice.inputs[0] = choice.outputs[0] = problem.inputs[0].layout;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    const TensorInfo &in = problem.inputs[0], &out = problem.outputs[0];
    if (IsPicture(problem)) return Picture(problem);
    if (in.layout != out.layout) return Invalid("layouts differ");
    if (IsFast(problem)) return Vectors(problem);
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    switch (problem.node->op == "Quantize" ? out.type : in.type) {
      case om::DataType::kInt8: return OneByOne<int8_t>(problem);
      case om::DataType::kUInt16: return OneByOne<uint16_t>(problem);
      case om::DataType::kInt16: return OneByOne<int16_t>(problem);
      case om::DataType::kInt32: return OneByOne<int32_t>(problem);
      default: return OneByOne<uint8_t>(problem);
    }
  }

 private:
  // Planes that become pixels of four bytes at once; the lowering asks for it.
  static bool IsPicture(const Problem& problem) {
    const TensorInfo &in = problem.inputs[0], &out = problem.outputs[0];
    return problem.node->op == "Quantize" && IsByteTensor(out) && in.layout == om::Layout::kPlain &&
           out.layout == om::Layout::kBlocked4 && in.dims.size() >= 3 && in.dims[1] >= 1 && in.dims[1] <= 4;
  }

  static std::unique_ptr<Executor> Picture(const Problem& problem) {
    const TensorInfo &in = problem.inputs[0], &out = problem.outputs[0];
    const auto images = static_cast<size_t>(in.dims[0]), channels = static_cast<size_t>(in.dims[1]);
    const size_t pixels = images > 0 ? static_cast<size_t>(om::ElementCount(in.dims)) / (images * channels) : 0;
    const auto zero = static_cast<float>(out.quantization->zero_points[0]);
    return MakeExecutor([=, quantize = SimdFor(problem.isa).quantize, scale = out.quantization->scales[0]](const Arguments& a) {
      constexpr size_t kAtOnce = 1024;
      uint8_t planes[4 * kAtOnce];
      for (size_t n = 0; n < images; ++n) {
        const float* from = In<float>(a, 0) + n * channels * pixels;
        for (size_t first = 0; first < pixels; first += kAtOnce) {
          const size_t count = std::min(kAtOnce, pixels - first);
          for (size_t c = 0; c < channels; ++c) quantize(from + c * pixels + first, planes + c * count, count, scale, zero);
          JoinFourPlanes(planes, channels, count, Out<uint8_t>(a) + (n * pixels + first) * 4);
        }
      }
    });
  }

  static bool IsFast(const Problem& problem) {
    return IsByteTensor(problem.node->op == "Quantize" ? problem.outputs[0] : problem.inputs[0]);
  }

  static std::unique_ptr<Executor> Vectors(const Problem& problem) {
    const TensorInfo &in = problem.inputs[0], &out = problem.outputs[0];
    const SimdTable& simd = SimdFor(problem.isa);
    const size_t count = StoredCount(in);
    if (problem.node->op == "Quantize") {
      const auto zero = static_cast<float>(out.quantization->zero_points[0]);
      return MakeExecutor([=, quantize = simd.quantize, scale = out.quantization->scales[0]](const Arguments& a) {
        quantize(In<float>(a, 0), Out<uint8_t>(a), count, scale, zero);
      });
    }
    const auto zero = static_cast<float>(in.quantization->zero_points[0]);
    return MakeExecutor([=, dequantize = simd.dequantize, scale = in.quantization->scales[0], dims = out.dims,
                         layout = out.layout](const Arguments& a) {
      dequantize(In<uint8_t>(a, 0), Out<float>(a), count, scale, zero);
      ClearPadding(Out<float>(a), dims, layout);
    });
  }
};

}  // namespace

const Kernel* QuantizeKernel() {
  static const Quantize kernel;
  return &kernel;
}

}  // namespace npustream::kernels
