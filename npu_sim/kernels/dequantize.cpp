// DequantizeLinear: (x − zero point) · scale, per tensor or along one axis.
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

template <typename T>
std::unique_ptr<Executor> DequantizeExecutor(int64_t outer, int64_t size, int64_t inner, bool per_axis) {
  return MakeExecutor([=](const Arguments& a) {
    const T* zero_points = In<T>(a, 2);
    int64_t at = 0;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < size; ++k) {
        const float scale = In<float>(a, 1)[per_axis ? k : 0];
        const int64_t zero = zero_points ? zero_points[per_axis ? k : 0] : 0;
        for (int64_t i = 0; i < inner; ++i, ++at)
          Out<float>(a)[at] = static_cast<float>(In<T>(a, 0)[at] - zero) * scale;
      }
    }
  });
}

class Dequantize final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 3));
    const TensorInfo &x = problem.inputs[0], &scale = problem.inputs[1];
    const bool known =
        x.type == om::DataType::kInt8 || x.type == om::DataType::kUInt8 || x.type == om::DataType::kInt32;
    if (!known || scale.type != om::DataType::kFloat32 || problem.outputs[0].type != om::DataType::kFloat32)
      return Unsupported("type {}", om::ToString(x.type));
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t size, AxisSize(problem));
    const int64_t count = om::ElementCount(scale.dims);
    if (count != 1 && count != size) return Invalid("{} scales for an axis of {}", count, size);
    if (!IsAbsent(problem, 2) &&
        (problem.inputs[2].type != x.type || om::ElementCount(problem.inputs[2].dims) != count))
      return Invalid("zero points do not fit");
    return RequireOutputDims(problem, 0, x.dims);
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const TensorInfo& x = problem.inputs[0];
    const bool per_axis = om::ElementCount(problem.inputs[1].dims) != 1;
    int64_t outer = 1, size = 1, inner = om::ElementCount(x.dims);
    if (per_axis) {
      NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 1), x.dims.size()));
      outer = om::ElementCount(om::Dims(x.dims.begin(), x.dims.begin() + axis));
      size = x.dims[axis];
      inner = om::ElementCount(om::Dims(x.dims.begin() + axis + 1, x.dims.end()));
    }
    if (x.type == om::DataType::kInt8) return Ready(problem, DequantizeExecutor<int8_t>(outer, size, inner, per_axis));
    if (x.type == om::DataType::kUInt8)
      return Ready(problem, DequantizeExecutor<uint8_t>(outer, size, inner, per_axis));
    return Ready(problem, DequantizeExecutor<int32_t>(outer, size, inner, per_axis));
  }

 private:
  // The axis matters only when there is more than one scale.
  static Result<int64_t> AxisSize(const Problem& problem) {
    const om::Dims& dims = problem.inputs[0].dims;
    if (om::ElementCount(problem.inputs[1].dims) == 1) return int64_t{1};
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 1), dims.size()));
    return dims[axis];
  }

  // Gives executors of two inputs a third one that is null.
  static std::unique_ptr<Executor> Ready(const Problem& problem, std::unique_ptr<Executor> inner) {
    if (problem.inputs.size() == 3) return inner;
    return MakeExecutor([inner = std::shared_ptr<Executor>(std::move(inner))](const Arguments& a) {
      const std::byte* const inputs[3] = {a.inputs[0], a.inputs[1], nullptr};
      static_cast<void>(inner->Run({inputs, a.outputs, a.scratch}));
    });
  }
};

}  // namespace

const Kernel* DequantizeKernel() {
  static const Dequantize kernel;
  return &kernel;
}

}  // namespace npustream::kernels
