// Concat along any axis. (Joins of channels become Planes steps, or no step at all, when a graph is lowered.)
#include <algorithm>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

class Concat final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 4096));
    const TensorInfo& out = problem.outputs[0];
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 0), out.dims.size()));
    om::Dims sum = out.dims;
    sum[axis] = 0;
    for (const TensorInfo& input : problem.inputs) {
      if (input.absent || input.type != out.type || input.dims.size() != out.dims.size())
        return Invalid("inputs of different type or rank");
      om::Dims part = input.dims;
      part[axis] = out.dims[axis];
      if (part != out.dims) return Invalid("{} does not join into {}", DimsText(input.dims), DimsText(out.dims));
      sum[axis] += input.dims[axis];
    }
    return RequireOutputDims(problem, 0, sum);
  }

  // Joins of whole groups of channels, which take no step.
  bool MovesBf16(const Problem& problem) const override {
    const om::Dims& out = problem.outputs[0].dims;
    const int64_t block = om::BlockOf(BlockedLayout(problem.isa));
    const auto fills_groups = [&](const TensorInfo& input) {
      return input.type == om::DataType::kFloat32 && input.dims.size() == 4 && input.dims[1] % block == 0;
    };
    return problem.isa == Isa::kAmx && out.size() == 4 && out[0] == 1 && om::GetInt(*problem.node, "axis", 0) == 1 &&
           std::all_of(problem.inputs.begin(), problem.inputs.end(), fills_groups);
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const TensorInfo& out = problem.outputs[0];
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", 0), out.dims.size()));
    const size_t element = om::SizeOf(out.type);
    const auto strides = Strides(out.dims);
    std::vector<std::pair<int64_t, StridedCopy>> copies;
    int64_t start = 0;
    for (const TensorInfo& input : problem.inputs) {
      copies.emplace_back(start * strides[axis] * static_cast<int64_t>(element),
                          StridedCopy(input.dims, Strides(input.dims), strides, element, problem.isa));
      start += input.dims[axis];
    }
    return MakeExecutor([copies = std::move(copies)](const Arguments& a) {
      for (size_t i = 0; i < copies.size(); ++i) copies[i].second.Run(a.inputs[i], a.outputs[0] + copies[i].first);
    });
  }
};

}  // namespace

const Kernel* ConcatKernel() {
  static const Concat kernel;
  return &kernel;
}

}  // namespace npustream::kernels
