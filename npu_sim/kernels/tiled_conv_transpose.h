#pragma once

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/conv_shape.h"

// Transposed convolutions on the tiles of ordinary ones: the results that lie a stride apart are a convolution of the
// source with every stride-th weight.
namespace npustream::kernels {

bool CanTileConvTranspose(const ConvShape& shape, const Problem& problem);
Result<Choice> ChooseTiledConvTranspose(const ConvShape& shape, const Problem& problem);
Result<std::unique_ptr<Executor>> PrepareTiledConvTranspose(const ConvShape& shape, const Activation& activation,
                                                            const Problem& problem);

}  // namespace npustream::kernels
