// Operators that choose by place: Trilu, OneHot, Hardmax.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/limits.h"
#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

constexpr int64_t kMostDepth = 1 << 24;

// 0, 1, … depth − 1 along `axis` of `rank` axes.
om::TensorId CountAlong(ImportContext& context, int64_t axis, size_t rank, int64_t depth) {
  std::vector<int64_t> count(static_cast<size_t>(depth));
  for (size_t i = 0; i < count.size(); ++i) count[i] = static_cast<int64_t>(i);
  om::Dims dims(rank, 1);
  dims[static_cast<size_t>(axis)] = depth;
  return context.Constant(MakeInts(context.node().name + ".count", std::move(dims), count));
}

// Element `i` of the vector in input `input`, as a scalar.
Result<om::TensorId> EmitElement(ImportContext& context, size_t input, int64_t i) {
  const om::DataType type = context.Input(input).type;
  const om::Attributes part = {{"starts", std::vector<int64_t>{i}},
                               {"ends", std::vector<int64_t>{i + 1}},
                               {"axes", std::vector<int64_t>{0}},
                               {"steps", std::vector<int64_t>{1}}};
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId element,
                             context.EmitFolded("Slice", {context.InputId(input)}, part, type, {1}));
  return EmitReshape(context, element, {});
}

// The indices as int64, negative ones counted from the end.
Result<om::TensorId> EmitIndices(ImportContext& context, int64_t depth) {
  om::TensorId indices = context.InputId(0);
  const om::Dims dims = context.Dims(0);
  constexpr om::DataType kType = om::DataType::kInt64;
  if (context.Input(0).type != kType) {
    NPUSTREAM_ASSIGN_OR_RETURN(indices, context.Emit("Cast", {indices}, {}, kType, dims));
  }
  const om::TensorId zero = context.Constant(ZeroOf(kType, context.node().name + ".zero"));
  const om::TensorId size = context.Constant(MakeInts(context.node().name + ".depth", {}, {&depth, 1}));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId negative,
                             context.Emit("Less", {indices, zero}, {}, om::DataType::kBool, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId moved, context.Emit("Add", {indices, size}, {}, kType, dims));
  return context.Emit("Where", {negative, moved, indices}, {}, kType, dims);
}

}  // namespace

Status ImportTrilu(ImportContext& context) {
  const om::Dims dims = context.Dims(0);
  if (dims.size() < 2) return context.Error("its input is no matrix");
  int64_t k = 0;
  if (context.HasInput(1)) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> given, context.ConstantInts(1, "k"));
    if (given.size() != 1) return context.Error("k is not a single number");
    k = std::clamp(given[0], -kMostDepth, kMostDepth);
  }
  const bool upper = context.Int("upper", 1) != 0;
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  if (rows > kMostDepth || columns > kMostDepth || rows * columns > kMostDepth)
    return context.Unsupported(fmt::format("matrices of {} x {} are too large", rows, columns));
  om::Bytes kept;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) kept.push_back(std::byte{upper ? j - i >= k : j - i <= k});
  }
  const om::TensorId mask = context.Constant({context.node().name + ".mask",
                                              om::DataType::kBool,
                                              {rows, columns},
                                              std::make_shared<const om::Bytes>(std::move(kept))});
  const om::TensorId zero = context.Constant(ZeroOf(context.Input(0).type, context.node().name + ".zero"));
  return context.Output("Where", {mask, context.InputId(0), zero}, {}, context.Input(0).type, dims);
}

Status ImportOneHot(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> depth, context.ConstantFloats(1, "the depth"));
  if (depth.size() != 1 || !(depth[0] >= 1 && depth[0] <= static_cast<float>(kMostDepth)))
    return context.Error("the depth is out of range");
  const auto count = static_cast<int64_t>(depth[0]);
  if (context.Dims(2) != om::Dims{2}) return context.Error("there are not two values, for off and on");
  const int64_t rank = context.Rank(0) + 1;
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, context.Axis(context.Int("axis", -1), rank));
  om::Dims places = context.Dims(0), dims = context.Dims(0);
  places.insert(places.begin() + axis, 1);
  dims.insert(dims.begin() + axis, count);
  NPUSTREAM_ASSIGN_OR_RETURN(om::TensorId indices, EmitIndices(context, count));
  NPUSTREAM_ASSIGN_OR_RETURN(indices, EmitReshape(context, indices, places));
  const om::TensorId along = CountAlong(context, axis, dims.size(), count);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId hot,
                             context.Emit("Equal", {indices, along}, {}, om::DataType::kBool, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId off, EmitElement(context, 2, 0));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId on, EmitElement(context, 2, 1));
  return context.Output("Where", {hot, on, off}, {}, context.Input(2).type, dims);
}

// 1 at the first of the greatest values, else 0. Before opset 13 everything from the axis on counted as one axis.
Status ImportHardmax(ImportContext& context) {
  const om::Dims full = context.Dims(0);
  const int64_t rank = context.Rank(0);
  if (rank == 0) return context.Error("its input is a scalar");
  NPUSTREAM_ASSIGN_OR_RETURN(int64_t axis, context.Axis(context.Int("axis", context.opset() < 13 ? 1 : -1), rank));
  om::Dims dims = full;
  if (context.opset() < 13) {
    dims = {1, 1};
    for (int64_t i = 0; i < rank; ++i) dims[i < axis ? 0 : 1] *= full[static_cast<size_t>(i)];
    axis = 1;
  }
  const int64_t count = dims[static_cast<size_t>(axis)];
  if (count < 1 || count > kMostDepth) return context.Error(fmt::format("an axis of {} places", count));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId x, EmitReshape(context, context.InputId(0), dims));
  om::Dims reduced = dims;
  reduced[static_cast<size_t>(axis)] = 1;
  const om::Attributes first = {{"axis", axis}, {"keepdims", int64_t{1}}, {"select_last_index", int64_t{0}}};
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId best,
                             context.Emit("ArgMax", {x}, first, om::DataType::kInt64, std::move(reduced)));
  const om::TensorId along = CountAlong(context, axis, dims.size(), count);
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId hot,
                             context.Emit("Equal", {best, along}, {}, om::DataType::kBool, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId ones, context.Emit("Cast", {hot}, {}, context.Input(0).type, dims));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId result, EmitReshape(context, ones, full));
  return context.Bind(0, result);
}

}  // namespace npustream::compiler
