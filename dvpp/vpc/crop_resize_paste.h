#pragma once

#include "base/status.h"
#include "dvpp/cpu/simd.h"
#include "dvpp/picture/picture.h"

namespace npustream::dvpp {

enum class Interpolation { kBilinear, kNearest };

// Resizes the rectangle `crop` of `source` into the rectangle `paste` of `target` in one pass, leaving the rest of the
// target as it is. Both pictures have one format and share no memory. Centres of pixels map to centres (OpenCV's
// INTER_LINEAR); the chroma of subsampled formats follows luma's geometry exactly, also for odd crops. A bilinear
// result is within one level of exact arithmetic. Every path gives the same bits.
// kInvalidArgument: a rectangle is empty or reaches beyond its picture, `paste` begins at an odd position where chroma
// is subsampled, formats differ. kUnsupported: a format without layout.
Status CropResizePaste(const PictureView& source, const Rectangle& crop, const PictureView& target,
                       const Rectangle& paste, Interpolation interpolation = Interpolation::kBilinear,
                       Simd simd = BestSimd());

}  // namespace npustream::dvpp
