#pragma once

#include "base/status.h"
#include "npu_sim/compiler/onnx/import_context.h"

namespace npustream::compiler {

// One function per operator (or per family that differs by name alone); operator_table.cpp says which serves which.

// import_conv.cpp
Status ImportConv(ImportContext& context);
Status ImportConvTranspose(ImportContext& context);
// import_pool.cpp
Status ImportAveragePool(ImportContext& context);
Status ImportGlobalAveragePool(ImportContext& context);
Status ImportGlobalMaxPool(ImportContext& context);
Status ImportGlobalLpPool(ImportContext& context);
Status ImportLpPool(ImportContext& context);
Status ImportMaxPool(ImportContext& context);
Status ImportMaxUnpool(ImportContext& context);
// import_unary.cpp
Status ImportCelu(ImportContext& context);
Status ImportClip(ImportContext& context);
Status ImportHardSigmoid(ImportContext& context);
Status ImportUnary(ImportContext& context);           // the result is like the input, no attributes
Status ImportUnaryWithAlpha(ImportContext& context);  // LeakyRelu, Elu: alpha with the operator's default
Status ImportGelu(ImportContext& context);
Status ImportIsInf(ImportContext& context);
Status ImportIsNan(ImportContext& context);
Status ImportSelu(ImportContext& context);
Status ImportShrink(ImportContext& context);
Status ImportThresholdedRelu(ImportContext& context);
// import_binary.cpp
Status ImportBinary(ImportContext& context);
Status ImportBitShift(ImportContext& context);
Status ImportCompare(ImportContext& context);
Status ImportMean(ImportContext& context);
Status ImportMod(ImportContext& context);
Status ImportPRelu(ImportContext& context);
Status ImportVariadic(ImportContext& context);  // Sum, Max, Min of any number
Status ImportWhere(ImportContext& context);
// import_einsum.cpp
Status ImportEinsum(ImportContext& context);
// import_matmul.cpp
Status ImportGemm(ImportContext& context);
Status ImportMatMul(ImportContext& context);
// import_normalize.cpp
Status ImportBatchNormalization(ImportContext& context);
Status ImportGroupNormalization(ImportContext& context);
Status ImportInstanceNormalization(ImportContext& context);
Status ImportLayerNormalization(ImportContext& context);
Status ImportLpNormalization(ImportContext& context);
Status ImportLrn(ImportContext& context);
Status ImportMeanVarianceNormalization(ImportContext& context);
Status ImportRmsNormalization(ImportContext& context);
Status ImportSoftmax(ImportContext& context);
// import_reshape.cpp
Status ImportDropout(ImportContext& context);
Status ImportExpand(ImportContext& context);
Status ImportFlatten(ImportContext& context);
Status ImportIdentity(ImportContext& context);
Status ImportReshape(ImportContext& context);
Status ImportSqueeze(ImportContext& context);
Status ImportTile(ImportContext& context);
Status ImportUnsqueeze(ImportContext& context);
// import_transpose.cpp
Status ImportCustom(ImportContext& context);
Status ImportDepthToSpace(ImportContext& context);
Status ImportSpaceToDepth(ImportContext& context);
Status ImportTranspose(ImportContext& context);
// import_concat.cpp
Status ImportConcat(ImportContext& context);
Status ImportSplit(ImportContext& context);
// import_slice.cpp
Status ImportPad(ImportContext& context);
Status ImportSlice(ImportContext& context);
// import_gather.cpp
Status ImportCompress(ImportContext& context);
Status ImportGather(ImportContext& context);
Status ImportGatherElements(ImportContext& context);
Status ImportGatherNd(ImportContext& context);
Status ImportReverseSequence(ImportContext& context);
Status ImportScatter(ImportContext& context);
// import_mask.cpp
Status ImportHardmax(ImportContext& context);
Status ImportOneHot(ImportContext& context);
Status ImportTrilu(ImportContext& context);
// import_select.cpp
Status ImportGridSample(ImportContext& context);
Status ImportNonMaxSuppression(ImportContext& context);
Status ImportRoiAlign(ImportContext& context);
Status ImportTopK(ImportContext& context);
// import_constant.cpp
Status ImportConstant(ImportContext& context);
Status ImportConstantOfShape(ImportContext& context);
Status ImportEyeLike(ImportContext& context);
Status ImportNonZero(ImportContext& context);
Status ImportRange(ImportContext& context);
Status ImportShape(ImportContext& context);
Status ImportSize(ImportContext& context);
// import_control.cpp
Status ImportIf(ImportContext& context);
// import_loop.cpp
Status ImportLoop(ImportContext& context);
Status ImportScan(ImportContext& context);
// import_cast.cpp
Status ImportCast(ImportContext& context);
Status ImportCastLike(ImportContext& context);
// import_resize.cpp
Status ImportResize(ImportContext& context);
Status ImportUpsample(ImportContext& context);
// import_recurrent.cpp
Status ImportRecurrent(ImportContext& context);  // LSTM, GRU, RNN
// import_reduce.cpp
Status ImportArgExtreme(ImportContext& context);
Status ImportCumSum(ImportContext& context);
Status ImportReduce(ImportContext& context);

// import_fused.cpp
Status ImportBiasGelu(ImportContext& context);
Status ImportFastGelu(ImportContext& context);
Status ImportFusedMatMul(ImportContext& context);
Status ImportQuickGelu(ImportContext& context);
Status ImportSkipLayerNormalization(ImportContext& context);
Status ImportSkipSimplifiedLayerNormalization(ImportContext& context);
// import_qlinear.cpp
Status ImportDynamicQuantizeLinear(ImportContext& context);
Status ImportInteger(ImportContext& context);
Status ImportQGemm(ImportContext& context);
Status ImportQLinear(ImportContext& context);
Status ImportQLinearConcat(ImportContext& context);
Status ImportQLinearConv(ImportContext& context);
Status ImportQLinearSoftmax(ImportContext& context);
// import_quantize.cpp
Status ImportDequantizeLinear(ImportContext& context);
Status ImportQuantizeLinear(ImportContext& context);

}  // namespace npustream::compiler
