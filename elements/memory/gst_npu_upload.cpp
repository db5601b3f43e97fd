#include "elements/memory/gst_npu_upload.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "elements/memory/gst_npu_memory.h"
#include "elements/memory/gst_npu_transfer.h"
#include "elements/support/gst_support.h"

using namespace npustream;            // NOLINT: a shell's own file
using namespace npustream::elements;  // NOLINT

namespace {

enum Property : guint { kPropDeviceId = 1, kPropMaxBuffers };
constexpr guint kDefaultMaxBuffers = 32;

struct UploadState {
  // Guarded by the object lock.
  int device_id = 0;
  guint max_buffers = kDefaultMaxBuffers;

  std::shared_ptr<const NpuDevice> device;  // shared with the frames; set between start and stop
  GstVideoInfo info;
  std::vector<std::byte> staging;
};

}  // namespace

struct _GstNpuUpload {
  GstBaseTransform parent;
  UploadState state;
};

G_DEFINE_TYPE(GstNpuUpload, gst_npu_upload, GST_TYPE_BASE_TRANSFORM)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE("{ NV12, RGB, BGR }")));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE_WITH_FEATURES(NPUSTREAM_CAPS_FEATURE_MEMORY, "{ NV12, RGB, BGR }")));

namespace {

Status Upload(GstNpuUpload* self, GstBuffer* in, GstBuffer* out) {
  UploadState& state = self->state;
  NPUSTREAM_ASSIGN_OR_RETURN(const DevicePicture picture, DevicePictureOf(out, state.info));
  NPUSTREAM_RETURN_IF_ERROR(state.device->Bind());
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &state.info, in, GST_MAP_READ)) {
    return Status(StatusCode::kInternal, "the host buffer cannot be mapped");
  }
  const Status status = UploadPicture(HostPictureOf(&frame), picture, state.staging);
  gst_video_frame_unmap(&frame);
  return status;
}

// A pool of device frames with DVPP's strides: width a multiple of 16, height even.
GstBufferPool* NewPool(GstNpuUpload* self, GstCaps* caps, guint max_buffers) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, caps)) return nullptr;
  const DevicePicture wanted = DescribePicture(PixelFormatOf(GST_VIDEO_INFO_FORMAT(&info)), GST_VIDEO_INFO_WIDTH(&info),
                                               GST_VIDEO_INFO_HEIGHT(&info));
  GstVideoAlignment alignment;
  gst_video_alignment_reset(&alignment);
  alignment.padding_right = wanted.width_stride / GST_VIDEO_INFO_COMP_PSTRIDE(&info, 0) - wanted.width;
  alignment.padding_bottom = wanted.height_stride - wanted.height;
  GstBufferPool* pool = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&info), 0, max_buffers);
  const std::unique_ptr<GstAllocator, GObjectUnref<GstAllocator>> allocator(NewNpuAllocator(self->state.device));
  gst_buffer_pool_config_set_allocator(config, allocator.get(), nullptr);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  gst_buffer_pool_config_set_video_alignment(config, &alignment);
  if (gst_buffer_pool_set_config(pool, config)) return pool;
  gst_object_unref(pool);
  return nullptr;
}

}  // namespace

static gboolean gst_npu_upload_start(GstBaseTransform* transform) {
  UploadState& state = GST_NPU_UPLOAD(transform)->state;
  int device_id = 0;
  {
    ObjectLock lock(transform);
    device_id = state.device_id;
  }
  Result<std::shared_ptr<const NpuDevice>> device = NpuDevice::Open(device_id);
  if (!device.ok()) {
    PostError(GST_ELEMENT(transform), device.status());
    return FALSE;
  }
  state.device = std::move(*device);
  return TRUE;
}

static gboolean gst_npu_upload_stop(GstBaseTransform* transform) {
  GST_NPU_UPLOAD(transform)->state.device.reset();
  return TRUE;
}

static GstCaps* gst_npu_upload_transform_caps(GstBaseTransform*, GstPadDirection direction, GstCaps* caps,
                                              GstCaps* filter) {
  return FilterCaps(direction == GST_PAD_SINK ? CapsOnDevice(caps) : CapsOnHost(caps), filter);
}

static gboolean gst_npu_upload_set_caps(GstBaseTransform* transform, GstCaps* in, GstCaps*) {
  return gst_video_info_from_caps(&GST_NPU_UPLOAD(transform)->state.info, in);
}

// Our own pool, whatever downstream proposes: only it gives device memory.
static gboolean gst_npu_upload_decide_allocation(GstBaseTransform* transform, GstQuery* query) {
  auto* self = GST_NPU_UPLOAD(transform);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  guint max_buffers = 0;
  {
    ObjectLock lock(self);
    max_buffers = self->state.max_buffers;
  }
  GstBufferPool* pool = caps == nullptr ? nullptr : NewPool(self, caps, max_buffers);
  if (pool == nullptr) return FALSE;
  GstStructure* config = gst_buffer_pool_get_config(pool);
  guint size = 0;
  gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
  gst_structure_free(config);
  while (gst_query_get_n_allocation_pools(query) > 0) gst_query_remove_nth_allocation_pool(query, 0);
  while (gst_query_get_n_allocation_params(query) > 0) gst_query_remove_nth_allocation_param(query, 0);
  gst_query_add_allocation_pool(query, pool, size, 0, max_buffers);
  gst_object_unref(pool);
  return TRUE;
}

static GstFlowReturn gst_npu_upload_transform(GstBaseTransform* transform, GstBuffer* in, GstBuffer* out) {
  const Status status = Upload(GST_NPU_UPLOAD(transform), in, out);
  if (status.ok()) return GST_FLOW_OK;
  PostError(GST_ELEMENT(transform), status);
  return GST_FLOW_ERROR;
}

static void gst_npu_upload_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  UploadState& state = GST_NPU_UPLOAD(object)->state;
  ObjectLock lock(object);
  switch (id) {
    case kPropDeviceId: state.device_id = g_value_get_int(value); break;
    case kPropMaxBuffers: state.max_buffers = g_value_get_uint(value); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
}

static void gst_npu_upload_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  const UploadState& state = GST_NPU_UPLOAD(object)->state;
  ObjectLock lock(object);
  switch (id) {
    case kPropDeviceId: g_value_set_int(value, state.device_id); break;
    case kPropMaxBuffers: g_value_set_uint(value, state.max_buffers); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
}

static void gst_npu_upload_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_UPLOAD(object)->state);
  G_OBJECT_CLASS(gst_npu_upload_parent_class)->finalize(object);
}

static void gst_npu_upload_class_init(GstNpuUploadClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_upload_set_property;
  object_class->get_property = gst_npu_upload_get_property;
  object_class->finalize = gst_npu_upload_finalize;
  g_object_class_install_property(
      object_class, kPropDeviceId,
      g_param_spec_int("device-id", "Device", "Number of the NPU that the frames go to", 0, 15, 0, kReadWrite));
  g_object_class_install_property(
      object_class, kPropMaxBuffers,
      g_param_spec_uint("max-buffers", "Most buffers",
                        "Frames that may be in device memory at once, in frames; the element "
                        "waits for one to come back when there are so many; 0: no bound",
                        0, 4096, kDefaultMaxBuffers, kReadWrite));

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "NPU upload", "Filter/Converter/Video/Hardware",
                                        "Copies frames from host memory to NPU memory", "npustream");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  GstBaseTransformClass* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->start = gst_npu_upload_start;
  transform_class->stop = gst_npu_upload_stop;
  transform_class->transform_caps = gst_npu_upload_transform_caps;
  transform_class->set_caps = gst_npu_upload_set_caps;
  transform_class->get_unit_size = VideoUnitSize;
  transform_class->decide_allocation = gst_npu_upload_decide_allocation;
  transform_class->transform_size = VideoTransformSize;
  transform_class->transform_meta = KeepMeta;
  transform_class->transform = gst_npu_upload_transform;
}

static void gst_npu_upload_init(GstNpuUpload* self) { std::construct_at(&self->state); }
