#include <algorithm>
#include <iterator>

#include "npu_sim/kernels/operators.h"

namespace npustream::kernels {
namespace {

struct Entry {
  std::string_view op;
  const Kernel* (*kernel)();
};

// Sorted by name; FindKernel searches by halves.
constexpr Entry kTable[] = {
    {"Abs", UnaryKernel},
    {"Acos", UnaryKernel},
    {"Acosh", UnaryKernel},
    {"Add", BinaryKernel},
    {"Aipp", AippKernel},
    {"And", BinaryKernel},
    {"ArgMax", ArgMaxKernel},
    {"ArgMin", ArgMaxKernel},
    {"Asin", UnaryKernel},
    {"Asinh", UnaryKernel},
    {"Atan", UnaryKernel},
    {"Atanh", UnaryKernel},
    {"Attention", AttentionKernel},
    {"AveragePool", PoolKernel},
    {"BatchNormalization", BatchNormKernel},
    {"BitwiseAnd", BinaryKernel},
    {"BitwiseNot", UnaryKernel},
    {"BitwiseOr", BinaryKernel},
    {"BitwiseXor", BinaryKernel},
    {"ByteAdd", ByteBinaryKernel},
    {"ByteMatMul", ByteMatMulKernel},
    {"ByteMul", ByteBinaryKernel},
    {"Cast", CastKernel},
    {"Ceil", UnaryKernel},
    {"Clip", UnaryKernel},
    {"Concat", ConcatKernel},
    {"Conv", ConvKernel},
    {"ConvTranspose", ConvTransposeKernel},
    {"Cos", UnaryKernel},
    {"Cosh", UnaryKernel},
    {"CumSum", CumSumKernel},
    {"DepthToSpace", MoveKernel},
    {"Dequantize", QuantizeKernel},
    {"Div", BinaryKernel},
    {"Elu", UnaryKernel},
    {"Equal", BinaryKernel},
    {"Erf", UnaryKernel},
    {"Exp", UnaryKernel},
    {"Expand", MoveKernel},
    {"Floor", UnaryKernel},
    {"GRU", RecurrentKernel},
    {"Gather", GatherKernel},
    {"GatherElements", GatherElementsKernel},
    {"GatherND", GatherNdKernel},
    {"Gelu", UnaryKernel},
    {"Gemm", MatMulKernel},
    {"GlobalAveragePool", PoolKernel},
    {"GlobalMaxPool", PoolKernel},
    {"Greater", BinaryKernel},
    {"GreaterOrEqual", BinaryKernel},
    {"GridSample", GridSampleKernel},
    {"HardSigmoid", UnaryKernel},
    {"HardSwish", UnaryKernel},
    {"Identity", UnaryKernel},
    {"LSTM", RecurrentKernel},
    {"LayerNormalization", LayerNormKernel},
    {"LeakyRelu", UnaryKernel},
    {"Less", BinaryKernel},
    {"LessOrEqual", BinaryKernel},
    {"Log", UnaryKernel},
    {"LogSoftmax", SoftmaxKernel},
    {"Lookup", LookupKernel},
    {"MatMul", MatMulKernel},
    {"Max", BinaryKernel},
    {"MaxPool", PoolKernel},
    {"MaxPoolIndices", MaxPoolIndicesKernel},
    {"Min", BinaryKernel},
    {"Mish", UnaryKernel},
    {"Mod", BinaryKernel},
    {"Mul", BinaryKernel},
    {"Neg", UnaryKernel},
    {"NonMaxSuppression", NonMaxSuppressionKernel},
    {"Not", UnaryKernel},
    {"Or", BinaryKernel},
    {"PRelu", BinaryKernel},
    {"Pad", PadKernel},
    {"Planes", PlanesKernel},
    {"Pow", BinaryKernel},
    {"Quantize", QuantizeKernel},
    {"RNN", RecurrentKernel},
    {"Reciprocal", UnaryKernel},
    {"ReduceL1", ReduceKernel},
    {"ReduceL2", ReduceKernel},
    {"ReduceMax", ReduceKernel},
    {"ReduceMean", ReduceKernel},
    {"ReduceMin", ReduceKernel},
    {"ReduceProd", ReduceKernel},
    {"ReduceSum", ReduceKernel},
    {"Relu", UnaryKernel},
    {"Reorder", ReorderKernel},
    {"Reshape", MoveKernel},
    {"Resize", ResizeKernel},
    {"RoiAlign", RoiAlignKernel},
    {"Round", UnaryKernel},
    {"RoundTo", RoundToKernel},
    {"ScatterElements", ScatterKernel},
    {"ScatterND", ScatterKernel},
    {"Selu", UnaryKernel},
    {"ShiftLeft", BinaryKernel},
    {"ShiftRight", BinaryKernel},
    {"Sigmoid", UnaryKernel},
    {"Sign", UnaryKernel},
    {"Silu", UnaryKernel},
    {"Sin", UnaryKernel},
    {"Sinh", UnaryKernel},
    {"Slice", MoveKernel},
    {"Softmax", SoftmaxKernel},
    {"Softplus", UnaryKernel},
    {"Softsign", UnaryKernel},
    {"SpaceToDepth", MoveKernel},
    {"Split", MoveKernel},
    {"Sqrt", UnaryKernel},
    {"Sub", BinaryKernel},
    {"Tan", UnaryKernel},
    {"Tanh", UnaryKernel},
    {"Tile", MoveKernel},
    {"TopK", TopKKernel},
    {"Transpose", MoveKernel},
    {"Where", WhereKernel},
    {"Xor", BinaryKernel},
};

constexpr bool IsSorted() {
  for (size_t i = 1; i < std::size(kTable); ++i) {
    if (!(kTable[i - 1].op < kTable[i].op)) return false;
  }
  return true;
}
static_assert(IsSorted());

}  // namespace

const Kernel* FindKernel(std::string_view op) {
  const auto found = std::lower_bound(std::begin(kTable), std::end(kTable), op,
                                      [](const Entry& entry, std::string_view name) { return entry.op < name; });
  if (found != std::end(kTable) && found->op == op) return found->kernel();
  // Only operators of other domains have a dot in their name.
  return op.find('.') != std::string_view::npos ? CustomKernel() : nullptr;
}

}  // namespace npustream::kernels
