// Cast between all types; floats become whole numbers by truncation, limited to the type's range.
#include <type_traits>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"
#include "npu_sim/om/float16.h"

namespace npustream::kernels {
namespace {

using om::DataType;

// Whole numbers travel as int64, the others as double.
struct Value {
  bool whole;
  int64_t i;
  double d;
};

Value Read(DataType type, const std::byte* data, size_t index) {
  const auto at = [&]<typename T>(T) { return reinterpret_cast<const T*>(data)[index]; };
  switch (type) {
    case DataType::kFloat32: return {false, 0, at(float{})};
    case DataType::kDouble: return {false, 0, at(double{})};
    case DataType::kFloat16: return {false, 0, om::FromHalf(at(uint16_t{}))};
    case DataType::kBFloat16: return {false, 0, om::FromBFloat16(at(uint16_t{}))};
    case DataType::kInt8: return {true, at(int8_t{}), 0};
    case DataType::kUInt8: return {true, at(uint8_t{}), 0};
    case DataType::kBool: return {true, at(uint8_t{}) != 0, 0};
    case DataType::kInt16: return {true, at(int16_t{}), 0};
    case DataType::kUInt16: return {true, at(uint16_t{}), 0};
    case DataType::kInt32: return {true, at(int32_t{}), 0};
    case DataType::kUInt32: return {true, at(uint32_t{}), 0};
    case DataType::kInt64: return {true, at(int64_t{}), 0};
    case DataType::kUInt64: return {true, static_cast<int64_t>(at(uint64_t{})), 0};
  }
  return {};
}

template <typename T>
T ToWhole(const Value& value) {
  return value.whole ? static_cast<T>(value.i) : kernels::ToWhole<T>(value.d);
}

void Write(DataType type, const Value& value, std::byte* data, size_t index) {
  const auto put = [&]<typename T>(T x) { reinterpret_cast<T*>(data)[index] = x; };
  const double d = value.whole ? static_cast<double>(value.i) : value.d;
  switch (type) {
    case DataType::kFloat32: return put(value.whole ? static_cast<float>(value.i) : static_cast<float>(value.d));
    case DataType::kDouble: return put(d);
    case DataType::kFloat16: return put(om::ToHalf(static_cast<float>(d)));
    case DataType::kBFloat16: return put(om::ToBFloat16(static_cast<float>(d)));
    case DataType::kInt8: return put(ToWhole<int8_t>(value));
    case DataType::kUInt8: return put(ToWhole<uint8_t>(value));
    case DataType::kBool: return put(static_cast<uint8_t>(value.whole ? value.i != 0 : value.d != 0));
    case DataType::kInt16: return put(ToWhole<int16_t>(value));
    case DataType::kUInt16: return put(ToWhole<uint16_t>(value));
    case DataType::kInt32: return put(ToWhole<int32_t>(value));
    case DataType::kUInt32: return put(ToWhole<uint32_t>(value));
    case DataType::kInt64: return put(ToWhole<int64_t>(value));
    case DataType::kUInt64: return put(ToWhole<uint64_t>(value));
  }
}

// float, int32, int64 and bytes by whole loops, which the compiler turns into vectors.
template <typename From, typename To>
void CastAll(const Arguments& a, size_t count) {
  constexpr bool kToWhole = std::is_integral_v<To> && !std::is_integral_v<From>;
  const From* from = In<From>(a, 0);
  To* to = Out<To>(a);
  for (size_t i = 0; i < count; ++i) {
    if constexpr (kToWhole) {
      to[i] = kernels::ToWhole<To>(static_cast<double>(from[i]));
    } else {
      to[i] = static_cast<To>(from[i]);
    }
  }
}

using CastLoop = void (*)(const Arguments&, size_t);

template <typename From>
CastLoop LoopTo(DataType to) {
  switch (to) {
    case DataType::kFloat32: return CastAll<From, float>;
    case DataType::kInt8: return CastAll<From, int8_t>;
    case DataType::kUInt8: return CastAll<From, uint8_t>;
    case DataType::kInt32: return CastAll<From, int32_t>;
    case DataType::kInt64: return CastAll<From, int64_t>;
    default: return nullptr;
  }
}

// Null where values go one by one.
CastLoop FindLoop(DataType from, DataType to) {
  switch (from) {
    case DataType::kFloat32: return LoopTo<float>(to);
    case DataType::kInt8: return LoopTo<int8_t>(to);
    case DataType::kUInt8: return LoopTo<uint8_t>(to);
    case DataType::kInt32: return LoopTo<int32_t>(to);
    case DataType::kInt64: return LoopTo<int64_t>(to);
    default: return nullptr;
  }
}

class Cast final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    return RequireOutputDims(problem, 0, problem.inputs[0].dims);
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const auto count = static_cast<size_t>(om::ElementCount(problem.inputs[0].dims));
    if (const CastLoop loop = FindLoop(problem.inputs[0].type, problem.outputs[0].type))
      return MakeExecutor([count, loop](const Arguments& a) { loop(a, count); });
    return MakeExecutor([count, from = problem.inputs[0].type, to = problem.outputs[0].type](const Arguments& a) {
      for (size_t i = 0; i < count; ++i) Write(to, Read(from, a.inputs[0], i), a.outputs[0], i);
    });
  }
};

}  // namespace

const Kernel* CastKernel() {
  static const Cast kernel;
  return &kernel;
}

}  // namespace npustream::kernels
