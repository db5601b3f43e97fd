// Softmax and LogSoftmax along one axis (attribute axis, default −1, opset 13 on).
#include <algorithm>
#include <cmath>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

class Softmax final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
    NPUSTREAM_RETURN_IF_ERROR(
        NormalAxis(om::GetInt(*problem.node, "axis", -1), problem.inputs[0].dims.size()).status());
    return RequireOutputDims(problem, 0, problem.inputs[0].dims);
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    choice.in_place_input = 0;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const om::Dims& dims = problem.inputs[0].dims;
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", -1), dims.size()));
    const int64_t outer = om::ElementCount(om::Dims(dims.begin(), dims.begin() + axis)), size = dims[axis];
    const int64_t inner = om::ElementCount(om::Dims(dims.begin() + axis + 1, dims.end()));
    const SimdTable& simd = SimdFor(problem.isa);
    const auto exponential = simd.unary[static_cast<int>(UnaryOp::kExp)];
    const auto add = simd.binary[static_cast<int>(BinaryOp::kAdd)], sub = simd.binary[static_cast<int>(BinaryOp::kSub)];
    const auto max = simd.binary[static_cast<int>(BinaryOp::kMax)], div = simd.binary[static_cast<int>(BinaryOp::kDiv)];
    const bool log = problem.node->op == "LogSoftmax";
    if (inner == 1) {
      return MakeExecutor([=, row = simd.softmax_row](const Arguments& a) {
        const auto n = static_cast<size_t>(size);
        for (int64_t o = 0; o < outer; ++o)
          (log ? LogLine : row)(In<float>(a, 0) + o * size, Out<float>(a) + o * size, n);
      });
    }
    // Strips of neighbouring columns: every pass runs over them as vectors.
    return MakeExecutor([=](const Arguments& a) {
      constexpr int64_t kStrip = 64;
      float top[kStrip], sum[kStrip];
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t i = 0; i < inner; i += kStrip) {
          const auto n = static_cast<size_t>(std::min(kStrip, inner - i));
          const float* x = In<float>(a, 0) + o * size * inner + i;
          float* y = Out<float>(a) + o * size * inner + i;
          std::copy_n(x, n, top);
          std::fill_n(sum, n, 0.0f);
          for (int64_t k = 1; k < size; ++k) max(top, x + k * inner, top, n);
          for (int64_t k = 0; k < size; ++k) {
            float* row = y + k * inner;
            float e[kStrip];
            sub(x + k * inner, top, row, n);
            exponential(row, e, n, 0, 0);
            add(sum, e, sum, n);
            if (!log) std::copy_n(e, n, row);
          }
          if (log) std::transform(sum, sum + n, sum, [](float s) { return std::log(s); });
          for (int64_t k = 0; k < size; ++k) (log ? sub : div)(y + k * inner, sum, y + k * inner, n);
        }
      }
    });
  }

 private:
  static void LogLine(const float* x, float* y, size_t n) {
    if (n == 0) return;
    const float top = *std::max_element(x, x + n);
    float sum = 0;
    for (size_t i = 0; i < n; ++i) sum += std::exp(x[i] - top);
    const float base = top + std::log(sum);
    for (size_t i = 0; i < n; ++i) y[i] = x[i] - base;
  }
};

}  // namespace

const Kernel* SoftmaxKernel() {
  static const Softmax kernel;
  return &kernel;
}

}  // namespace npustream::kernels
