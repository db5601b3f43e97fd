// Cast between all types; floats become whole numbers by truncation, limited to the type's range.
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

class Cast final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    return RequireOutputDims(problem, 0, problem.inputs[0].dims);
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const auto count = static_cast<size_t>(om::ElementCount(problem.inputs[0].dims));
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
