#include "dvpp/vpc/crop_resize_paste.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "dvpp/vpc/bilinear_axis.h"
#include "dvpp/vpc/resize_kernels.h"

namespace npustream::dvpp {
namespace {

bool Inside(const Rectangle& area, const PictureView& picture) {
  return area.left >= 0 && area.top >= 0 && area.width > 0 && area.height > 0 &&
         area.left <= picture.width - area.width && area.top <= picture.height - area.height;
}

// One axis of one plane: `crop` pixels of luma from `begin` become `paste` pixels.
struct AxisGeometry {
  int begin = 0;
  int crop = 0;
  int paste = 0;
  int shift = 0;  // log2 of the plane's subsampling

  int first() const { return begin >> shift; }
  int last() const { return (begin + crop - 1) >> shift; }
  int count() const { return (paste + shift) >> shift; }
  bool copies() const { return crop == paste && (begin & shift) == 0; }
  AxisTable Table(Interpolation interpolation) const {
    const double start = static_cast<double>(begin) / (1 << shift);
    const double step = static_cast<double>(crop) / paste;
    return interpolation == Interpolation::kBilinear ? MakeBilinearAxis(first(), last(), start, step, count())
                                                     : MakeNearestAxis(first(), last(), start, step, count());
  }
};

void CopyRows(const PlaneView& source, const PlaneView& target, const AxisGeometry& x, const AxisGeometry& y) {
  const uint8_t* from = source.data + y.first() * source.stride + x.first() * source.channels;
  for (int row = 0; row < y.count(); ++row) {
    std::memcpy(target.data + row * target.stride, from + row * source.stride,
                static_cast<size_t>(x.count()) * source.channels);
  }
}

// Weights of 14 bits in pairs, and indices from the first sample that is used.
std::vector<uint32_t> PairWeights(AxisTable& axis, int first) {
  std::vector<uint32_t> weights;
  weights.reserve(axis.weight.size());
  for (const uint16_t weight : axis.weight) {
    const uint32_t second = (weight + 1u) >> 1;
    weights.push_back((16384 - second) | second << 16);
  }
  for (int32_t& index : axis.index) index -= first;
  return weights;
}

// `target` begins at the pasted rectangle's first sample.
void ResizePlane(const PlaneView& source, const PlaneView& target, const AxisGeometry& x, const AxisGeometry& y,
                 Interpolation interpolation, const ResizeKernels& kernels) {
  if (x.copies() && y.copies()) return CopyRows(source, target, x, y);
  const AxisTable rows = y.Table(interpolation);
  AxisTable columns = x.Table(interpolation);
  const int first = columns.index.front();
  const int samples = (std::min(columns.index.back() + 1, x.last()) - first + 1) * source.channels;
  const std::vector<uint32_t> weights = PairWeights(columns, first);
  std::vector<int16_t> blended(samples + kRowSlack);
  for (int row = 0; row < y.count(); ++row) {
    const uint8_t* above = source.data + rows.index[row] * source.stride + first * source.channels;
    const uint8_t* below = rows.weight[row] == 0 ? above : above + source.stride;
    kernels.blend_rows(above, below, rows.weight[row], samples, blended.data());
    kernels.sample_row[source.channels - 1](blended.data(), columns.index.data(), weights.data(), x.count(),
                                            target.data + row * target.stride);
  }
}

Status Check(const PictureView& source, const Rectangle& crop, const PictureView& target, const Rectangle& paste) {
  const FormatLayout layout = LayoutOf(source.format);
  if (layout.planes == 0) return Status(StatusCode::kUnsupported, "this pixel format cannot be resized");
  if (source.format != target.format) {
    return Status(StatusCode::kInvalidArgument, "input and output differ in pixel format");
  }
  if (!Inside(crop, source)) return Status(StatusCode::kInvalidArgument, "the crop area reaches beyond the input");
  if (!Inside(paste, target)) return Status(StatusCode::kInvalidArgument, "the paste area reaches beyond the output");
  if ((paste.left & layout.chroma_shift_x) != 0 || (paste.top & layout.chroma_shift_y) != 0) {
    return Status(StatusCode::kInvalidArgument, "the paste area begins inside a chroma sample");
  }
  return {};
}

}  // namespace

Status CropResizePaste(const PictureView& source, const Rectangle& crop, const PictureView& target,
                       const Rectangle& paste, Interpolation interpolation, Simd simd) {
  NPUSTREAM_RETURN_IF_ERROR(Check(source, crop, target, paste));
  const FormatLayout layout = LayoutOf(source.format);
  for (int plane = 0; plane < layout.planes; ++plane) {
    const AxisGeometry x{crop.left, crop.width, paste.width, plane == 0 ? 0 : layout.chroma_shift_x};
    const AxisGeometry y{crop.top, crop.height, paste.height, plane == 0 ? 0 : layout.chroma_shift_y};
    PlaneView into = target.Plane(plane);
    into.data += (paste.top >> y.shift) * into.stride + (paste.left >> x.shift) * into.channels;
    ResizePlane(source.Plane(plane), into, x, y, interpolation, ResizeKernelsFor(simd));
  }
  return {};
}

}  // namespace npustream::dvpp
