// Every elementwise operator of two inputs, with broadcasting.
#include <algorithm>
#include <cmath>
#include <functional>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/bf16_conv.h"
#include "npu_sim/kernels/broadcast.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

using om::DataType;

enum class Kind { kArithmetic, kComparison, kLogic, kBits };

struct Entry {
  std::string_view name;
  Kind kind;
  BinaryOp simd;  // kCount when there is no vector code
};
constexpr Entry kEntries[] = {
    {"Add", Kind::kArithmetic, BinaryOp::kAdd},
    {"And", Kind::kLogic, BinaryOp::kCount},
    {"BitwiseAnd", Kind::kBits, BinaryOp::kCount},
    {"BitwiseOr", Kind::kBits, BinaryOp::kCount},
    {"BitwiseXor", Kind::kBits, BinaryOp::kCount},
    {"Div", Kind::kArithmetic, BinaryOp::kDiv},
    {"Equal", Kind::kComparison, BinaryOp::kCount},
    {"Greater", Kind::kComparison, BinaryOp::kCount},
    {"GreaterOrEqual", Kind::kComparison, BinaryOp::kCount},
    {"Less", Kind::kComparison, BinaryOp::kCount},
    {"LessOrEqual", Kind::kComparison, BinaryOp::kCount},
    {"Max", Kind::kArithmetic, BinaryOp::kMax},
    {"Min", Kind::kArithmetic, BinaryOp::kMin},
    {"Mod", Kind::kArithmetic, BinaryOp::kCount},
    {"Mul", Kind::kArithmetic, BinaryOp::kMul},
    {"Or", Kind::kLogic, BinaryOp::kCount},
    {"PRelu", Kind::kArithmetic, BinaryOp::kPRelu},
    {"Pow", Kind::kArithmetic, BinaryOp::kCount},
    {"ShiftLeft", Kind::kBits, BinaryOp::kCount},
    {"ShiftRight", Kind::kBits, BinaryOp::kCount},
    {"Sub", Kind::kArithmetic, BinaryOp::kSub},
    {"Xor", Kind::kLogic, BinaryOp::kCount},
};

const Entry* Find(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

template <typename T>
T Arithmetic(std::string_view op, T x, T y) {
  if (op == "Add") return Wrapping(x, y, std::plus<>());
  if (op == "Sub") return Wrapping(x, y, std::minus<>());
  if (op == "Mul") return Wrapping(x, y, std::multiplies<>());
  if (op == "Min") return std::min(x, y);
  if (op == "Max") return std::max(x, y);
  if (op == "PRelu") return x < 0 ? Wrapping(x, y, std::multiplies<>()) : x;
  if constexpr (std::is_integral_v<T>) {
    if (op == "Pow") return ToWhole<T>(std::pow(static_cast<double>(x), static_cast<double>(y)));
    if (y == 0) return 0;  // no trap
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return op == "Div" ? Wrapping(T{0}, x, std::minus<>()) : T{0};
    }
    if (op == "Div") return static_cast<T>(x / y);
    const T rest = static_cast<T>(x % y);
    return rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;  // Python's modulo, ONNX's fmod=0
  } else {
    if (op == "Pow") return static_cast<T>(std::pow(static_cast<double>(x), static_cast<double>(y)));
    return op == "Div" ? x / y : std::fmod(x, y);
  }
}

// Of whole numbers. Bits that are shifted out are lost, however far.
template <typename T>
T Bits(std::string_view op, T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    if (op == "BitwiseAnd") return static_cast<T>(x & y);
    if (op == "BitwiseOr") return static_cast<T>(x | y);
    if (op == "BitwiseXor") return static_cast<T>(x ^ y);
    const auto bits = static_cast<uint64_t>(x), distance = static_cast<uint64_t>(y);
    if (distance >= sizeof(T) * 8) return 0;
    return static_cast<T>(op == "ShiftLeft" ? bits << distance : bits >> distance);
  }
  return 0;
}

template <typename T>
bool Compare(std::string_view op, T x, T y) {
  if (op == "Equal") return x == y;
  if (op == "Greater") return x > y;
  if (op == "GreaterOrEqual") return x >= y;
  if (op == "Less") return x < y;
  return x <= y;
}

bool Logic(std::string_view op, bool x, bool y) { return op == "And" ? x && y : op == "Or" ? x || y : x != y; }

// Element by element through the operator's name: for folding and for rare types.
template <typename T>
std::unique_ptr<Executor> SlowExecutor(const Entry& entry, const Broadcast& broadcast) {
  return MakeExecutor([entry, broadcast](const Arguments& a) {
    const T* x = In<T>(a, 0);
    const T* y = In<T>(a, 1);
    broadcast.ForEach([&](int64_t i, int64_t j, int64_t k) {
      switch (entry.kind) {
        case Kind::kArithmetic: Out<T>(a)[k] = Arithmetic(entry.name, x[i], y[j]); break;
        case Kind::kComparison: Out<uint8_t>(a)[k] = Compare(entry.name, x[i], y[j]); break;
        case Kind::kBits: Out<T>(a)[k] = Bits(entry.name, x[i], y[j]); break;
        case Kind::kLogic: Out<uint8_t>(a)[k] = Logic(entry.name, x[i] != T{0}, y[j] != T{0}); break;
      }
    });
  });
}

// Shifts move zeros in, so they are those of numbers without a sign.
bool IsKnown(DataType type, Kind kind) {
  switch (type) {
    case DataType::kFloat32:
    case DataType::kDouble: return kind != Kind::kBits;
    case DataType::kFloat16:
    case DataType::kBFloat16: return false;
    default: return true;
  }
}

// How a float problem with vector code is done.
enum class Mode { kFlat, kScalar, kLanes, kRows };

struct Shape {
  Mode mode = Mode::kRows;
  bool swapped = false;  // the tensor with the result's dims is input 1
};

bool IsPerChannel(const om::Dims& dims, const om::Dims& full) {
  if (dims.size() != full.size() || dims.size() < 3 || dims[1] != full[1]) return false;
  if (dims[0] != 1 && dims[0] != full[0]) return false;
  return std::all_of(dims.begin() + 2, dims.end(), [](int64_t dim) { return dim == 1; });
}

Shape ShapeOf(const Problem& problem) {
  const om::Dims& full = problem.outputs[0].dims;
  const TensorInfo &x = problem.inputs[0], &y = problem.inputs[1];
  if (x.dims == full && y.dims == full) return {Mode::kFlat, false};
  for (const bool swapped : {false, true}) {
    const TensorInfo &main = swapped ? y : x, &other = swapped ? x : y;
    if (main.dims != full) continue;
    if (om::ElementCount(other.dims) == 1) return {Mode::kScalar, swapped};
    if (IsPerChannel(other.dims, full)) return {Mode::kLanes, swapped};
  }
  return {};
}

// x to the power of one number, which vector code does.
bool IsPowerOfScalar(const Problem& problem) {
  return problem.node->op == "Pow" && problem.inputs[0].type == DataType::kFloat32 &&
         om::ElementCount(problem.inputs[1].dims) == 1 && problem.inputs[0].dims == problem.outputs[0].dims;
}

Result<std::unique_ptr<Executor>> PreparePower(const Problem& problem) {
  const TensorInfo& out = problem.outputs[0];
  if (problem.inputs[0].layout != out.layout || problem.inputs[1].layout != om::Layout::kPlain)
    return Invalid("layouts differ");
  return MakeExecutor([power = SimdFor(problem.isa).power, count = StoredCount(out), dims = out.dims,
                       layout = out.layout](const Arguments& a) {
    power(In<float>(a, 0), Out<float>(a), count, *In<float>(a, 1));
    ClearPadding(Out<float>(a), dims, layout);
  });
}

class Binary final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 2));
    const Entry* entry = Find(problem.node->op);
    if (!entry) return Unsupported("unknown function {}", problem.node->op);
    if (HasBf16(problem)) {
      if (!CanWriteBf16(problem)) return Unsupported("bfloat16");
      return Broadcast::Check(problem.inputs[0].dims, problem.inputs[1].dims, problem.outputs[0].dims);
    }
    const DataType type = problem.inputs[0].type;
    if (problem.inputs[1].type != type)
      return Unsupported("types {} and {}", om::ToString(type), om::ToString(problem.inputs[1].type));
    const bool keeps_type = entry->kind == Kind::kArithmetic || entry->kind == Kind::kBits;
    const DataType result = keeps_type ? type : DataType::kBool;
    if (problem.outputs[0].type != result) return Invalid("result of type {}", om::ToString(problem.outputs[0].type));
    if ((entry->kind == Kind::kLogic) != (type == DataType::kBool) &&
        !(entry->name == "Equal" && type == DataType::kBool)) {
      return Unsupported("type {}", om::ToString(type));
    }
    if (!IsKnown(type, entry->kind)) return Unsupported("type {}", om::ToString(type));
    NPUSTREAM_RETURN_IF_ERROR(FusedActivation(*problem.node).status());
    return Broadcast::Check(problem.inputs[0].dims, problem.inputs[1].dims, problem.outputs[0].dims);
  }

  // A sum of two convolutions' results, say.
  bool CanWriteBf16(const Problem& problem) const override {
    const auto activation = FusedActivation(*problem.node);
    const auto is_computed = [&](const TensorInfo& x) {
      return !x.is_constant && x.dims == problem.outputs[0].dims &&
             (x.type == DataType::kFloat32 || x.type == DataType::kBFloat16);
    };
    return problem.isa == Isa::kAmx && problem.node->op == "Add" && problem.outputs[0].dims.size() == 4 &&
           om::GetString(*problem.node, kComputeType, "") == kComputeBf16 && activation.ok() &&
           std::all_of(problem.inputs.begin(), problem.inputs.end(), is_computed) &&
           SimdFor(problem.isa).bf16_finish[static_cast<int>(activation->op)] != nullptr;
  }
  bool CanReadBf16(const Problem& problem, size_t) const override { return CanWriteBf16(problem); }

  Result<Choice> Choose(const Problem& problem) const override {
    if (HasBf16(problem)) return ChooseBf16(problem);
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    const Entry* entry = Find(problem.node->op);
    if (IsPowerOfScalar(problem)) {
      choice.inputs[0] = choice.outputs[0] = problem.inputs[0].layout;
      choice.in_place_input = 0;
      return choice;
    }
    if (entry->simd == BinaryOp::kCount || problem.inputs[0].type != DataType::kFloat32) {
      choice.implementation = "plain";
      return choice;
    }
    const Shape shape = ShapeOf(problem);
    const size_t main = shape.swapped ? 1 : 0;
    om::Layout layout = problem.inputs[main].layout;
    if (shape.mode == Mode::kFlat && layout != problem.inputs[1].layout) {
      const om::Layout other = problem.inputs[1].layout;
      const bool plain = IsFewChannels(problem.outputs[0], problem.isa);
      layout = plain ? om::Layout::kPlain : layout == om::Layout::kPlain ? other : layout;
    }
    if (shape.mode == Mode::kRows) layout = om::Layout::kPlain;
    choice.inputs[main] = choice.outputs[0] = layout;
    if (shape.mode == Mode::kFlat || shape.mode == Mode::kLanes) choice.inputs[1 - main] = layout;
    if (shape.mode != Mode::kRows) choice.in_place_input = static_cast<int>(main);
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    if (HasBf16(problem)) return PrepareBf16(problem);
    const Entry& entry = *Find(problem.node->op);
    const DataType type = problem.inputs[0].type;
    if (IsPowerOfScalar(problem)) return PreparePower(problem);
    if (type == DataType::kFloat32 && entry.simd != BinaryOp::kCount) return PrepareFloat(problem, entry);
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const Broadcast broadcast(problem.inputs[0].dims, problem.inputs[1].dims, problem.outputs[0].dims);
    switch (type) {
      case DataType::kFloat32: return SlowExecutor<float>(entry, broadcast);
      case DataType::kDouble: return SlowExecutor<double>(entry, broadcast);
      case DataType::kInt32: return SlowExecutor<int32_t>(entry, broadcast);
      case DataType::kInt64: return SlowExecutor<int64_t>(entry, broadcast);
      case DataType::kInt16: return SlowExecutor<int16_t>(entry, broadcast);
      case DataType::kInt8: return SlowExecutor<int8_t>(entry, broadcast);
      case DataType::kUInt64: return SlowExecutor<uint64_t>(entry, broadcast);
      case DataType::kUInt32: return SlowExecutor<uint32_t>(entry, broadcast);
      case DataType::kUInt16: return SlowExecutor<uint16_t>(entry, broadcast);
      default: return SlowExecutor<uint8_t>(entry, broadcast);
    }
  }

 private:
  static bool HasBf16(const Problem& problem) {
    const auto is_bf16 = [](const TensorInfo& tensor) { return tensor.type == DataType::kBFloat16; };
    return std::any_of(problem.inputs.begin(), problem.inputs.end(), is_bf16) || is_bf16(problem.outputs[0]);
  }

  static Choice ChooseBf16(const Problem& problem) {
    Choice choice = PlainChoice(problem, "bfloat16 amx");
    choice.inputs = {BlockedLayout(problem.isa), BlockedLayout(problem.isa)};
    choice.outputs = {BlockedLayout(problem.isa)};
    choice.in_place_input = 1;
    return choice;
  }

  // The first operand, which is widened where it must, takes the place of sums, the second one that of their residual.
  static Result<std::unique_ptr<Executor>> PrepareBf16(const Problem& problem) {
    const TensorInfo &x = problem.inputs[0], &z = problem.inputs[1], &y = problem.outputs[0];
    const om::Layout layout = BlockedLayout(problem.isa);
    if (x.layout != layout || z.layout != layout || y.layout != layout) return Invalid("layouts differ");
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    const SimdTable& simd = SimdFor(problem.isa);
    const size_t count = StoredCount(y), x_bytes = om::SizeOf(x.type), z_bytes = om::SizeOf(z.type),
                 y_bytes = om::SizeOf(y.type);
    RealFinish f = {};
    f.bf16_residual = z_bytes == 2, f.bf16_y = y_bytes == 2;
    f.groups = 1, f.a = activation.a, f.b = activation.b;
    const bool clears = !KeepsZero(activation);
    return MakeExecutor([=, finish = simd.bf16_finish[static_cast<int>(activation.op)], widen = simd.from_bf16,
                         dims = y.dims](const Arguments& a) {
      constexpr size_t kAtOnce = 1024, kLanes = 16;
      alignas(64) float wide[kAtOnce];
      RealFinish part = f;
      for (size_t at = 0; at < count; at += kAtOnce) {
        const size_t n = std::min(kAtOnce, count - at);
        part.pixels = static_cast<int64_t>(n / kLanes);
        part.sums = x_bytes == 2 ? wide : In<float>(a, 0) + at;
        if (x_bytes == 2) widen(In<uint16_t>(a, 0) + at, wide, n);
        part.residual = a.inputs[1] + at * z_bytes;
        part.y = a.outputs[0] + at * y_bytes;
        finish(part);
      }
      if (clears) ClearPadding(a.outputs[0], y_bytes, dims, layout);
    });
  }

  static Result<std::unique_ptr<Executor>> PrepareFloat(const Problem& problem, const Entry& entry) {
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    const Shape shape = ShapeOf(problem);
    const size_t main = shape.swapped ? 1 : 0;
    const TensorInfo& out = problem.outputs[0];
    const TensorInfo& other = problem.inputs[1 - main];
    if (problem.inputs[main].layout != out.layout) return Invalid("layouts differ");
    if (shape.mode == Mode::kRows || (shape.mode == Mode::kLanes && out.layout == om::Layout::kPlain)) {
      NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
      return Finish(problem, activation, RowsExecutor(problem, entry));
    }
    if (shape.mode == Mode::kScalar) {
      if (other.layout != om::Layout::kPlain) return Invalid("a scalar must be plain");
      const auto function = SimdFor(problem.isa).binary_scalar[static_cast<int>(entry.simd)];
      return Finish(problem, activation, [=, count = StoredCount(out), swapped = shape.swapped](const Arguments& a) {
        function(In<float>(a, main), *In<float>(a, 1 - main), Out<float>(a), count, swapped);
      });
    }
    if (other.layout != out.layout) return Invalid("layouts differ");
    if (shape.mode == Mode::kFlat) {
      const auto function = SimdFor(problem.isa).binary[static_cast<int>(entry.simd)];
      return Finish(problem, activation, [=, count = StoredCount(out)](const Arguments& a) {
        function(In<float>(a, 0), In<float>(a, 1), Out<float>(a), count);
      });
    }
    return Finish(problem, activation, LanesFunction(problem, entry, shape.swapped));
  }

  static auto LanesFunction(const Problem& problem, const Entry& entry, bool swapped)
      -> std::function<void(const Arguments&)> {
    const TensorInfo& out = problem.outputs[0];
    const size_t main = swapped ? 1 : 0;
    const auto block = static_cast<size_t>(om::BlockOf(out.layout));
    const size_t groups = (static_cast<size_t>(out.dims[1]) + block - 1) / block;
    const auto images = static_cast<size_t>(out.dims[0]);
    const bool per_image = problem.inputs[1 - main].dims[0] != 1;
    const size_t pixels = images * groups > 0 ? StoredCount(out) / (images * groups * block) : 0;
    const auto function = SimdFor(problem.isa).binary_lanes[static_cast<int>(entry.simd)];
    return [=](const Arguments& a) {
      for (size_t n = 0; n < images; ++n) {
        for (size_t g = 0; g < groups; ++g) {
          const size_t at = (n * groups + g) * pixels * block;
          const float* lanes = In<float>(a, 1 - main) + ((per_image ? n : 0) * groups + g) * block;
          function(In<float>(a, main) + at, lanes, Out<float>(a) + at, pixels, block, swapped);
        }
      }
    };
  }

  // Plain broadcasting: the innermost axis runs through the vector functions.
  static std::function<void(const Arguments&)> RowsExecutor(const Problem& problem, const Entry& entry) {
    const Broadcast broadcast(problem.inputs[0].dims, problem.inputs[1].dims, problem.outputs[0].dims);
    const SimdTable& table = SimdFor(problem.isa);
    const auto flat = table.binary[static_cast<int>(entry.simd)];
    const auto scalar = table.binary_scalar[static_cast<int>(entry.simd)];
    return [=](const Arguments& a) {
      broadcast.ForEachRow([&](int64_t i, int64_t j, int64_t k, const Broadcast::Row& row) {
        const float *x = In<float>(a, 0) + i, *y = In<float>(a, 1) + j;
        float* z = Out<float>(a) + k;
        const auto count = static_cast<size_t>(row.count);
        if (row.x_stride == 1 && row.y_stride == 1) return flat(x, y, z, count);
        if (row.y_stride == 0 && row.x_stride == 1) return scalar(x, *y, z, count, false);
        if (row.x_stride == 0 && row.y_stride == 1) return scalar(y, *x, z, count, true);
        for (size_t n = 0; n < count; ++n) flat(x, y, z + n, 1);
      });
    };
  }

  template <typename Function>
  static std::unique_ptr<Executor> Finish(const Problem& problem, const Activation& activation, Function function) {
    const TensorInfo& out = problem.outputs[0];
    const size_t count = StoredCount(out);
    const auto activate = SimdFor(problem.isa).unary[static_cast<int>(activation.op)];
    return MakeExecutor([=, dims = out.dims, layout = out.layout](const Arguments& a) {
      function(a);
      if (activation.op != UnaryOp::kIdentity)
        activate(Out<float>(a), Out<float>(a), count, activation.a, activation.b);
      ClearPadding(Out<float>(a), dims, layout);
    });
  }
};

}  // namespace

const Kernel* BinaryKernel() {
  static const Binary kernel;
  return &kernel;
}

}  // namespace npustream::kernels
