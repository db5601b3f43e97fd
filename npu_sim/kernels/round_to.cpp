// Real numbers rounded to those that a shorter type has; they stay float32.
#include <bit>
#include <cstdint>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// Cuts the low `bits` bits of the fraction off, to nearest even. Infinite numbers stay.
uint32_t CutFraction(uint32_t number, int bits) {
  const uint32_t unit = uint32_t{1} << bits;
  return (number + (unit / 2 - 1) + (number >> bits & 1)) & ~(unit - 1);
}

// Without branches, so that the compiler makes vector code of the loops over these.
struct ToHalfValue {
  float operator()(float x) const {
    const uint32_t bits = std::bit_cast<uint32_t>(x), sign = bits & 0x80000000u, magnitude = bits ^ sign;
    const float size = std::bit_cast<float>(magnitude);
    // Below 2^-14 halves are multiples of 2^-24, which are the last places of numbers between 0.5 and 1.
    const float small = (size + 0.5f) - 0.5f;
    const uint32_t normal = CutFraction(magnitude, 13);
    const uint32_t rounded = magnitude < 0x38800000u ? std::bit_cast<uint32_t>(small) : normal;
    const uint32_t limited = rounded >= 0x47800000u ? 0x7f800000u : rounded;
    return std::bit_cast<float>((magnitude > 0x7f800000u ? magnitude : limited) | sign);
  }
};

struct ToBFloat16Value {
  float operator()(float x) const {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return std::bit_cast<float>(is_nan ? bits : CutFraction(bits, 16));
  }
};

template <typename Round>
std::unique_ptr<Executor> RoundAll(size_t count) {
  return MakeExecutor([count](const Arguments& a) {
    const float* const in = In<float>(a, 0);
    float* const out = Out<float>(a);
    for (size_t i = 0; i < count; ++i) out[i] = Round()(in[i]);
  });
}

om::DataType TypeOf(const om::Node& node) { return static_cast<om::DataType>(om::GetInt(node, "to", 0)); }

class RoundTo final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
    NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, problem.inputs[0].dims));
    const int64_t to = om::GetInt(*problem.node, "to", 0);
    if (to != static_cast<int64_t>(om::DataType::kFloat16) && to != static_cast<int64_t>(om::DataType::kBFloat16))
      return Unsupported("rounding to type {}", to);
    return {};
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, om::ToString(TypeOf(*problem.node)));
    choice.inputs[0] = choice.outputs[0] = problem.inputs[0].layout;
    choice.in_place_input = 0;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    if (problem.inputs[0].layout != problem.outputs[0].layout) return Invalid("layouts differ");
    const size_t count = StoredCount(problem.inputs[0]);
    if (TypeOf(*problem.node) == om::DataType::kFloat16) return RoundAll<ToHalfValue>(count);
    return RoundAll<ToBFloat16Value>(count);
  }
};

}  // namespace

const Kernel* RoundToKernel() {
  static const RoundTo kernel;
  return &kernel;
}

}  // namespace npustream::kernels
