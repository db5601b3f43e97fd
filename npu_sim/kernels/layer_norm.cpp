// LayerNormalization (x, scale, [bias]): everything from `axis` on is one row, brought to mean 0 and variance 1, then
// scaled and shifted value by value.
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

class LayerNorm final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 3));
    NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t row, RowLength(problem));
    for (size_t i = 1; i < problem.inputs.size(); ++i) {
      if (IsAbsent(problem, i) && i > 1) continue;
      if (om::ElementCount(problem.inputs[i].dims) != row)
        return Invalid("input {} is {}, not {} values", i, DimsText(problem.inputs[i].dims), row);
    }
    return RequireOutputDims(problem, 0, problem.inputs[0].dims);
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, std::string("rows ") + ToString(problem.isa));
    choice.in_place_input = 0;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t length, RowLength(problem));
    const int64_t rows = length == 0 ? 0 : om::ElementCount(problem.inputs[0].dims) / length;
    const bool has_bias = !IsAbsent(problem, 2);
    const auto function = SimdFor(problem.isa).layer_norm_row;
    const float epsilon = om::GetFloat(*problem.node, "epsilon", 1e-5f);
    return MakeExecutor([=](const Arguments& a) {
      const float* bias = has_bias ? In<float>(a, 2) : nullptr;
      for (int64_t row = 0; row < rows; ++row)
        function(In<float>(a, 0) + row * length, In<float>(a, 1), bias, Out<float>(a) + row * length,
                 static_cast<size_t>(length), epsilon);
    });
  }

 private:
  static Result<int64_t> RowLength(const Problem& problem) {
    const om::Dims& dims = problem.inputs[0].dims;
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", -1), dims.size()));
    return om::ElementCount(om::Dims(dims.begin() + axis, dims.end()));
  }
};

}  // namespace

const Kernel* LayerNormKernel() {
  static const LayerNorm kernel;
  return &kernel;
}

}  // namespace npustream::kernels
