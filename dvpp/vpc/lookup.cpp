#include "dvpp/vpc/lookup.h"

#include "dvpp/vpc/lookup_row.h"

namespace npustream::dvpp {

void LookUpRow(const uint8_t* in, uint8_t* out, int count, const LookupTable* const* tables, int channels) {
  for (int i = 0; i < count; i += channels) {
    for (int c = 0; c < channels && i + c < count; ++c) out[i + c] = (*tables[c])[in[i + c]];
  }
}

namespace {

bool ChromaIsReversed(acldvppPixelFormat format) {
  return format == PIXEL_FORMAT_YVU_SEMIPLANAR_420 || format == PIXEL_FORMAT_YVU_SEMIPLANAR_422 ||
         format == PIXEL_FORMAT_YVU_SEMIPLANAR_440 || format == PIXEL_FORMAT_YVU_SEMIPLANAR_444;
}

const LookupTable& Identity() {
  static const LookupTable identity = [] {
    LookupTable table;
    for (int i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i);
    return table;
  }();
  return identity;
}

// The tables in the order in which a plane's samples use them.
std::array<const LookupTable*, 4> TablesOfPlane(const PictureView& picture, int plane, const LookupTables& tables) {
  if (plane == 1) {
    const bool reversed = ChromaIsReversed(picture.format);
    return {&tables[reversed ? 2 : 1], &tables[reversed ? 1 : 2], nullptr, nullptr};
  }
  const bool alpha_first =
      picture.format == PIXEL_FORMAT_ARGB_8888 || picture.format == PIXEL_FORMAT_ABGR_8888;
  if (alpha_first) return {&Identity(), &tables[0], &tables[1], &tables[2]};
  return {&tables[0], &tables[1], &tables[2], &Identity()};
}

}  // namespace

Status LookUp(const PictureView& source, const LookupTables& tables, const PictureView& target, Simd simd) {
  const FormatLayout layout = LayoutOf(source.format);
  if (layout.planes == 0) return Status(StatusCode::kUnsupported, "this pixel format has no look-up");
  if (source.format != target.format || source.width != target.width || source.height != target.height) {
    return Status(StatusCode::kInvalidArgument, "input and output differ in pixel format or size");
  }
  for (int plane = 0; plane < layout.planes; ++plane) {
    const PlaneView from = source.Plane(plane);
    const PlaneView into = target.Plane(plane);
    const std::array<const LookupTable*, 4> order = TablesOfPlane(source, plane, tables);
    const bool wide = simd == Simd::kAvx512 && from.channels <= 2;
    for (int row = 0; row < from.height; ++row) {
      (wide ? LookUpRowAvx512 : LookUpRow)(from.data + row * from.stride, into.data + row * into.stride,
                                           from.width * from.channels, order.data(), from.channels);
    }
  }
  return {};
}

}  // namespace npustream::dvpp
