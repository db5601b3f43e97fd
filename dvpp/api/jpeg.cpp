#include <algorithm>
#include <string_view>

#include "dvpp/api/descriptions.h"
#include "dvpp/api/picture_access.h"
#include "dvpp/jpegd/jpeg_decode.h"

using npustream::Result;
using npustream::Status;
using npustream::StatusCode;
using npustream::acl::Fail;
using namespace npustream::dvpp;  // NOLINT: the file holds nothing but C functions

namespace {

struct Strides {
  int width_stride = 0;
  int height_stride = 0;
};

int AlignUp(int value, int alignment) { return (value + alignment - 1) / alignment * alignment; }

// Widths are rounded up to 128 by the 310 and the 910A, to 64 by their successors, heights to 16.
int WidthAlignment(std::string_view soc) { return soc == "Ascend310" || soc.starts_with("Ascend910A") ? 128 : 64; }

Strides DecodedStrides(const JpegHeader &header, acldvppPixelFormat format, int width_alignment) {
  return {LeastStride(format, AlignUp(header.width, width_alignment)), AlignUp(header.height, 16)};
}

Result<JpegHeader> HeaderOf(const void *data, uint32_t size) {
  return ReadJpegHeader({static_cast<const uint8_t *>(data), size});
}

aclError FailHeader(const char *function, const Status &status) {
  return Fail(ACL_ERROR_INVALID_PARAM, "{}: {}", function, status.message());
}

// Work of a stream: decodes `data` into `target` and describes the result in `output`.
Status Decode(std::span<const uint8_t> data, std::span<uint8_t> target, int width_alignment, acldvppPicDesc &output) {
  NPUSTREAM_ASSIGN_OR_RETURN(const JpegHeader header, ReadJpegHeader(data));
  PictureView view{target.data(), header.width, header.height, static_cast<int>(output.width_stride),
                   static_cast<int>(output.height_stride), output.format};
  if (view.format == PIXEL_FORMAT_UNKNOWN) view.format = NativeFormat(header.format);
  if (LayoutOf(view.format).planes == 0) return Status(StatusCode::kUnsupported, "no format keeps this JPEG's chroma");
  const Strides strides = DecodedStrides(header, view.format, width_alignment);
  if (view.stride < LeastStride(view.format, header.width)) view.stride = strides.width_stride;
  if (view.height_stride < header.height) view.height_stride = strides.height_stride;
  const size_t bytes = PictureBytes(view.format, view.stride, view.height_stride);
  if (bytes > target.size()) return Status(StatusCode::kInvalidArgument, "the output is smaller than the picture");
  NPUSTREAM_RETURN_IF_ERROR(DecodeJpeg(data, view));
  output.format = view.format;
  output.width = static_cast<uint32_t>(view.width);
  output.height = static_cast<uint32_t>(view.height);
  output.width_stride = static_cast<uint32_t>(view.stride);
  output.height_stride = static_cast<uint32_t>(view.height_stride);
  return {};
}

}  // namespace

aclError acldvppJpegGetImageInfo(const void *data, uint32_t size, uint32_t *width, uint32_t *height,
                                 int32_t *components) {
  return acldvppJpegGetImageInfoV2(data, size, width, height, components, nullptr);
}

aclError acldvppJpegGetImageInfoV2(const void *data, uint32_t size, uint32_t *width, uint32_t *height,
                                   int32_t *components, acldvppJpegFormat *format) {
  if (data == nullptr || size == 0) return Fail(ACL_ERROR_INVALID_PARAM, "{}: there are no data", __func__);
  const Result<JpegHeader> header = HeaderOf(data, size);
  if (!header.ok()) return FailHeader(__func__, header.status());
  if (width != nullptr) *width = static_cast<uint32_t>(header->width);
  if (height != nullptr) *height = static_cast<uint32_t>(header->height);
  if (components != nullptr) *components = header->components;
  if (format != nullptr) *format = header->format;
  return ACL_SUCCESS;
}

aclError acldvppJpegPredictDecSize(const void *data, uint32_t dataSize, acldvppPixelFormat outputPixelFormat,
                                   uint32_t *decSize) {
  if (data == nullptr || dataSize == 0 || decSize == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: an argument is null", __func__);
  }
  const auto context = npustream::acl::CurrentContext();
  if (context == nullptr) return npustream::acl::NoContext();
  const Result<JpegHeader> header = HeaderOf(data, dataSize);
  if (!header.ok()) return FailHeader(__func__, header.status());
  const acldvppPixelFormat format =
      outputPixelFormat == PIXEL_FORMAT_UNKNOWN ? NativeFormat(header->format) : outputPixelFormat;
  if (!CanDecodeTo(header->format, format)) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: this JPEG is not decoded to format {}", __func__, +outputPixelFormat);
  }
  const Strides strides = DecodedStrides(*header, format, WidthAlignment(context->device().soc().name));
  *decSize = static_cast<uint32_t>(PictureBytes(format, strides.width_stride, strides.height_stride));
  return ACL_SUCCESS;
}

aclError acldvppJpegDecodeAsync(acldvppChannelDesc *channelDesc, const void *data, uint32_t size,
                                acldvppPicDesc *outputDesc, aclrtStream stream) {
  if (const aclError error = CheckChannel(__func__, channelDesc); error != ACL_SUCCESS) return error;
  if (data == nullptr || size == 0 || outputDesc == nullptr || outputDesc->data == nullptr || outputDesc->size == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{}: input or output is null or empty", __func__);
  }
  npustream::acl::MemorySpan input;
  npustream::acl::MemorySpan output;
  aclError error = npustream::acl::LookUpDevice("data", data, size, &input);
  if (error == ACL_SUCCESS) {
    error = npustream::acl::LookUpDevice("outputDesc", outputDesc->data, outputDesc->size, &output);
  }
  if (error != ACL_SUCCESS) return error;
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(input.host), size);
  const std::span<uint8_t> target(reinterpret_cast<uint8_t *>(output.host), outputDesc->size);
  const int alignment = WidthAlignment(output.device->soc().name);
  // The data may still be on their way in this stream, so that nothing is read before the task runs.
  return SubmitMedia(stream, [bytes, target, alignment, outputDesc] {
    const Status status = Decode(bytes, target, alignment, *outputDesc);
    outputDesc->ret_code = status.ok() ? 0 : 1;
    return status;
  });
}
