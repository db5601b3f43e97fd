// ByteAdd and ByteMul, operators of the compiler's own: sums and products of quantised tensors of equal dims, or of one
// with a value per channel (squeeze and excitation), with a result quantised by its own scale. Activations that limits express (Relu, Clip) are applied.
#include "npu_sim/kernels/byte_binary.h"

#include <algorithm>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

float ZeroPoint(const om::Quantization& q) { return static_cast<float>(q.zero_points[0]); }

ByteBinary ByteProduct(const om::Quantization& x, const om::Quantization& y, const om::Quantization& z,
                       ByteLimits limits) {
  ByteBinary binary = {};
  binary.x_zero = ZeroPoint(x), binary.y_zero = ZeroPoint(y);
  binary.x_scale = x.scales[0] * y.scales[0] / z.scales[0];
  binary.offset = ZeroPoint(z);
  binary.low = limits.low, binary.high = limits.high;
  return binary;
}

// The operand that holds one value per channel, [1 or N, C, 1, 1], for the other's pictures; −1 when there is none.
int ChannelOperand(const Problem& problem) {
  const om::Dims& z = problem.outputs[0].dims;
  for (int i = 0; i < 2; ++i) {
    const om::Dims& lanes = problem.inputs[static_cast<size_t>(i)].dims;
    const bool per_channel = z.size() == 4 && lanes.size() == 4 && (lanes[0] == 1 || lanes[0] == z[0]) &&
                             lanes[1] == z[1] && lanes[2] == 1 && lanes[3] == 1;
    if (per_channel && lanes != z && problem.inputs[static_cast<size_t>(1 - i)].dims == z) return i;
  }
  return -1;
}

// A channel's value stands beside this many of the other operand's pixels at once.
constexpr int64_t kRepeated = 64, kWidestBlock = 16;

class ByteBinaryOperator final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 2));
    for (const TensorInfo* tensor : {&problem.inputs[0], &problem.inputs[1], &problem.outputs[0]}) {
      if (!IsByteTensor(*tensor)) return Unsupported("only uint8 with one scale is done");
      if (tensor->is_constant) return Unsupported("a constant operand");
    }
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    if (!LimitsOf(activation, *problem.outputs[0].quantization)) return Unsupported("this activation");
    if (ChannelOperand(problem) >= 0) return {};
    NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, problem.inputs[0].dims));
    return RequireOutputDims(problem, 0, problem.inputs[1].dims);
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    const int lanes = ChannelOperand(problem);
    const size_t main = lanes >= 0 ? static_cast<size_t>(1 - lanes) : problem.inputs[0].layout == om::Layout::kPlain ? 1 : 0;
    choice.inputs[0] = choice.inputs[1] = choice.outputs[0] = problem.inputs[main].layout;
    choice.in_place_input = lanes >= 0 ? static_cast<int>(main) : 0;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    const TensorInfo &x = problem.inputs[0], &y = problem.inputs[1], &z = problem.outputs[0];
    if (x.layout != z.layout || y.layout != z.layout) return Invalid("layouts differ");
    const bool adds = problem.node->op == "ByteAdd";
    NPUSTREAM_ASSIGN_OR_RETURN(const Activation activation, FusedActivation(*problem.node));
    const ByteLimits limits = *LimitsOf(activation, *z.quantization);
    ByteBinary binary = (adds ? ByteSum : ByteProduct)(*x.quantization, *y.quantization, *z.quantization, limits);
    binary.n = StoredCount(z);
    const SimdTable& simd = SimdFor(problem.isa);
    const auto function = adds ? simd.byte_add : simd.byte_mul;
    if (const int lanes = ChannelOperand(problem); lanes >= 0)
      return ChannelExecutor(problem, static_cast<size_t>(lanes), binary, function);
    return MakeExecutor([binary, function](const Arguments& a) {
      ByteBinary operands = binary;
      operands.x = In<uint8_t>(a, 0), operands.y = In<uint8_t>(a, 1), operands.z = Out<uint8_t>(a);
      function(operands);
    });
  }
 private:
  static std::unique_ptr<Executor> ChannelExecutor(const Problem& problem, size_t lanes, const ByteBinary& binary,
                                                   void (*function)(const ByteBinary&)) {
    const om::Dims& dims = problem.outputs[0].dims;
    const int64_t block = om::BlockOf(problem.outputs[0].layout), groups = (dims[1] + block - 1) / block,
                  pixels = dims[2] * dims[3];
    const bool per_image = problem.inputs[lanes].dims[0] != 1;
    return MakeExecutor([=, images = dims[0]](const Arguments& a) {
      uint8_t repeated[kRepeated * kWidestBlock];
      for (int64_t i = 0; i < images * groups; ++i) {
        const uint8_t* values = In<uint8_t>(a, lanes) + (per_image ? i : i % groups) * block;
        for (int64_t p = 0; p < std::min(kRepeated, pixels); ++p) std::copy_n(values, block, repeated + p * block);
        for (int64_t p = 0; p < pixels; p += kRepeated) {
          const int64_t at = (i * pixels + p) * block;
          ByteBinary operands = binary;
          operands.x = lanes == 0 ? repeated : In<uint8_t>(a, 0) + at;
          operands.y = lanes == 1 ? repeated : In<uint8_t>(a, 1) + at;
          operands.z = Out<uint8_t>(a) + at;
          operands.n = static_cast<size_t>(std::min(kRepeated, pixels - p) * block);
          function(operands);
        }
      }
    });
  }
};

}  // namespace

ByteBinary ByteSum(const om::Quantization& x, const om::Quantization& y, const om::Quantization& z, ByteLimits limits) {
  ByteBinary binary = {};
  binary.x_scale = x.scales[0] / z.scales[0], binary.y_scale = y.scales[0] / z.scales[0];
  binary.offset = ZeroPoint(z) - (ZeroPoint(x) * binary.x_scale + ZeroPoint(y) * binary.y_scale);
  binary.low = limits.low, binary.high = limits.high;
  return binary;
}

const Kernel* ByteBinaryKernel() {
  static const ByteBinaryOperator kernel;
  return &kernel;
}

}  // namespace npustream::kernels
