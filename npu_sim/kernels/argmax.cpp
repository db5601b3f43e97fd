// ArgMax and ArgMin along one axis; the first of equals unless select_last_index.
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

class ArgMax final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    if (problem.inputs[0].type != om::DataType::kFloat32)
      return Unsupported("type {}", om::ToString(problem.inputs[0].type));
    if (problem.outputs[0].type != om::DataType::kInt64)
      return Invalid("result of type {}", om::ToString(problem.outputs[0].type));
    om::Dims expected = problem.inputs[0].dims;
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 0), expected.size()));
    if (expected[axis] < 1) return Invalid("axis {} is empty", axis);
    if (om::GetInt(*problem.node, "keepdims", 1) != 0) {
      expected[axis] = 1;
    } else {
      expected.erase(expected.begin() + axis);
    }
    return RequireOutputDims(problem, 0, expected);
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const om::Dims& dims = problem.inputs[0].dims;
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 0), dims.size()));
    const int64_t outer = om::ElementCount(om::Dims(dims.begin(), dims.begin() + axis)), size = dims[axis];
    const int64_t inner = om::ElementCount(om::Dims(dims.begin() + axis + 1, dims.end()));
    const bool least = problem.node->op == "ArgMin", last = om::GetInt(*problem.node, "select_last_index", 0) != 0;
    return MakeExecutor([=](const Arguments& a) {
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t i = 0; i < inner; ++i) {
          const float* x = In<float>(a, 0) + o * size * inner + i;
          int64_t best = 0;
          for (int64_t k = 1; k < size; ++k) {
            const float value = x[k * inner], top = x[best * inner];
            if ((least ? value < top : value > top) || (last && value == top)) best = k;
          }
          Out<int64_t>(a)[o * inner + i] = best;
        }
      }
    });
  }
};

}  // namespace

const Kernel* ArgMaxKernel() {
  static const ArgMax kernel;
  return &kernel;
}

}  // namespace npustream::kernels
