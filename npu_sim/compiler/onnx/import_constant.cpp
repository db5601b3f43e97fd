#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/limits.h"
#include "npu_sim/compiler/onnx/importers.h"
#include "npu_sim/compiler/onnx/tensor_type.h"
#include "npu_sim/compiler/onnx/widen_reals.h"

namespace npustream::compiler {
namespace {

Status BindConstant(ImportContext& context, om::Tensor tensor) {
  tensor.name = context.node().outputs[0];
  return context.Bind(0, context.Constant(std::move(tensor)));
}

om::Dims VectorDims(size_t count) { return {static_cast<int64_t>(count)}; }

// More is no constant that a network has.
constexpr int64_t kMostElements = 1 << 24;

// From start up or down to the limit, exactly.
Status ImportIntegerRange(ImportContext& context) {
  int64_t limits[3];
  for (size_t i = 0; i < 3; ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> value, context.ConstantInts(i, "the range"));
    if (value.size() != 1) return context.Error("its inputs are not single numbers");
    limits[i] = value[0];
  }
  const auto [start, limit, delta] = limits;
  int64_t span = 0;
  const bool endless =
      delta == 0 || delta == std::numeric_limits<int64_t>::min() || __builtin_sub_overflow(limit, start, &span);
  const int64_t step = delta < 0 ? -delta : delta, length = delta < 0 ? -span : span;
  if (endless || (length > 0 && (length - 1) / step >= kMostElements))
    return context.Error("the range is empty without end or too long");
  std::vector<int64_t> values(length > 0 ? static_cast<size_t>((length - 1) / step + 1) : 0);
  for (size_t i = 0; i < values.size(); ++i) values[i] = start + static_cast<int64_t>(i) * delta;
  const om::TensorId range =
      context.Constant(MakeInts(context.node().name + ".range", VectorDims(values.size()), values));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId typed,
                             context.EmitFolded("Cast", {range}, {}, context.Input(0).type, VectorDims(values.size())));
  return context.Bind(0, typed);
}

}  // namespace

Status ImportConstant(ImportContext& context) {
  const OnnxNode& node = context.node();
  if (const auto value = node.tensors.find("value"); value != node.tensors.end()) {
    return BindConstant(context, value->second);
  }
  const auto find = [&](const char* name) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? nullptr : &found->second;
  };
  if (const auto* a = find("value_float")) {
    if (const auto* value = std::get_if<float>(a)) return BindConstant(context, MakeFloats("", {}, {value, 1}));
  }
  if (const auto* a = find("value_int")) {
    if (const auto* value = std::get_if<int64_t>(a)) return BindConstant(context, MakeInts("", {}, {value, 1}));
  }
  if (const auto* a = find("value_floats")) {
    if (const auto* values = std::get_if<std::vector<float>>(a)) {
      return BindConstant(context, MakeFloats("", VectorDims(values->size()), *values));
    }
  }
  if (const auto* a = find("value_ints")) {
    if (const auto* values = std::get_if<std::vector<int64_t>>(a)) {
      return BindConstant(context, MakeInts("", VectorDims(values->size()), *values));
    }
  }
  return context.Unsupported("it holds no tensor, number or list of numbers");
}

Status ImportConstantOfShape(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, context.ConstantInts(0, "the shape"));
  const auto& tensors = context.node().tensors;
  const float zero = 0;
  const auto given = tensors.find("value");
  const om::Tensor fill = given != tensors.end() ? given->second : MakeFloats("", {1}, {&zero, 1});
  if (om::ElementCount(fill.dims) != 1) return context.Error("its value is not a single number");
  om::Tensor tensor{"", fill.type, shape, nullptr};
  if (Status status = CheckDims(shape, fill.type); !status.ok()) return context.Error("its result " + status.message());
  // A constant that fills memory is no constant that a network has.
  constexpr size_t kMostBytes = size_t{256} << 20;
  if (tensor.ByteSize() > kMostBytes) {
    return context.Unsupported(fmt::format("a constant of [{}] is too large", fmt::join(shape, ",")));
  }
  auto content = std::make_shared<om::Bytes>();
  content->reserve(tensor.ByteSize());
  while (content->size() < tensor.ByteSize()) {
    content->insert(content->end(), fill.constant->begin(), fill.constant->end());
  }
  tensor.constant = std::move(content);
  return BindConstant(context, std::move(tensor));
}

// Ones on a diagonal of a matrix like the input.
Status ImportEyeLike(ImportContext& context) {
  const om::Dims dims = context.Dims(0);
  if (dims.size() != 2) return context.Error("its input is no matrix");
  if (om::ElementCount(dims) > kMostElements) return context.Unsupported("the matrix is too large");
  om::DataType type = context.Input(0).type;
  if (context.HasAttribute("dtype")) {
    const auto given = DataTypeFromOnnx(context.Int("dtype", 0));
    if (!given) return context.Unsupported(fmt::format("dtype {} is not supported", context.Int("dtype", 0)));
    type = IsWidened(*given) ? om::DataType::kFloat32 : *given;
  }
  const int64_t k = context.Int("k", 0);
  om::Bytes diagonal;
  for (int64_t i = 0; i < dims[0]; ++i) {
    for (int64_t j = 0; j < dims[1]; ++j) diagonal.push_back(std::byte{j - i == k});
  }
  const om::TensorId mask = context.Constant({context.node().name + ".diagonal", om::DataType::kBool, dims,
                                              std::make_shared<const om::Bytes>(std::move(diagonal))});
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId eye, context.EmitFolded("Cast", {mask}, {}, type, dims));
  return context.Bind(0, eye);
}

// Places of what is not zero, one row per axis; how many there are must be known.
Status ImportNonZero(ImportContext& context) {
  const om::Dims dims = context.Dims(0);
  if (om::ElementCount(dims) > kMostElements) return context.Unsupported("its input is too large");
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> values, context.ConstantFloats(0, "its input"));
  std::vector<size_t> places;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) places.push_back(i);
  }
  std::vector<int64_t> indices(dims.size() * places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    auto rest = static_cast<int64_t>(places[i]);
    for (size_t axis = dims.size(); axis-- > 0; rest /= dims[axis])
      indices[axis * places.size() + i] = rest % dims[axis];
  }
  return BindConstant(context,
                      MakeInts("", {static_cast<int64_t>(dims.size()), static_cast<int64_t>(places.size())}, indices));
}

Status ImportRange(ImportContext& context) {
  if (context.Input(0).type != om::DataType::kFloat32) return ImportIntegerRange(context);
  double limits[3];
  for (size_t i = 0; i < 3; ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> value, context.ConstantFloats(i, "the range"));
    if (value.size() != 1) return context.Error("its inputs are not single numbers");
    limits[i] = static_cast<double>(value[0]);
  }
  const double count = limits[2] == 0 ? -1 : std::ceil((limits[1] - limits[0]) / limits[2]);
  if (!(count >= 0 && count <= static_cast<double>(kMostElements)))
    return context.Error("the range is empty without end or too long");
  const size_t length = static_cast<size_t>(count);
  std::vector<float> values(length);
  for (size_t i = 0; i < length; ++i) values[i] = static_cast<float>(limits[0] + static_cast<double>(i) * limits[2]);
  return BindConstant(context, MakeFloats("", VectorDims(length), values));
}

Status ImportShape(ImportContext& context) {
  const int64_t rank = context.Rank(0);
  const auto clamp = [rank](int64_t place) { return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank); };
  const int64_t start = clamp(context.Int("start", 0));
  const int64_t end = std::max(start, context.HasAttribute("end") ? clamp(context.Int("end", 0)) : rank);
  const om::Dims& x = context.Dims(0);
  const std::vector<int64_t> part(x.begin() + start, x.begin() + end);
  return BindConstant(context, MakeInts("", VectorDims(part.size()), part));
}

Status ImportSize(ImportContext& context) {
  const int64_t count = om::ElementCount(context.Dims(0));
  return BindConstant(context, MakeInts("", {}, {&count, 1}));
}

}  // namespace npustream::compiler
