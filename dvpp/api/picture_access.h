#pragma once

#include <utility>

#include "dvpp/api/descriptions.h"
#include "dvpp/picture/picture.h"
#include "runtime/acl/internal.h"

namespace npustream::dvpp {

// ACL_SUCCESS for a description whose channel has been created.
aclError CheckChannel(const char* function, const acldvppChannelDesc* channel);

// The host's view of a described picture. ACL_ERROR_INVALID_PARAM: a null, a format without layout, a size below 2 × 2
// or above 8192 × 8192, strides that are smaller than the picture or, for semi-planar formats, not multiples of 16 and
// 2, a size in bytes below what the strides need. Memory which is not the device's has the codes of LookUpDevice.
aclError ViewPicture(const char* function, const acldvppPicDesc* picture, PictureView* view);

// Appends `work` to the stream's tasks for the media engine.
template <typename Work>
aclError SubmitMedia(aclrtStream handle, Work work) {
  std::shared_ptr<acl::StreamObject> stream;
  const aclError error = acl::FindStream(handle, &stream);
  if (error != ACL_SUCCESS) return error;
  const Status status = stream->stream->Submit(device::Engine::kMedia, std::move(work));
  return status.ok() ? ACL_SUCCESS : acl::Fail(status, acl::Area::kRuntime);
}

}  // namespace npustream::dvpp
