#include "elements/memory/gst_npu_download.h"

#include <memory>
#include <vector>

#include "elements/memory/gst_npu_memory.h"
#include "elements/memory/gst_npu_transfer.h"
#include "elements/support/gst_support.h"

using namespace npustream;            // NOLINT: a shell's own file
using namespace npustream::elements;  // NOLINT

namespace {

struct DownloadState {
  GstVideoInfo info;  // the same for both sides but for the memory
  std::vector<std::byte> staging;
};

}  // namespace

struct _GstNpuDownload {
  GstBaseTransform parent;
  DownloadState state;
};

G_DEFINE_TYPE(GstNpuDownload, gst_npu_download, GST_TYPE_BASE_TRANSFORM)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE_WITH_FEATURES(NPUSTREAM_CAPS_FEATURE_MEMORY, "{ NV12, RGB, BGR }")));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE("{ NV12, RGB, BGR }")));

namespace {

Status Download(GstNpuDownload* self, GstBuffer* in, GstBuffer* out) {
  DownloadState& state = self->state;
  NPUSTREAM_ASSIGN_OR_RETURN(const DevicePicture picture, DevicePictureOf(in, state.info));
  NPUSTREAM_RETURN_IF_ERROR(DeviceBlockOf(gst_buffer_peek_memory(in, 0))->device()->Bind());
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &state.info, out, GST_MAP_WRITE)) {
    return Status(StatusCode::kInternal, "the host buffer cannot be mapped");
  }
  const Status status = DownloadPicture(picture, HostPictureOf(&frame), state.staging);
  gst_video_frame_unmap(&frame);
  return status;
}

}  // namespace

static GstCaps* gst_npu_download_transform_caps(GstBaseTransform*, GstPadDirection direction, GstCaps* caps,
                                                GstCaps* filter) {
  return FilterCaps(direction == GST_PAD_SINK ? CapsOnHost(caps) : CapsOnDevice(caps), filter);
}

static gboolean gst_npu_download_set_caps(GstBaseTransform* transform, GstCaps* in, GstCaps*) {
  return gst_video_info_from_caps(&GST_NPU_DOWNLOAD(transform)->state.info, in);
}

static GstFlowReturn gst_npu_download_transform(GstBaseTransform* transform, GstBuffer* in, GstBuffer* out) {
  const Status status = Download(GST_NPU_DOWNLOAD(transform), in, out);
  if (status.ok()) return GST_FLOW_OK;
  PostError(GST_ELEMENT(transform), status);
  return GST_FLOW_ERROR;
}

static void gst_npu_download_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_DOWNLOAD(object)->state);
  G_OBJECT_CLASS(gst_npu_download_parent_class)->finalize(object);
}

static void gst_npu_download_class_init(GstNpuDownloadClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = gst_npu_download_finalize;
  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "NPU download", "Filter/Converter/Video/Hardware",
                                        "Copies frames from NPU memory to host memory", "npustream");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  GstBaseTransformClass* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->transform_caps = gst_npu_download_transform_caps;
  transform_class->set_caps = gst_npu_download_set_caps;
  transform_class->get_unit_size = VideoUnitSize;
  transform_class->transform_size = VideoTransformSize;
  transform_class->transform_meta = KeepMeta;
  transform_class->transform = gst_npu_download_transform;
}

static void gst_npu_download_init(GstNpuDownload* self) { std::construct_at(&self->state); }
