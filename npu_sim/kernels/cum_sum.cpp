// CumSum: running sums along one axis; exclusive ones leave an element out of its own sum, reverse ones begin at the
// end.
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// Floats are summed in double, whole numbers in 64 bits that wrap around.
template <typename T, typename Sum>
std::unique_ptr<Executor> CumSumExecutor(const om::Dims& dims, int64_t axis, bool exclusive, bool reverse) {
  const int64_t outer = om::ElementCount(om::Dims(dims.begin(), dims.begin() + axis)), size = dims[axis];
  const int64_t inner = om::ElementCount(om::Dims(dims.begin() + axis + 1, dims.end()));
  return MakeExecutor([=](const Arguments& a) {
    for (int64_t line = 0; line < outer * inner; ++line) {
      const int64_t begin = line / inner * size * inner + line % inner;
      Sum sum = 0;
      for (int64_t k = 0; k < size; ++k) {
        const int64_t at = begin + (reverse ? size - 1 - k : k) * inner;
        const Sum with = sum + static_cast<Sum>(In<T>(a, 0)[at]);
        Out<T>(a)[at] = static_cast<T>(exclusive ? sum : with);
        sum = with;
      }
    }
  });
}

class CumSum final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    const om::DataType type = problem.inputs[0].type;
    const bool known = type == om::DataType::kFloat32 || type == om::DataType::kInt64 || type == om::DataType::kInt32;
    if (!known || problem.outputs[0].type != type) return Unsupported("type {}", om::ToString(type));
    NPUSTREAM_RETURN_IF_ERROR(Axis(problem).status());
    return RequireOutputDims(problem, 0, problem.inputs[0].dims);
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, Axis(problem));
    const om::Dims& dims = problem.inputs[0].dims;
    const bool exclusive = om::GetInt(*problem.node, "exclusive", 0) != 0,
               reverse = om::GetInt(*problem.node, "reverse", 0) != 0;
    switch (problem.inputs[0].type) {
      case om::DataType::kInt64: return CumSumExecutor<int64_t, uint64_t>(dims, axis, exclusive, reverse);
      case om::DataType::kInt32: return CumSumExecutor<int32_t, uint64_t>(dims, axis, exclusive, reverse);
      default: return CumSumExecutor<float, double>(dims, axis, exclusive, reverse);
    }
  }

 private:
  static Result<int64_t> Axis(const Problem& problem) {
    return NormalAxis(om::GetInt(*problem.node, "axis", 0), problem.inputs[0].dims.size());
  }
};

}  // namespace

const Kernel* CumSumKernel() {
  static const CumSum kernel;
  return &kernel;
}

}  // namespace npustream::kernels
