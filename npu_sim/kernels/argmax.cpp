// ArgMax and ArgMin along one axis; the first of equals unless select_last_index.
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

struct Plan {
  int64_t outer, size, inner;
  bool least, last;
};

template <typename T>
std::unique_ptr<Executor> Search(const Plan& p) {
  return MakeExecutor([p](const Arguments& a) {
    for (int64_t o = 0; o < p.outer; ++o) {
      for (int64_t i = 0; i < p.inner; ++i) {
        const T* x = In<T>(a, 0) + o * p.size * p.inner + i;
        int64_t best = 0;
        for (int64_t k = 1; k < p.size; ++k) {
          const T value = x[k * p.inner], top = x[best * p.inner];
          if ((p.least ? value < top : value > top) || (p.last && value == top)) best = k;
        }
        Out<int64_t>(a)[o * p.inner + i] = best;
      }
    }
  });
}

using Make = std::unique_ptr<Executor> (*)(const Plan&);

// Null for types that are not done.
Make FindSearch(om::DataType type) {
  switch (type) {
    case om::DataType::kFloat32: return Search<float>;
    case om::DataType::kInt8: return Search<int8_t>;
    case om::DataType::kUInt8: return Search<uint8_t>;
    case om::DataType::kInt32: return Search<int32_t>;
    case om::DataType::kInt64: return Search<int64_t>;
    default: return nullptr;
  }
}

class ArgMax final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    if (FindSearch(problem.inputs[0].type) == nullptr)
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
    const int64_t outer = om::ElementCount(om::Dims(dims.begin(), dims.begin() + axis));
    const int64_t inner = om::ElementCount(om::Dims(dims.begin() + axis + 1, dims.end()));
    return FindSearch(problem.inputs[0].type)({outer, dims[axis], inner, problem.node->op == "ArgMin",
                                               om::GetInt(*problem.node, "select_last_index", 0) != 0});
  }
};

}  // namespace

const Kernel* ArgMaxKernel() {
  static const ArgMax kernel;
  return &kernel;
}

}  // namespace npustream::kernels
