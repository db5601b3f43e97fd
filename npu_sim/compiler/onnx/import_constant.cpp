#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/limits.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

Status BindConstant(ImportContext& context, om::Tensor tensor) {
  tensor.name = context.node().outputs[0];
  return context.Bind(0, context.Constant(std::move(tensor)));
}

om::Dims VectorDims(size_t count) { return {static_cast<int64_t>(count)}; }

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

// How many there are is known of a constant only: what exporters leave of masks and of counting.
Status ImportNonZero(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> values, context.ConstantFloats(0, "the tensor"));
  const om::Dims& dims = context.Dims(0);
  std::vector<std::vector<int64_t>> places(dims.size());
  int64_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    ++count;
    auto rest = static_cast<int64_t>(i);
    for (size_t axis = dims.size(); axis-- > 0; rest /= dims[axis]) places[axis].push_back(rest % dims[axis]);
  }
  std::vector<int64_t> all;
  for (const std::vector<int64_t>& axis : places) all.insert(all.end(), axis.begin(), axis.end());
  return BindConstant(context, MakeInts("", {static_cast<int64_t>(dims.size()), count}, all));
}

Status ImportRange(ImportContext& context) {
  double limits[3];
  for (size_t i = 0; i < 3; ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> value, context.ConstantFloats(i, "the range"));
    if (value.size() != 1) return context.Error("its inputs are not single numbers");
    limits[i] = static_cast<double>(value[0]);
  }
  const double count = limits[2] == 0 ? -1 : std::ceil((limits[1] - limits[0]) / limits[2]);
  if (!(count >= 0 && count <= 1 << 24)) return context.Error("the range is empty without end or too long");
  const size_t length = static_cast<size_t>(count);
  if (context.Input(0).type == om::DataType::kFloat32) {
    std::vector<float> values(length);
    for (size_t i = 0; i < length; ++i) values[i] = static_cast<float>(limits[0] + static_cast<double>(i) * limits[2]);
    return BindConstant(context, MakeFloats("", VectorDims(length), values));
  }
  if (context.Input(0).type != om::DataType::kInt64) return context.Unsupported("only int64 and float are supported");
  std::vector<int64_t> values(length);
  for (size_t i = 0; i < length; ++i) values[i] = std::llround(limits[0] + static_cast<double>(i) * limits[2]);
  return BindConstant(context, MakeInts("", VectorDims(length), values));
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
