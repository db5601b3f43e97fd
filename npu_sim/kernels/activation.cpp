#include "npu_sim/kernels/activation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

struct Entry {
  std::string_view name;
  UnaryOp op;
  float a, b;  // defaults
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Entry kEntries[] = {
    {"Abs", UnaryOp::kAbs, 0, 0},
    {"Ceil", UnaryOp::kCeil, 0, 0},
    {"Clip", UnaryOp::kClip, -kInfinity, kInfinity},
    {"Elu", UnaryOp::kElu, 1, 0},
    {"Erf", UnaryOp::kErf, 0, 0},
    {"Exp", UnaryOp::kExp, 0, 0},
    {"Floor", UnaryOp::kFloor, 0, 0},
    {"Gelu", UnaryOp::kGelu, 0, 0},
    {"HardSigmoid", UnaryOp::kHardSigmoid, 0.2f, 0.5f},
    {"HardSwish", UnaryOp::kHardSwish, 0, 0},
    {"Identity", UnaryOp::kIdentity, 0, 0},
    {"LeakyRelu", UnaryOp::kLeakyRelu, 0.01f, 0},
    {"Mish", UnaryOp::kMish, 0, 0},
    {"Neg", UnaryOp::kNeg, 0, 0},
    {"Reciprocal", UnaryOp::kReciprocal, 0, 0},
    {"Relu", UnaryOp::kRelu, 0, 0},
    {"Round", UnaryOp::kRound, 0, 0},
    {"Selu", UnaryOp::kSelu, 1.67326319f, 1.05070102f},
    {"Sigmoid", UnaryOp::kSigmoid, 0, 0},
    {"Silu", UnaryOp::kSilu, 0, 0},
    {"Softplus", UnaryOp::kSoftplus, 0, 0},
    {"Sqrt", UnaryOp::kSqrt, 0, 0},
    {"Tanh", UnaryOp::kTanh, 0, 0},
};

const Entry* Find(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace

std::optional<Activation> ActivationOfOperator(std::string_view op, const om::Node& node) {
  const Entry* entry = Find(op);
  if (!entry) return std::nullopt;
  Activation activation{entry->op, entry->a, entry->b};
  switch (entry->op) {
    case UnaryOp::kClip:
      activation.a = om::GetFloat(node, "min", entry->a);
      activation.b = om::GetFloat(node, "max", entry->b);
      break;
    case UnaryOp::kGelu: activation.a = om::GetString(node, "approximate", "none") == "tanh" ? 1.0f : 0.0f; break;
    case UnaryOp::kSelu:
      activation.a = om::GetFloat(node, "alpha", entry->a);
      activation.b = om::GetFloat(node, "gamma", entry->b);
      break;
    default: activation.a = om::GetFloat(node, "alpha", entry->a); activation.b = om::GetFloat(node, "beta", entry->b);
  }
  return activation;
}

Result<Activation> FusedActivation(const om::Node& node) {
  const std::string name = om::GetString(node, "activation", "");
  if (name.empty()) return Activation{};
  const Entry* entry = Find(name);
  if (!entry) return Unsupported("unknown activation {}", name);
  return Activation{entry->op, om::GetFloat(node, "activation_alpha", entry->a),
                    om::GetFloat(node, "activation_beta", entry->b)};
}

bool KeepsZero(const Activation& activation) {
  switch (activation.op) {
    case UnaryOp::kSigmoid:
    case UnaryOp::kHardSigmoid:
    case UnaryOp::kExp:
    case UnaryOp::kReciprocal:
    case UnaryOp::kSoftplus: return false;
    case UnaryOp::kClip: return activation.a <= 0 && activation.b >= 0;
    default: return true;
  }
}

void ClearPadding(float* data, const om::Dims& dims, om::Layout layout) {
  ClearPadding(reinterpret_cast<std::byte*>(data), sizeof(float), dims, layout);
}

void ClearPadding(std::byte* data, size_t element_bytes, const om::Dims& dims, om::Layout layout) {
  const auto block = om::BlockOf(layout);
  const int64_t channels = dims.size() > 1 ? dims[1] : 1;
  const int64_t rest = channels % block;
  if (rest == 0) return;
  int64_t pixels = 1;
  for (size_t axis = 2; axis < dims.size(); ++axis) pixels *= dims[axis];
  const int64_t groups = channels / block + 1;
  for (int64_t n = 0; n < dims[0]; ++n) {
    const int64_t group = ((n + 1) * groups - 1) * pixels * block;
    for (int64_t p = 0; p < pixels; ++p) {
      std::memset(data + static_cast<size_t>(group + p * block + rest) * element_bytes, 0,
                  static_cast<size_t>(block - rest) * element_bytes);
    }
  }
}

std::optional<ByteLimits> LimitsOf(const Activation& activation, const om::Quantization& quantization) {
  const auto held = [&](float real) {
    const float steps = std::nearbyint(real / quantization.scales[0]);
    return std::clamp(steps + static_cast<float>(quantization.zero_points[0]), 0.0f, 255.0f);
  };
  switch (activation.op) {
    case UnaryOp::kIdentity: return ByteLimits{};
    case UnaryOp::kRelu: return ByteLimits{held(0), 255};
    case UnaryOp::kClip: return ByteLimits{held(activation.a), held(activation.b)};
    default: return std::nullopt;
  }
}

bool IsByteTensor(const TensorInfo& tensor) {
  return tensor.type == om::DataType::kUInt8 && tensor.quantization && tensor.quantization->IsPerTensor();
}

RowActivation::RowActivation(const Activation& activation, const Problem& problem)
    : activation_(activation),
      clear_padding_(!KeepsZero(activation)),
      dims_(problem.outputs[0].dims),
      layout_(problem.outputs[0].layout) {
  if (activation.op != UnaryOp::kIdentity) function_ = SimdFor(problem.isa).unary[static_cast<int>(activation.op)];
}

size_t StoredCount(const TensorInfo& tensor) { return tensor.Bytes() / om::SizeOf(tensor.type); }

}  // namespace npustream::kernels
