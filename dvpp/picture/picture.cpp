#include "dvpp/picture/picture.h"

namespace npustream::dvpp {

FormatLayout LayoutOf(acldvppPixelFormat format) {
  switch (static_cast<int>(format)) {
    case PIXEL_FORMAT_YUV_400: return {1, {1, 0}, 0, 0};
    case PIXEL_FORMAT_YUV_SEMIPLANAR_420:
    case PIXEL_FORMAT_YVU_SEMIPLANAR_420: return {2, {1, 2}, 1, 1};
    case PIXEL_FORMAT_YUV_SEMIPLANAR_422:
    case PIXEL_FORMAT_YVU_SEMIPLANAR_422: return {2, {1, 2}, 1, 0};
    case PIXEL_FORMAT_YUV_SEMIPLANAR_440:
    case PIXEL_FORMAT_YVU_SEMIPLANAR_440: return {2, {1, 2}, 0, 1};
    case PIXEL_FORMAT_YUV_SEMIPLANAR_444:
    case PIXEL_FORMAT_YVU_SEMIPLANAR_444: return {2, {1, 2}, 0, 0};
    case PIXEL_FORMAT_YUV_PACKED_444:
    case PIXEL_FORMAT_RGB_888:
    case PIXEL_FORMAT_BGR_888: return {1, {3, 0}, 0, 0};
    case PIXEL_FORMAT_ARGB_8888:
    case PIXEL_FORMAT_ABGR_8888:
    case PIXEL_FORMAT_RGBA_8888:
    case PIXEL_FORMAT_BGRA_8888: return {1, {4, 0}, 0, 0};
    default: return {};
  }
}

PlaneView PictureView::Plane(int index) const {
  const FormatLayout layout = LayoutOf(format);
  if (index == 0) return {data, stride, width, height, layout.channels[0]};
  const int half_x = layout.chroma_shift_x;
  const int half_y = layout.chroma_shift_y;
  return {data + static_cast<ptrdiff_t>(stride) * height_stride, static_cast<ptrdiff_t>(stride) * 2 >> half_x,
          (width + half_x) >> half_x, (height + half_y) >> half_y, layout.channels[1]};
}

int LeastStride(acldvppPixelFormat format, int width) {
  const FormatLayout layout = LayoutOf(format);
  const int luma = width * layout.channels[0];
  return layout.planes == 2 && layout.chroma_shift_x == 1 ? (luma + 1) & ~1 : luma;
}

size_t PictureBytes(acldvppPixelFormat format, int stride, int height_stride) {
  const FormatLayout layout = LayoutOf(format);
  if (layout.planes == 0) return 0;
  size_t bytes = static_cast<size_t>(stride) * height_stride;
  if (layout.planes == 2) {
    const size_t rows = (static_cast<size_t>(height_stride) + layout.chroma_shift_y) >> layout.chroma_shift_y;
    bytes += (static_cast<size_t>(stride) * 2 >> layout.chroma_shift_x) * rows;
  }
  return bytes;
}

}  // namespace npustream::dvpp
