#pragma once

#include <memory>

#include <gst/gst.h>
#include <gst/video/video.h>

#include "elements/memory/device_block.h"
#include "elements/memory/device_picture.h"

// The caps feature of buffers whose picture is in device memory.
#define NPUSTREAM_CAPS_FEATURE_MEMORY "memory:NPU"

G_BEGIN_DECLS
#define GST_TYPE_NPU_ALLOCATOR (gst_npu_allocator_get_type())
G_DECLARE_FINAL_TYPE(GstNpuAllocator, gst_npu_allocator, GST, NPU_ALLOCATOR, GstAllocator)
G_END_DECLS

namespace npustream::elements {

// An allocator of memory on `device`. gst_memory_map of what it allocates is refused.
GstAllocator* NewNpuAllocator(std::shared_ptr<const NpuDevice> device);

// A GstMemory over a block; shared, because model inputs and copies of the memory may hold it too.
GstMemory* WrapDeviceBlock(std::shared_ptr<DeviceBlock> block);

// The block behind a memory of ours, or null for any other memory.
std::shared_ptr<DeviceBlock> DeviceBlockOf(GstMemory* memory);
bool IsNpuMemory(GstMemory* memory);

// A buffer that holds a picture: one memory, a GstVideoMeta with DVPP's strides.
GstBuffer* WrapDevicePicture(std::shared_ptr<DeviceBlock> block, const DevicePicture& picture);

// The picture of a buffer in memory:NPU whose caps are `info`. kInvalidArgument when the memory is not ours or the
// format is neither NV12, RGB nor BGR.
Result<DevicePicture> DevicePictureOf(GstBuffer* buffer, const GstVideoInfo& info);

// DVPP's name of a video format; PIXEL_FORMAT_UNKNOWN for what the device does not do.
acldvppPixelFormat PixelFormatOf(GstVideoFormat format);
GstVideoFormat VideoFormatOf(acldvppPixelFormat format);

}  // namespace npustream::elements
