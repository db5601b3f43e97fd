#pragma once

#include "npu_sim/compiler/onnx/import_shapes.h"

namespace npustream::compiler {

// Appends the Conv or ConvTranspose `op` of a volume (inputs x, w, [bias] of the context), which has three spatial
// axes, as output 0. `window.output` are the result's spatial dims. Composed of convolutions of pictures, which have
// kernels: a slice of the result is the convolution of those slices of the source that its window covers, one after
// another as channels.
Status OutputVolumeConv(ImportContext& context, const char* op, const Window& window, int64_t group, int64_t channels);

}  // namespace npustream::compiler
