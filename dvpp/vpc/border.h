#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"
#include "dvpp/picture/picture.h"

namespace npustream::dvpp {

struct Border {
  acldvppBorderType type = BORDER_CONSTANT;
  int left = 0, right = 0, top = 0, bottom = 0;  // pixels
  std::array<uint8_t, 3> value{0, 0, 0};         // of a constant border: Y, U, V or the format's first three channels
};

// Copies `source` into `target` with the border around it; no memory is shared. BORDER_REFLECT repeats the edge pixel
// (cba|abc), BORDER_REFLECT_101 does not (dcb|abcd). kInvalidArgument: the target's size is not the source's plus the
// border's, formats differ, widths are odd where chroma is subsampled, or a reflection is wider than the picture.
Status MakeBorder(const PictureView& source, const Border& border, const PictureView& target);

}  // namespace npustream::dvpp
