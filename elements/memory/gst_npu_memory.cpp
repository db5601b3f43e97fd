#include "elements/memory/gst_npu_memory.h"

#include <algorithm>

GST_DEBUG_CATEGORY_STATIC(npu_memory_debug);
#define GST_CAT_DEFAULT npu_memory_debug

using npustream::elements::DeviceBlock;
using npustream::elements::NpuDevice;

namespace {

constexpr const char* kMemoryType = "NpuMemory";

struct GstNpuMemory {
  GstMemory memory;
  std::shared_ptr<DeviceBlock> block;
};

}  // namespace

struct _GstNpuAllocator {
  GstAllocator parent;
  std::shared_ptr<const NpuDevice> device;  // null in the allocator that only wraps blocks made elsewhere
};

G_DEFINE_TYPE(GstNpuAllocator, gst_npu_allocator, GST_TYPE_ALLOCATOR)

namespace {

GstMemory* NewMemory(GstAllocator* allocator, GstMemory* parent, std::shared_ptr<DeviceBlock> block, gsize offset,
                     gsize size) {
  auto* memory = static_cast<GstNpuMemory*>(g_malloc0(sizeof(GstNpuMemory)));
  const gsize bytes = block->bytes();
  std::construct_at(&memory->block, std::move(block));
  gst_memory_init(&memory->memory, static_cast<GstMemoryFlags>(0), allocator, parent, bytes, 63, offset, size);
  return &memory->memory;
}

GstMemory* Allocate(GstAllocator* allocator, gsize size, GstAllocationParams*) {
  auto* self = GST_NPU_ALLOCATOR(allocator);
  if (self->device == nullptr || size == 0) return nullptr;
  auto block = DeviceBlock::Allocate(self->device, size);
  if (!block.ok()) {
    GST_ERROR_OBJECT(self, "%s", block.status().message().c_str());
    return nullptr;
  }
  return NewMemory(allocator, nullptr, std::move(*block), 0, size);
}

void FreeMemory(GstAllocator*, GstMemory* memory) {
  auto* npu_memory = reinterpret_cast<GstNpuMemory*>(memory);
  std::destroy_at(&npu_memory->block);
  g_free(npu_memory);
}

gpointer RefuseMap(GstMemory* memory, gsize, GstMapFlags) {
  GST_WARNING("memory %p is on the NPU and the host cannot map it: put npudownload before the element that reads it",
              static_cast<void*>(memory));
  return nullptr;
}

void Unmap(GstMemory*) {}

GstMemory* CopyOnDevice(GstMemory* memory, gssize offset, gssize size) {
  const auto& from = reinterpret_cast<GstNpuMemory*>(memory)->block;
  const gsize bytes = size < 0 ? memory->size - offset : static_cast<gsize>(size);
  auto block = DeviceBlock::Allocate(from->device(), bytes);
  if (!block.ok()) return nullptr;
  const auto* start = static_cast<const std::byte*>(from->data()) + memory->offset + offset;
  if (aclrtMemcpy((*block)->data(), bytes, start, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE) != ACL_SUCCESS) return nullptr;
  return NewMemory(memory->allocator, nullptr, std::move(*block), 0, bytes);
}

GstMemory* Share(GstMemory* memory, gssize offset, gssize size) {
  GstMemory* parent = memory->parent != nullptr ? memory->parent : memory;
  const gsize bytes = size < 0 ? memory->size - offset : static_cast<gsize>(size);
  return NewMemory(memory->allocator, parent, reinterpret_cast<GstNpuMemory*>(memory)->block, memory->offset + offset,
                   bytes);
}

gboolean IsSpan(GstMemory*, GstMemory*, gsize*) { return FALSE; }

// Wrapping needs an allocator object, but no device of its own: one for the process.
GstAllocator* WrappingAllocator() {
  static GstAllocator* const allocator = npustream::elements::NewNpuAllocator(nullptr);
  return allocator;
}

}  // namespace

static void gst_npu_allocator_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_ALLOCATOR(object)->device);
  G_OBJECT_CLASS(gst_npu_allocator_parent_class)->finalize(object);
}

static void gst_npu_allocator_class_init(GstNpuAllocatorClass* klass) {
  GST_DEBUG_CATEGORY_INIT(npu_memory_debug, "npumemory", 0, "NPU device memory");
  G_OBJECT_CLASS(klass)->finalize = gst_npu_allocator_finalize;
  GST_ALLOCATOR_CLASS(klass)->alloc = Allocate;
  GST_ALLOCATOR_CLASS(klass)->free = FreeMemory;
}

static void gst_npu_allocator_init(GstNpuAllocator* self) {
  std::construct_at(&self->device);
  GstAllocator* allocator = GST_ALLOCATOR(self);
  allocator->mem_type = kMemoryType;
  allocator->mem_map = RefuseMap;
  allocator->mem_unmap = Unmap;
  allocator->mem_copy = CopyOnDevice;
  allocator->mem_share = Share;
  allocator->mem_is_span = IsSpan;
  GST_OBJECT_FLAG_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

namespace npustream::elements {

GstAllocator* NewNpuAllocator(std::shared_ptr<const NpuDevice> device) {
  auto* self = GST_NPU_ALLOCATOR(g_object_new(GST_TYPE_NPU_ALLOCATOR, nullptr));
  gst_object_ref_sink(self);
  self->device = std::move(device);
  return GST_ALLOCATOR(self);
}

GstMemory* WrapDeviceBlock(std::shared_ptr<DeviceBlock> block) {
  const gsize bytes = block->bytes();
  return NewMemory(WrappingAllocator(), nullptr, std::move(block), 0, bytes);
}

bool IsNpuMemory(GstMemory* memory) { return gst_memory_is_type(memory, kMemoryType); }

std::shared_ptr<DeviceBlock> DeviceBlockOf(GstMemory* memory) {
  return IsNpuMemory(memory) ? reinterpret_cast<GstNpuMemory*>(memory)->block : nullptr;
}

GstBuffer* WrapDevicePicture(std::shared_ptr<DeviceBlock> block, const DevicePicture& picture) {
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, WrapDeviceBlock(std::move(block)));
  gsize offsets[GST_VIDEO_MAX_PLANES] = {0, static_cast<gsize>(picture.width_stride) * picture.height_stride};
  const gint stride = static_cast<gint>(picture.width_stride);
  gint strides[GST_VIDEO_MAX_PLANES] = {stride, stride};
  const GstVideoFormat format = VideoFormatOf(picture.format);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format, picture.width, picture.height,
                                 format == GST_VIDEO_FORMAT_NV12 ? 2 : 1, offsets, strides);
  return buffer;
}

Result<DevicePicture> DevicePictureOf(GstBuffer* buffer, const GstVideoInfo& info) {
  DevicePicture picture;
  picture.format = PixelFormatOf(GST_VIDEO_INFO_FORMAT(&info));
  if (picture.format == PIXEL_FORMAT_UNKNOWN) return Status(StatusCode::kInvalidArgument, "not NV12, RGB or BGR");
  if (gst_buffer_n_memory(buffer) != 1 || !IsNpuMemory(gst_buffer_peek_memory(buffer, 0))) {
    return Status(StatusCode::kInvalidArgument, "the buffer is not in NPU memory: put npuupload before");
  }
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  const gint* strides = meta != nullptr ? meta->stride : info.stride;
  const gsize* offsets = meta != nullptr ? meta->offset : info.offset;
  picture.data = static_cast<std::byte*>(reinterpret_cast<GstNpuMemory*>(memory)->block->data()) + memory->offset;
  picture.width = GST_VIDEO_INFO_WIDTH(&info);
  picture.height = GST_VIDEO_INFO_HEIGHT(&info);
  picture.width_stride = strides[0];
  const bool planar = picture.format == PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  picture.height_stride = planar ? offsets[1] / picture.width_stride : picture.height;
  picture.bytes = PictureBytes(picture.format, picture.width_stride, picture.height_stride);
  picture.full_range = info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  if (picture.bytes > memory->size) return Status(StatusCode::kInvalidArgument, "the buffer is too small for its caps");
  return picture;
}

acldvppPixelFormat PixelFormatOf(GstVideoFormat format) {
  switch (format) {
    case GST_VIDEO_FORMAT_NV12: return PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    case GST_VIDEO_FORMAT_RGB: return PIXEL_FORMAT_RGB_888;
    case GST_VIDEO_FORMAT_BGR: return PIXEL_FORMAT_BGR_888;
    default: return PIXEL_FORMAT_UNKNOWN;
  }
}

GstVideoFormat VideoFormatOf(acldvppPixelFormat format) {
  switch (format) {
    case PIXEL_FORMAT_YUV_SEMIPLANAR_420: return GST_VIDEO_FORMAT_NV12;
    case PIXEL_FORMAT_RGB_888: return GST_VIDEO_FORMAT_RGB;
    case PIXEL_FORMAT_BGR_888: return GST_VIDEO_FORMAT_BGR;
    default: return GST_VIDEO_FORMAT_UNKNOWN;
  }
}

}  // namespace npustream::elements
