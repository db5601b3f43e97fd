#include <fmt/format.h>

#include <algorithm>

#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

om::Dims ReducedDims(const om::Dims& x, const std::vector<int64_t>& axes, bool keepdims) {
  om::Dims dims;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    if (!reduced) dims.push_back(x[i]);
    if (reduced && keepdims) dims.push_back(1);
  }
  return dims;
}

// Sums of squares and logarithms of sums are composed of what the kernels have.
Status OutputReduction(ImportContext& context, const om::Attributes& attributes, const om::Dims& dims) {
  const std::string& op = context.node().op;
  const om::TensorId x = context.InputId(0);
  const om::DataType type = context.Input(0).type;
  if (op == "ReduceSumSquare") {
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId square, context.Emit("Mul", {x, x}, {}, type, context.Dims(0)));
    return context.Output("ReduceSum", {square}, attributes, dims);
  }
  if (op != "ReduceLogSum" && op != "ReduceLogSumExp") return context.Output(op, {x}, attributes, dims);
  om::TensorId summand = x;
  if (op == "ReduceLogSumExp") {
    NPUSTREAM_ASSIGN_OR_RETURN(summand, context.Emit("Exp", {x}, {}, type, context.Dims(0)));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId sum, context.Emit("ReduceSum", {summand}, attributes, type, dims));
  return context.Output("Log", {sum}, {}, dims);
}

// The operator set from which on a reduction takes its axes as an input.
int64_t AxesInputSince(const std::string& op) { return op == "ReduceSum" ? 13 : 18; }

}  // namespace

Status ImportReduce(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(auto axes, AxesArgument(context, 1, AxesInputSince(context.node().op)));
  if (!axes || axes->empty()) {
    if (context.Int("noop_with_empty_axes", 0) != 0) return ImportIdentity(context);
    axes.emplace();
    for (int64_t i = 0; i < context.Rank(0); ++i) axes->push_back(i);
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> sorted, NormaliseAxes(context, *axes, context.Rank(0)));
  const int64_t keepdims = context.Int("keepdims", 1) != 0 ? 1 : 0;
  const om::Attributes attributes = {{"axes", sorted}, {"keepdims", keepdims}};
  return OutputReduction(context, attributes, ReducedDims(context.Dims(0), sorted, keepdims != 0));
}

Status ImportCumSum(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> given, context.ConstantInts(1, "the axis"));
  if (given.size() != 1) return context.Error("the axis is not a single number");
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(given[0], context.Rank(0)));
  const om::Attributes attributes = {
      {"axis", axis}, {"exclusive", context.Int("exclusive", 0)}, {"reverse", context.Int("reverse", 0)}};
  return context.Output("CumSum", {context.InputId(0)}, attributes, context.Dims(0));
}

Status ImportArgExtreme(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", 0), context.Rank(0)));
  const int64_t keepdims = context.Int("keepdims", 1) != 0 ? 1 : 0;
  const om::Attributes attributes = {
      {"axis", axis}, {"keepdims", keepdims}, {"select_last_index", context.Int("select_last_index", 0)}};
  return context.Output(context.node().op, {context.InputId(0)}, attributes, om::DataType::kInt64,
                        ReducedDims(context.Dims(0), {axis}, keepdims != 0));
}

}  // namespace npustream::compiler
