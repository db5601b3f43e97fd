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
  return context.Output(context.node().op, {context.InputId(0)}, {{"axes", sorted}, {"keepdims", keepdims}},
                        ReducedDims(context.Dims(0), sorted, keepdims != 0));
}

Status ImportArgExtreme(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", 0), context.Rank(0)));
  const int64_t keepdims = context.Int("keepdims", 1) != 0 ? 1 : 0;
  const om::Attributes attributes = {
      {"axis", axis}, {"keepdims", keepdims}, {"select_last_index", context.Int("select_last_index", 0)}};
  return context.Output(context.node().op, {context.InputId(0)}, attributes, om::DataType::kInt64,
                        ReducedDims(context.Dims(0), {axis}, keepdims != 0));
}

Status ImportTopK(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", -1), context.Rank(0)));
  int64_t k = context.Int("k", -1);
  if (context.opset() >= 10) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> count, context.ConstantInts(1, "k"));
    if (count.size() != 1) return context.Error("k is not a single number");
    k = count[0];
  }
  om::Dims dims = context.Dims(0);
  if (k < 0 || k > dims[static_cast<size_t>(axis)]) {
    return context.Error(fmt::format("{} of {} places are wanted", k, dims[static_cast<size_t>(axis)]));
  }
  dims[static_cast<size_t>(axis)] = k;
  const om::Attributes attributes = {
      {"axis", axis}, {"k", k}, {"largest", context.Int("largest", 1)}, {"sorted", context.Int("sorted", 1)}};
  return context.OutputMany("TopK", {context.InputId(0)}, attributes,
                            {{"", context.Input(0).type, dims, nullptr}, {"", om::DataType::kInt64, dims, nullptr}});
}

}  // namespace npustream::compiler
