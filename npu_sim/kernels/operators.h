#pragma once

#include "npu_sim/kernels/kernel.h"

// The kernels, each defined in the file of its name. table.cpp maps operators to them.
namespace npustream::kernels {

const Kernel* AippKernel();
const Kernel* ArgMaxKernel();
const Kernel* AttentionKernel();
const Kernel* BatchNormKernel();
const Kernel* BinaryKernel();
const Kernel* ByteBinaryKernel();
const Kernel* ByteMatMulKernel();
const Kernel* CastKernel();
const Kernel* ConcatKernel();
const Kernel* ConvKernel();
const Kernel* ConvTransposeKernel();
const Kernel* CumSumKernel();
const Kernel* CustomKernel();
const Kernel* GatherKernel();
const Kernel* GatherElementsKernel();
const Kernel* GatherNdKernel();
const Kernel* GridSampleKernel();
const Kernel* LayerNormKernel();
const Kernel* LookupKernel();
const Kernel* MatMulKernel();
const Kernel* MaxPoolIndicesKernel();
const Kernel* MoveKernel();
const Kernel* NonMaxSuppressionKernel();
const Kernel* PadKernel();
const Kernel* PlanesKernel();
const Kernel* PoolKernel();
const Kernel* QuantizeKernel();
const Kernel* RecurrentKernel();
const Kernel* ReduceKernel();
const Kernel* ReorderKernel();
const Kernel* ResizeKernel();
const Kernel* RoiAlignKernel();
const Kernel* RoundToKernel();
const Kernel* ScatterKernel();
const Kernel* SoftmaxKernel();
const Kernel* TopKKernel();
const Kernel* UnaryKernel();
const Kernel* WhereKernel();

}  // namespace npustream::kernels
