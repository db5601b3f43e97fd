// Gather: picks slices along one axis. Indices that are computed are clamped into the axis, as no run may fail.
#include <algorithm>
#include <cstring>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

template <typename T>
std::unique_ptr<Executor> GatherExecutor(int64_t outer, int64_t axis_size, int64_t count, size_t slice_bytes) {
  return MakeExecutor([=](const Arguments& a) {
    const T* indices = In<T>(a, 1);
    const auto slice = static_cast<int64_t>(slice_bytes);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < count; ++i) {
        int64_t index = indices[i];
        if (index < 0) index += axis_size;
        index = std::clamp<int64_t>(index, 0, axis_size - 1);
        std::memcpy(a.outputs[0] + (o * count + i) * slice, a.inputs[0] + (o * axis_size + index) * slice, slice_bytes);
      }
    }
  });
}

class Gather final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 2));
    const TensorInfo &data = problem.inputs[0], &indices = problem.inputs[1];
    if (indices.type != om::DataType::kInt64 && indices.type != om::DataType::kInt32)
      return Unsupported("indices of type {}", om::ToString(indices.type));
    if (problem.outputs[0].type != data.type) return Invalid("types differ");
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 0), data.dims.size()));
    if (data.dims[axis] < 1) return Invalid("axis {} is empty", axis);
    om::Dims expected(data.dims.begin(), data.dims.begin() + axis);
    expected.insert(expected.end(), indices.dims.begin(), indices.dims.end());
    expected.insert(expected.end(), data.dims.begin() + axis + 1, data.dims.end());
    return RequireOutputDims(problem, 0, expected);
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const TensorInfo &data = problem.inputs[0], &indices = problem.inputs[1];
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 0), data.dims.size()));
    const int64_t outer = om::ElementCount(om::Dims(data.dims.begin(), data.dims.begin() + axis));
    const int64_t inner = om::ElementCount(om::Dims(data.dims.begin() + axis + 1, data.dims.end()));
    const int64_t count = om::ElementCount(indices.dims);
    const size_t slice = static_cast<size_t>(inner) * om::SizeOf(data.type);
    if (indices.type == om::DataType::kInt64) return GatherExecutor<int64_t>(outer, data.dims[axis], count, slice);
    return GatherExecutor<int32_t>(outer, data.dims[axis], count, slice);
  }
};

}  // namespace

const Kernel* GatherKernel() {
  static const Gather kernel;
  return &kernel;
}

}  // namespace npustream::kernels
