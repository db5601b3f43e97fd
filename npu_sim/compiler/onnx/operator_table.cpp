#include "npu_sim/compiler/onnx/operator_table.h"

#include <algorithm>
#include <iterator>

#include "npu_sim/compiler/onnx/importers.h"
#include "npu_sim/extension/registry.h"

namespace npustream::compiler {
namespace {

// Sorted by name. To add an operator: write its importer next to its family, then add a line here.
constexpr OperatorRow kTable[] = {
    {"Abs", ImportUnary, 1, 1},
    {"Add", ImportBinary, 2, 2},
    {"And", ImportCompare, 2, 2},
    {"ArgMax", ImportArgExtreme, 1, 1},
    {"ArgMin", ImportArgExtreme, 1, 1},
    {"Atan", ImportUnary, 1, 1},
    {"AveragePool", ImportAveragePool, 1, 1},
    {"BatchNormalization", ImportBatchNormalization, 5, 5},
    {"Cast", ImportCast, 1, 1},
    {"CastLike", ImportCastLike, 2, 2},
    {"Ceil", ImportUnary, 1, 1},
    {"Celu", ImportCelu, 1, 1},
    {"Clip", ImportClip, 1, 3},
    {"Concat", ImportConcat, 1, kAnyCount},
    {"Constant", ImportConstant, 0, 0},
    {"ConstantOfShape", ImportConstantOfShape, 1, 1},
    {"Conv", ImportConv, 2, 3},
    {"ConvInteger", ImportInteger, 2, 4},
    {"ConvTranspose", ImportConvTranspose, 2, 3},
    {"Cos", ImportUnary, 1, 1},
    {"DepthToSpace", ImportDepthToSpace, 1, 1},
    {"DequantizeLinear", ImportDequantizeLinear, 2, 3},
    {"Div", ImportBinary, 2, 2},
    {"Dropout", ImportDropout, 1, 3},
    {"DynamicQuantizeLinear", ImportDynamicQuantizeLinear, 1, 1},
    {"Elu", ImportUnaryWithAlpha, 1, 1},
    {"Equal", ImportCompare, 2, 2},
    {"Erf", ImportUnary, 1, 1},
    {"Exp", ImportUnary, 1, 1},
    {"Expand", ImportExpand, 2, 2},
    {"Flatten", ImportFlatten, 1, 1},
    {"Floor", ImportUnary, 1, 1},
    {"Gather", ImportGather, 2, 2},
    {"GatherElements", ImportGatherElements, 2, 2},
    {"GatherND", ImportGatherNd, 2, 2},
    {"Gelu", ImportGelu, 1, 1},
    {"Gemm", ImportGemm, 2, 3},
    {"GlobalAveragePool", ImportGlobalAveragePool, 1, 1},
    {"GlobalMaxPool", ImportGlobalMaxPool, 1, 1},
    {"Greater", ImportCompare, 2, 2},
    {"GreaterOrEqual", ImportCompare, 2, 2},
    {"GridSample", ImportGridSample, 2, 2},
    {"GroupNormalization", ImportGroupNormalization, 3, 3},
    {"HardSigmoid", ImportHardSigmoid, 1, 1},
    {"HardSwish", ImportUnary, 1, 1},
    {"Identity", ImportIdentity, 1, 1},
    {"If", ImportIf, 1, 1},
    {"InstanceNormalization", ImportInstanceNormalization, 3, 3},
    {"LRN", ImportLrn, 1, 1},
    {"LayerNormalization", ImportLayerNormalization, 2, 3},
    {"LeakyRelu", ImportUnaryWithAlpha, 1, 1},
    {"Less", ImportCompare, 2, 2},
    {"LessOrEqual", ImportCompare, 2, 2},
    {"Log", ImportUnary, 1, 1},
    {"LogSoftmax", ImportSoftmax, 1, 1},
    {"LpNormalization", ImportLpNormalization, 1, 1},
    {"MatMul", ImportMatMul, 2, 2},
    {"MatMulInteger", ImportInteger, 2, 4},
    {"Max", ImportVariadic, 1, kAnyCount},
    {"MaxPool", ImportMaxPool, 1, 1},
    {"Mean", ImportMean, 1, kAnyCount},
    {"Min", ImportVariadic, 1, kAnyCount},
    {"Mish", ImportUnary, 1, 1},
    {"Mod", ImportMod, 2, 2},
    {"Mul", ImportBinary, 2, 2},
    {"Neg", ImportUnary, 1, 1},
    {"NonMaxSuppression", ImportNonMaxSuppression, 2, 5},
    {"NonZero", ImportNonZero, 1, 1},
    {"Not", ImportUnary, 1, 1},
    {"Or", ImportCompare, 2, 2},
    {"PRelu", ImportPRelu, 2, 2},
    {"Pad", ImportPad, 1, 4},
    {"Pow", ImportBinary, 2, 2},
    {"QLinearConv", ImportQLinearConv, 8, 9},
    {"QLinearMatMul", ImportQLinear, 8, 8},
    {"QuantizeLinear", ImportQuantizeLinear, 2, 3},
    {"Range", ImportRange, 3, 3},
    {"Reciprocal", ImportUnary, 1, 1},
    {"ReduceL1", ImportReduce, 1, 2},
    {"ReduceL2", ImportReduce, 1, 2},
    {"ReduceLogSum", ImportReduce, 1, 2},
    {"ReduceLogSumExp", ImportReduce, 1, 2},
    {"ReduceMax", ImportReduce, 1, 2},
    {"ReduceMean", ImportReduce, 1, 2},
    {"ReduceMin", ImportReduce, 1, 2},
    {"ReduceProd", ImportReduce, 1, 2},
    {"ReduceSum", ImportReduce, 1, 2},
    {"ReduceSumSquare", ImportReduce, 1, 2},
    {"Relu", ImportUnary, 1, 1},
    {"Reshape", ImportReshape, 2, 2},
    {"Resize", ImportResize, 1, 4},
    {"Round", ImportUnary, 1, 1},
    {"Scatter", ImportScatter, 3, 3},
    {"ScatterElements", ImportScatter, 3, 3},
    {"ScatterND", ImportScatter, 3, 3},
    {"Selu", ImportSelu, 1, 1},
    {"Shape", ImportShape, 1, 1},
    {"Sigmoid", ImportUnary, 1, 1},
    {"Sign", ImportUnary, 1, 1},
    {"SimplifiedLayerNormalization", ImportSimplifiedLayerNormalization, 2, 2},
    {"Sin", ImportUnary, 1, 1},
    {"Size", ImportSize, 1, 1},
    {"Slice", ImportSlice, 1, 5},
    {"Softmax", ImportSoftmax, 1, 1},
    {"Softplus", ImportUnary, 1, 1},
    {"Softsign", ImportUnary, 1, 1},
    {"SpaceToDepth", ImportSpaceToDepth, 1, 1},
    {"Split", ImportSplit, 1, 2},
    {"Sqrt", ImportUnary, 1, 1},
    {"Squeeze", ImportSqueeze, 1, 2},
    {"Sub", ImportBinary, 2, 2},
    {"Sum", ImportVariadic, 1, kAnyCount},
    {"Tan", ImportUnary, 1, 1},
    {"Tanh", ImportUnary, 1, 1},
    {"ThresholdedRelu", ImportThresholdedRelu, 1, 1},
    {"Tile", ImportTile, 2, 2},
    {"TopK", ImportTopK, 1, 2},
    {"Transpose", ImportTranspose, 1, 1},
    {"Unsqueeze", ImportUnsqueeze, 1, 2},
    {"Upsample", ImportUpsample, 1, 2},
    {"Where", ImportWhere, 3, 3},
    {"Xor", ImportCompare, 2, 2},
    {"com.microsoft.BiasGelu", ImportBiasGelu, 2, 2},
    {"com.microsoft.DequantizeLinear", ImportDequantizeLinear, 2, 3},
    {"com.microsoft.FastGelu", ImportFastGelu, 1, 2},
    {"com.microsoft.FusedMatMul", ImportFusedMatMul, 2, 2},
    {"com.microsoft.Gelu", ImportGelu, 1, 1},
    {"com.microsoft.QGemm", ImportQGemm, 6, 9},
    {"com.microsoft.QLinearAdd", ImportQLinear, 7, 8},
    {"com.microsoft.QLinearAveragePool", ImportQLinear, 4, 5},
    {"com.microsoft.QLinearConcat", ImportQLinearConcat, 5, kAnyCount},
    {"com.microsoft.QLinearGlobalAveragePool", ImportQLinear, 4, 5},
    {"com.microsoft.QLinearLeakyRelu", ImportQLinear, 4, 5},
    {"com.microsoft.QLinearMul", ImportQLinear, 7, 8},
    {"com.microsoft.QLinearSigmoid", ImportQLinear, 4, 5},
    {"com.microsoft.QLinearSoftmax", ImportQLinearSoftmax, 5, 5},
    {"com.microsoft.QuantizeLinear", ImportQuantizeLinear, 2, 3},
    {"com.microsoft.QuickGelu", ImportQuickGelu, 1, 1},
    {"com.microsoft.SkipLayerNormalization", ImportSkipLayerNormalization, 3, 5},
    {"com.microsoft.SkipSimplifiedLayerNormalization", ImportSkipSimplifiedLayerNormalization, 3, 4},
};

constexpr bool IsSorted() {
  for (size_t i = 1; i < std::size(kTable); ++i) {
    if (!(std::string_view(kTable[i - 1].op) < std::string_view(kTable[i].op))) return false;
  }
  return true;
}
static_assert(IsSorted());

}  // namespace

const OperatorRow* FindImporter(const OnnxNode& node) {
  const std::string op = node.domain.empty() ? node.op : node.domain + "." + node.op;
  const auto* row =
      std::lower_bound(std::begin(kTable), std::end(kTable), op,
                       [](const OperatorRow& left, std::string_view name) { return std::string_view(left.op) < name; });
  if (row != std::end(kTable) && row->op == op) return row;
  // Its counts are those that the library says, and the importer checks them.
  static constexpr OperatorRow kCustom = {"", ImportCustom, 0, kAnyCount};
  return !node.domain.empty() && extension::FindOperator(op) != nullptr ? &kCustom : nullptr;
}

}  // namespace npustream::compiler
