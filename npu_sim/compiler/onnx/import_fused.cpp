// Operators that ONNX Runtime's optimiser puts in place of several (domain com.microsoft): each becomes those again.
#include <fmt/format.h>

#include <numeric>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

// x + the input, where there is one.
Result<om::TensorId> WithBias(ImportContext& context, om::TensorId x, size_t bias) {
  if (!context.HasInput(bias)) return x;
  return context.Compose("Add", {x, context.InputId(bias)});
}

Result<om::TensorId> SwapLastAxes(ImportContext& context, om::TensorId x) {
  std::vector<int64_t> perm(context.Tensor(x).dims.size());
  if (perm.size() < 2) return context.Error("it transposes a vector");
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return context.Compose("Transpose", {x}, {{"perm", perm}});
}

// input + skip + bias, which is output 3 too.
Result<om::TensorId> EmitSkipSum(ImportContext& context, size_t bias) {
  NPUSTREAM_ASSIGN_OR_RETURN(om::TensorId sum, context.Compose("Add", {context.InputId(0), context.InputId(1)}));
  NPUSTREAM_ASSIGN_OR_RETURN(sum, WithBias(context, sum, bias));
  if (context.WantsOutput(3)) NPUSTREAM_RETURN_IF_ERROR(context.Bind(3, sum));
  return sum;
}

}  // namespace

// Gelu by tanh of x + bias.
Status ImportFastGelu(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x, WithBias(context, context.InputId(0), 1));
  return context.Output("Gelu", {x}, {{"approximate", "tanh"}}, context.Tensor(x).dims);
}

Status ImportBiasGelu(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x, WithBias(context, context.InputId(0), 1));
  return context.Output("Gelu", {x}, {{"approximate", "none"}}, context.Tensor(x).dims);
}

// x · sigmoid(alpha · x).
Status ImportQuickGelu(ImportContext& context) {
  const om::TensorId alpha = context.Number(".alpha", context.Float("alpha", 1.702f));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId scaled, context.Compose("Mul", {context.InputId(0), alpha}));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId gate, context.Compose("Sigmoid", {scaled}));
  return context.Output("Mul", {context.InputId(0), gate}, {}, context.Dims(0));
}

// alpha · A · B, with the last two axes of either swapped.
Status ImportFusedMatMul(ImportContext& context) {
  if (context.Int("transBatchA", 0) != 0 || context.Int("transBatchB", 0) != 0)
    return context.Unsupported("transBatchA and transBatchB are not supported");
  om::TensorId a = context.InputId(0), b = context.InputId(1);
  if (context.Int("transA", 0) != 0) {
    NPUSTREAM_ASSIGN_OR_RETURN(a, SwapLastAxes(context, a));
  }
  if (context.Int("transB", 0) != 0) {
    NPUSTREAM_ASSIGN_OR_RETURN(b, SwapLastAxes(context, b));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(om::TensorId y, context.Compose("MatMul", {a, b}));
  const float alpha = context.Float("alpha", 1);
  if (alpha != 1) {
    NPUSTREAM_ASSIGN_OR_RETURN(y, context.Compose("Mul", {y, context.Number(".alpha", alpha)}));
  }
  return context.Bind(0, y);
}

// Inputs: x, skip, scale, bias of the norm, bias of the sum.
Status ImportSkipLayerNormalization(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId sum, EmitSkipSum(context, 4));
  std::vector<om::TensorId> inputs = {sum, context.InputId(2)};
  if (context.HasInput(3)) inputs.push_back(context.InputId(3));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId y,
                             context.Compose("LayerNormalization", std::move(inputs),
                                             {{"axis", int64_t{-1}}, {"epsilon", context.Float("epsilon", 1e-12f)}}));
  return context.Bind(0, y);
}

// Inputs: x, skip, scale, bias of the sum.
Status ImportSkipSimplifiedLayerNormalization(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId sum, EmitSkipSum(context, 3));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId y,
                             context.Compose("SimplifiedLayerNormalization", {sum, context.InputId(2)},
                                             {{"axis", int64_t{-1}}, {"epsilon", context.Float("epsilon", 1e-5f)}}));
  return context.Bind(0, y);
}

}  // namespace npustream::compiler
