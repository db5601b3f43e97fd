#include "dvpp/api/picture_access.h"

namespace npustream::dvpp {
namespace {

constexpr uint32_t kLeastSize = 2;
constexpr uint32_t kLargestSize = 8192;
// In bytes: four of each pixel, and alignment.
constexpr uint32_t kLargestStride = 4 * kLargestSize + 64;

aclError CheckStrides(const char* function, const acldvppPicDesc& picture) {
  const bool planes = LayoutOf(picture.format).planes == 2;
  const auto least = static_cast<uint32_t>(LeastStride(picture.format, static_cast<int>(picture.width)));
  if (picture.width_stride < least || picture.width_stride > kLargestStride ||
      picture.height_stride < picture.height || picture.height_stride > 2 * kLargestSize) {
    return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: strides {}x{} do not fit a picture of {}x{}", function,
                     picture.width_stride, picture.height_stride, picture.width, picture.height);
  }
  if (planes && (picture.width_stride % 16 != 0 || picture.height_stride % 2 != 0)) {
    return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: strides {}x{} are not multiples of 16 and 2", function,
                     picture.width_stride, picture.height_stride);
  }
  return ACL_SUCCESS;
}

}  // namespace

aclError CheckChannel(const char* function, const acldvppChannelDesc* channel) {
  if (channel == nullptr || !channel->created) {
    return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: there is no such channel", function);
  }
  return ACL_SUCCESS;
}

aclError ViewPicture(const char* function, const acldvppPicDesc* picture, PictureView* view) {
  if (picture == nullptr || picture->data == nullptr) {
    return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: a picture or its data is null", function);
  }
  if (LayoutOf(picture->format).planes == 0) {
    return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the pixel format {} is not supported", function, +picture->format);
  }
  if (picture->width < kLeastSize || picture->height < kLeastSize || picture->width > kLargestSize ||
      picture->height > kLargestSize) {
    return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: a picture of {}x{} is not between {} and {}", function,
                     picture->width, picture->height, kLeastSize, kLargestSize);
  }
  if (const aclError error = CheckStrides(function, *picture); error != ACL_SUCCESS) return error;
  const size_t bytes = PictureBytes(picture->format, static_cast<int>(picture->width_stride),
                                    static_cast<int>(picture->height_stride));
  if (picture->size < bytes) {
    return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: a picture of {} bytes is described with {}", function, bytes,
                     picture->size);
  }
  acl::MemorySpan span;
  if (const aclError error = acl::LookUpDevice("picture", picture->data, bytes, &span); error != ACL_SUCCESS) {
    return error;
  }
  *view = {reinterpret_cast<uint8_t*>(span.host), static_cast<int>(picture->width), static_cast<int>(picture->height),
           static_cast<int>(picture->width_stride), static_cast<int>(picture->height_stride), picture->format};
  return ACL_SUCCESS;
}

}  // namespace npustream::dvpp
