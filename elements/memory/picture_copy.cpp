#include "elements/memory/picture_copy.h"

#include <cstring>

#include <acl/acl.h>

#include "runtime/serving/acl_status.h"

namespace npustream::elements {
namespace {

// One plane of a picture: where it begins behind the device picture's start, and what of it is picture.
struct PlaneLayout {
  size_t offset = 0;
  size_t stride = 0;
  size_t row_bytes = 0;
  size_t rows = 0;
};

int PlaneCount(const DevicePicture& picture) { return picture.format == PIXEL_FORMAT_YUV_SEMIPLANAR_420 ? 2 : 1; }

PlaneLayout LayoutOf(const DevicePicture& picture, int plane) {
  if (PlaneCount(picture) == 1) return {0, picture.width_stride, size_t{picture.width} * 3, picture.height};
  if (plane == 0) return {0, picture.width_stride, picture.width, picture.height};
  const size_t luma_bytes = size_t{picture.width_stride} * picture.height_stride;
  return {luma_bytes, picture.width_stride, (size_t{picture.width} + 1) / 2 * 2, (size_t{picture.height} + 1) / 2};
}

void CopyRows(const std::byte* from, size_t from_stride, std::byte* to, size_t to_stride, const PlaneLayout& layout) {
  for (size_t row = 0; row < layout.rows; ++row) {
    std::memcpy(to + row * to_stride, from + row * from_stride, layout.row_bytes);
  }
}

// Both lie in memory alike, so that one transfer does without staging.
bool SameLayout(const HostPicture& host, const DevicePicture& device) {
  for (int plane = 0; plane < PlaneCount(device); ++plane) {
    const PlaneLayout layout = LayoutOf(device, plane);
    if (host.strides[plane] != layout.stride || host.planes[plane] != host.planes[0] + layout.offset) return false;
  }
  const PlaneLayout last = LayoutOf(device, PlaneCount(device) - 1);
  return last.offset + last.stride * last.rows == device.bytes;
}

}  // namespace

Status UploadPicture(const HostPicture& from, const DevicePicture& to, std::vector<std::byte>& staging) {
  const std::byte* source = from.planes[0];
  if (!SameLayout(from, to)) {
    staging.resize(to.bytes);
    for (int plane = 0; plane < PlaneCount(to); ++plane) {
      const PlaneLayout layout = LayoutOf(to, plane);
      CopyRows(from.planes[plane], from.strides[plane], staging.data() + layout.offset, layout.stride, layout);
    }
    source = staging.data();
  }
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtMemcpy(to.data, to.bytes, source, to.bytes, ACL_MEMCPY_HOST_TO_DEVICE),
                                "copying a frame to the device");
  return Status();
}

Status DownloadPicture(const DevicePicture& from, const HostPicture& to, std::vector<std::byte>& staging) {
  const bool direct = SameLayout(to, from);
  if (!direct) staging.resize(from.bytes);
  std::byte* destination = direct ? to.planes[0] : staging.data();
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtMemcpy(destination, from.bytes, from.data, from.bytes, ACL_MEMCPY_DEVICE_TO_HOST),
                                "copying a frame from the device");
  if (direct) return Status();
  for (int plane = 0; plane < PlaneCount(from); ++plane) {
    const PlaneLayout layout = LayoutOf(from, plane);
    CopyRows(staging.data() + layout.offset, layout.stride, to.planes[plane], to.strides[plane], layout);
  }
  return Status();
}

}  // namespace npustream::elements
