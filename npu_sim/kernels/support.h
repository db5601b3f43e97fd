#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/kernels/simd/simd.h"

// Small helpers for the kernels' own use.
namespace npustream::kernels {

template <typename... Args>
Status Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return Status(StatusCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
Status Unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return Status(StatusCode::kUnsupported, fmt::format(format, std::forward<Args>(args)...));
}

// "1x3x416x416"
std::string DimsText(const om::Dims& dims);

// Checks the number of inputs (those left out at the end count as absent) and outputs.
Status RequireArity(const Problem& problem, size_t min_inputs, size_t max_inputs, size_t outputs = 1);
Status RequireFloat(const Problem& problem);
Status RequireOutputDims(const Problem& problem, size_t output, const om::Dims& dims);
// `axis` of the node, counted from the end when negative; must lie in [0, rank).
Result<int64_t> NormalAxis(int64_t axis, size_t rank);

bool IsAbsent(const Problem& problem, size_t input);
// True when every tensor is plain.
Status RequirePlain(const Problem& problem);
// All plain, with a name for the implementation.
Choice PlainChoice(const Problem& problem, std::string implementation);

// Whether groups of channels would be half empty for this picture, or worse: such tensors better stay plain.
bool IsFewChannels(const TensorInfo& tensor, Isa isa);

// Sums, differences and products of integers wrap around at the type's ends, as a device's do; of reals they are C++'s.
template <typename T, typename Function>
T Wrapping(T x, T y, Function function) {
  if constexpr (std::is_integral_v<T>) {
    // 64 bits wide, as narrower types would be promoted to int.
    return static_cast<T>(function(static_cast<uint64_t>(x), static_cast<uint64_t>(y)));
  } else {
    return function(x, y);
  }
}

// A real number cut to a whole one, held in the type's range; 0 for none.
template <typename T>
T ToWhole(double value) {
  using Limits = std::numeric_limits<T>;
  if (!(value == value)) return 0;
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  if (value >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<T>(value);
}

// Row-major strides, in elements.
std::vector<int64_t> Strides(const om::Dims& dims);

// A copy between strided views of the same dims, element by element.
class StridedCopy {
 public:
  // Strides in elements; zero repeats. Dims of 1 are dropped and neighbours joined where both views allow it.
  StridedCopy(om::Dims dims, std::vector<int64_t> source, std::vector<int64_t> target, size_t element_bytes, Isa isa);
  void Run(const std::byte* source, std::byte* target) const;

 private:
  void PairTransposedAxes(Isa isa);
  void RunAxis(size_t axis, const std::byte* source, std::byte* target) const;
  om::Dims dims_;
  std::vector<int64_t> source_, target_;  // bytes
  size_t element_bytes_;
  bool empty_ = false;
  // Set when the last two axes are a transposition: the last but one is contiguous in the source, the last in the target.
  SimdTable::Transpose transpose_ = nullptr;
};

// Runs a callable as an Executor: MakeExecutor([=](const Arguments& a) { … }).
template <typename Function>
class FunctionExecutor final : public Executor {
 public:
  explicit FunctionExecutor(Function function) : function_(std::move(function)) {}
  Status Run(const Arguments& arguments) override {
    function_(arguments);
    return {};
  }

 private:
  Function function_;
};
template <typename Function>
std::unique_ptr<Executor> MakeExecutor(Function function) {
  return std::make_unique<FunctionExecutor<Function>>(std::move(function));
}

template <typename T>
const T* In(const Arguments& arguments, size_t index) {
  return reinterpret_cast<const T*>(arguments.inputs[index]);
}
template <typename T>
T* Out(const Arguments& arguments, size_t index = 0) {
  return reinterpret_cast<T*>(arguments.outputs[index]);
}

}  // namespace npustream::kernels
