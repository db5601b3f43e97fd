// ByteAdd and ByteMul, operators of the compiler's own: sums and products of quantised tensors of equal dims, with a
// result quantised by its own scale. Activations that limits express (Relu, Clip) are applied.
#include "npu_sim/kernels/byte_binary.h"

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
    NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, problem.inputs[0].dims));
    return RequireOutputDims(problem, 0, problem.inputs[1].dims);
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    const om::Layout layout = problem.inputs[problem.inputs[0].layout == om::Layout::kPlain ? 1 : 0].layout;
    choice.inputs[0] = choice.inputs[1] = choice.outputs[0] = layout;
    choice.in_place_input = 0;
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
    return MakeExecutor([binary, function = adds ? simd.byte_add : simd.byte_mul](const Arguments& a) {
      ByteBinary operands = binary;
      operands.x = In<uint8_t>(a, 0), operands.y = In<uint8_t>(a, 1), operands.z = Out<uint8_t>(a);
      function(operands);
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
