#include "dvpp/picture/copy.h"

#include <cstring>

namespace npustream::dvpp {

void CopyPicture(const PictureView& from, const PictureView& into) {
  for (int p = 0; p < LayoutOf(from.format).planes; ++p) {
    const PlaneView source = from.Plane(p);
    const PlaneView target = into.Plane(p);
    for (int y = 0; y < source.height; ++y) {
      std::memcpy(target.data + y * target.stride, source.data + y * source.stride,
                  static_cast<size_t>(source.width) * source.channels);
    }
  }
}

}  // namespace npustream::dvpp
