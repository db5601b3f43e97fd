#include "dvpp/vpc/border.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace npustream::dvpp {
namespace {

// Which of `size` samples stands at `position`, which may lie outside; −1: the constant.
int SourcePosition(acldvppBorderType type, int position, int size) {
  if (position >= 0 && position < size) return position;
  switch (type) {
    case BORDER_REPLICATE: return std::clamp(position, 0, size - 1);
    case BORDER_REFLECT: return position < 0 ? -1 - position : 2 * size - 1 - position;
    case BORDER_REFLECT_101: return position < 0 ? -position : 2 * size - 2 - position;
    default: return -1;
  }
}

void FillRow(uint8_t* row, int positions, const uint8_t* value, int channels) {
  for (int i = 0; i < positions; ++i) std::memcpy(row + i * channels, value, channels);
}

void BorderPlane(const PlaneView& source, const PlaneView& target, const Border& border, int left, int top,
                 const uint8_t* value) {
  std::vector<int> columns(target.width);
  for (int x = 0; x < target.width; ++x) columns[x] = SourcePosition(border.type, x - left, source.width);
  for (int y = 0; y < target.height; ++y) {
    uint8_t* into = target.data + y * target.stride;
    const int from_row = SourcePosition(border.type, y - top, source.height);
    if (from_row < 0) {
      FillRow(into, target.width, value, source.channels);
      continue;
    }
    const uint8_t* from = source.data + from_row * source.stride;
    std::memcpy(into + left * source.channels, from, static_cast<size_t>(source.width) * source.channels);
    for (int x = 0; x < target.width; ++x) {
      if (x == left) x += source.width;  // already there
      if (x >= target.width) break;
      const uint8_t* sample = columns[x] < 0 ? value : from + columns[x] * source.channels;
      std::memcpy(into + x * source.channels, sample, source.channels);
    }
  }
}

Status Check(const PictureView& source, const Border& border, const PictureView& target, const FormatLayout& layout) {
  if (layout.planes == 0) return Status(StatusCode::kUnsupported, "this pixel format cannot be given a border");
  if (source.format != target.format) {
    return Status(StatusCode::kInvalidArgument, "input and output differ in pixel format");
  }
  if (border.left < 0 || border.right < 0 || border.top < 0 || border.bottom < 0 ||
      target.width != source.width + border.left + border.right ||
      target.height != source.height + border.top + border.bottom) {
    return Status(StatusCode::kInvalidArgument, "the output's size is not the input's plus the border's");
  }
  const int odd_x = source.width | border.left | border.right;
  const int odd_y = source.height | border.top | border.bottom;
  if ((odd_x & layout.chroma_shift_x) != 0 || (odd_y & layout.chroma_shift_y) != 0) {
    return Status(StatusCode::kInvalidArgument, "sizes and borders must be even where chroma is subsampled");
  }
  if (border.type == BORDER_REFLECT || border.type == BORDER_REFLECT_101) {
    // Chroma has 1/2 of the samples, so that its reflection reaches only as far as luma's.
    const int spare = border.type == BORDER_REFLECT_101 ? 2 : 0;
    if (std::max(border.left, border.right) > source.width - spare ||
        std::max(border.top, border.bottom) > source.height - spare) {
      return Status(StatusCode::kInvalidArgument, "a reflected border is wider than the picture");
    }
  }
  return {};
}

}  // namespace

Status MakeBorder(const PictureView& source, const Border& border, const PictureView& target) {
  const FormatLayout layout = LayoutOf(source.format);
  NPUSTREAM_RETURN_IF_ERROR(Check(source, border, target, layout));
  for (int plane = 0; plane < layout.planes; ++plane) {
    const int shift_x = plane == 0 ? 0 : layout.chroma_shift_x;
    const int shift_y = plane == 0 ? 0 : layout.chroma_shift_y;
    std::array<uint8_t, 4> value{border.value[0], border.value[1], border.value[2], 255};
    if (plane == 1) value = {border.value[1], border.value[2], 0, 0};
    BorderPlane(source.Plane(plane), target.Plane(plane), border, border.left >> shift_x, border.top >> shift_y,
                value.data());
  }
  return {};
}

}  // namespace npustream::dvpp
