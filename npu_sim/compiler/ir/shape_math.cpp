#include "npu_sim/compiler/ir/shape_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/rewrite.h"

namespace npustream::compiler {
namespace {

// Shapes are far below 2^53, so every type is computed as double and rounded to the result's type at the end.
using Values = std::vector<double>;

struct Operand {
  om::Dims dims;
  Values values;
};

bool IsInteger(om::DataType type) {
  return type != om::DataType::kFloat32 && type != om::DataType::kDouble && type != om::DataType::kFloat16 &&
         type != om::DataType::kBFloat16;
}

std::optional<Operand> Read(const om::Tensor& tensor) {
  if (!tensor.is_constant() || om::ElementCount(tensor.dims) > kMaxShapeMathElements) return std::nullopt;
  Operand operand{tensor.dims, {}};
  if (IsInteger(tensor.type)) {
    const auto ints = ReadInts(tensor);
    if (!ints.ok()) return std::nullopt;
    operand.values.assign(ints->begin(), ints->end());
  } else {
    const auto floats = ReadFloats(tensor);
    if (!floats.ok()) return std::nullopt;
    operand.values.assign(floats->begin(), floats->end());
  }
  return operand;
}

template <typename T>
om::Bytes Pack(const Values& values) {
  om::Bytes bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    if constexpr (std::is_integral_v<T>) {
      // "To the end" is written as the largest integer, which a double rounds up: saturate.
      constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
      constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
      if (std::isnan(values[i]))
        value = 0;
      else if (values[i] >= kHigh)
        value = std::numeric_limits<T>::max();
      else if (values[i] <= kLow)
        value = std::numeric_limits<T>::min();
      else
        value = static_cast<T>(values[i]);
    } else {
      value = static_cast<T>(values[i]);
    }
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

std::optional<om::Bytes> PackAs(om::DataType type, Values values) {
  switch (type) {
    case om::DataType::kFloat32: return Pack<float>(values);
    case om::DataType::kDouble: return Pack<double>(values);
    case om::DataType::kInt64: return Pack<int64_t>(values);
    case om::DataType::kInt32: return Pack<int32_t>(values);
    case om::DataType::kUInt8: return Pack<uint8_t>(values);
    case om::DataType::kInt8: return Pack<int8_t>(values);
    case om::DataType::kBool:
      for (double& value : values) value = value != 0;
      return Pack<uint8_t>(values);
    default: return std::nullopt;
  }
}

// Offset in a tensor of `dims`, broadcast to the multi-index of `flat` in `out_dims`.
size_t BroadcastOffset(size_t flat, const om::Dims& out_dims, const om::Dims& dims) {
  size_t offset = 0, stride = 1;
  for (size_t axis = 0; axis < out_dims.size(); ++axis) {
    const size_t out_axis = out_dims.size() - 1 - axis;
    const size_t index = flat % static_cast<size_t>(out_dims[out_axis]);
    flat /= static_cast<size_t>(out_dims[out_axis]);
    if (axis >= dims.size()) continue;
    const size_t dim = static_cast<size_t>(dims[dims.size() - 1 - axis]);
    if (dim != 1) offset += index * stride;
    stride *= dim;
  }
  return offset;
}

using Unary = double (*)(double);
using Binary = double (*)(double, double);

double IntegerOrRealDivide(double a, double b) { return b == 0 ? std::numeric_limits<double>::quiet_NaN() : a / b; }

const std::map<std::string_view, Unary>& UnaryTable() {
  static const std::map<std::string_view, Unary> table = {
      {"Abs", [](double x) { return std::fabs(x); }},
      {"Cast", [](double x) { return x; }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Expand", [](double x) { return x; }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Identity", [](double x) { return x; }},
      {"Neg", [](double x) { return -x; }},
      {"Not", [](double x) { return x == 0 ? 1.0 : 0.0; }},
      {"Relu", [](double x) { return std::max(x, 0.0); }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
  };
  return table;
}

const std::map<std::string_view, Binary>& BinaryTable() {
  static const std::map<std::string_view, Binary> table = {
      {"Add", [](double a, double b) { return a + b; }},
      {"And", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
      {"Div", IntegerOrRealDivide},
      {"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {"GreaterOrEqual", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"LessOrEqual", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {"Max", [](double a, double b) { return std::max(a, b); }},
      {"Min", [](double a, double b) { return std::min(a, b); }},
      {"Mod", [](double a, double b) { return b == 0 ? 0.0 : a - b * std::floor(a / b); }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"Sub", [](double a, double b) { return a - b; }},
  };
  return table;
}

class Evaluator {
 public:
  Evaluator(const om::Node& node, const om::Tensor& output, std::vector<Operand> inputs)
      : node_(node),
        output_(output),
        inputs_(std::move(inputs)),
        count_(static_cast<size_t>(om::ElementCount(output.dims))) {}

  std::optional<Values> Run() const {
    if (const auto unary = UnaryTable().find(node_.op); unary != UnaryTable().end()) return RunUnary(unary->second);
    if (const auto binary = BinaryTable().find(node_.op); binary != BinaryTable().end()) {
      return RunBinary(binary->second);
    }
    if (node_.op == "Where") return RunWhere();
    if (node_.op == "Reshape") return inputs_[0].values;
    if (node_.op == "Concat") return RunConcat();
    if (node_.op == "Gather") return RunGather();
    if (node_.op == "Slice") return RunSlice();
    if (node_.op.starts_with("Reduce") && count_ == 1) return RunReduceAll();
    return std::nullopt;
  }

 private:
  double At(size_t input, size_t flat) const {
    return inputs_[input].values[BroadcastOffset(flat, output_.dims, inputs_[input].dims)];
  }

  Values RunUnary(Unary function) const {
    Values out(count_);
    for (size_t i = 0; i < count_; ++i) out[i] = function(At(0, i));
    return out;
  }

  Values RunBinary(Binary function) const {
    Values out(count_);
    for (size_t i = 0; i < count_; ++i) {
      const double value = function(At(0, i), At(1, i));
      out[i] = IsInteger(output_.type) ? std::trunc(value) : value;
    }
    return out;
  }

  Values RunWhere() const {
    Values out(count_);
    for (size_t i = 0; i < count_; ++i) out[i] = At(0, i) != 0 ? At(1, i) : At(2, i);
    return out;
  }

  // Elements before and after `axis` of `dims`.
  static std::pair<size_t, size_t> Around(const om::Dims& dims, int64_t axis) {
    size_t outer = 1, inner = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (static_cast<int64_t>(i) < axis) outer *= static_cast<size_t>(dims[i]);
      if (static_cast<int64_t>(i) > axis) inner *= static_cast<size_t>(dims[i]);
    }
    return {outer, inner};
  }

  Values RunConcat() const {
    const int64_t axis = om::GetInt(node_, "axis", 0);
    const auto [outer, inner] = Around(output_.dims, axis);
    Values out;
    out.reserve(count_);
    for (size_t o = 0; o < outer; ++o) {
      for (const Operand& input : inputs_) {
        const size_t run = static_cast<size_t>(input.dims[static_cast<size_t>(axis)]) * inner;
        out.insert(out.end(), input.values.begin() + static_cast<std::ptrdiff_t>(o * run),
                   input.values.begin() + static_cast<std::ptrdiff_t>((o + 1) * run));
      }
    }
    return out;
  }

  std::optional<Values> RunGather() const {
    const int64_t axis = om::GetInt(node_, "axis", 0);
    const auto [outer, inner] = Around(inputs_[0].dims, axis);
    const int64_t dim = inputs_[0].dims[static_cast<size_t>(axis)];
    Values out;
    for (size_t o = 0; o < outer; ++o) {
      for (const double index : inputs_[1].values) {
        if (!(index >= static_cast<double>(-dim) && index < static_cast<double>(dim))) return std::nullopt;
        const int64_t i = static_cast<int64_t>(index) + (index < 0 ? dim : 0);
        for (size_t k = 0; k < inner; ++k) {
          out.push_back(inputs_[0].values[(o * static_cast<size_t>(dim) + static_cast<size_t>(i)) * inner + k]);
        }
      }
    }
    return out;
  }

  // On one axis, as shapes are sliced. The importer has clamped the attributes.
  std::optional<Values> RunSlice() const {
    const auto axes = om::GetInts(node_, "axes"), starts = om::GetInts(node_, "starts"),
               steps = om::GetInts(node_, "steps");
    if (axes.size() != 1) return std::nullopt;
    const auto [outer, inner] = Around(inputs_[0].dims, axes[0]);
    const int64_t in_dim = inputs_[0].dims[static_cast<size_t>(axes[0])];
    const int64_t out_dim = output_.dims[static_cast<size_t>(axes[0])];
    Values out;
    for (size_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < out_dim; ++i) {
        const size_t row = o * static_cast<size_t>(in_dim) + static_cast<size_t>(starts[0] + i * steps[0]);
        for (size_t k = 0; k < inner; ++k) out.push_back(inputs_[0].values[row * inner + k]);
      }
    }
    return out;
  }

  std::optional<Values> RunReduceAll() const {
    const Values& in = inputs_[0].values;
    if (in.empty()) return std::nullopt;
    double result = in[0];
    for (size_t i = 1; i < in.size(); ++i) {
      if (node_.op == "ReduceProd")
        result *= in[i];
      else if (node_.op == "ReduceSum")
        result += in[i];
      else if (node_.op == "ReduceMax")
        result = std::max(result, in[i]);
      else if (node_.op == "ReduceMin")
        result = std::min(result, in[i]);
      else
        return std::nullopt;
    }
    return Values{result};
  }

  const om::Node& node_;
  const om::Tensor& output_;
  const std::vector<Operand> inputs_;
  const size_t count_;
};

}  // namespace

std::optional<om::Bytes> EvaluateShapeMath(const om::Graph& graph, const om::Node& node) {
  if (node.outputs.size() != 1 || node.inputs.empty()) return std::nullopt;
  const om::Tensor& output = TensorOf(graph, node.outputs[0]);
  if (om::ElementCount(output.dims) > kMaxShapeMathElements) return std::nullopt;
  std::vector<Operand> inputs;
  for (const om::TensorId id : node.inputs) {
    if (id == om::kNoTensor) return std::nullopt;
    std::optional<Operand> operand = Read(TensorOf(graph, id));
    if (!operand) return std::nullopt;
    inputs.push_back(std::move(*operand));
  }
  std::optional<Values> values = Evaluator(node, output, std::move(inputs)).Run();
  if (!values || values->size() != static_cast<size_t>(om::ElementCount(output.dims))) return std::nullopt;
  return PackAs(output.type, std::move(*values));
}

}  // namespace npustream::compiler
