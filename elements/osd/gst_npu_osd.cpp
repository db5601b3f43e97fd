#include "elements/osd/gst_npu_osd.h"

#include <memory>

#include "elements/meta/npu_metas.h"
#include "elements/osd/npu_osd.h"
#include "elements/support/gst_support.h"

using namespace npustream;            // NOLINT: a shell's own file
using namespace npustream::elements;  // NOLINT

namespace {

enum Property : guint { kPropLineWidth = 1, kPropTextScale, kPropLabels };

struct OsdState {
  OsdStyle style;  // guarded by the object lock
};

}  // namespace

struct _GstNpuOsd {
  GstVideoFilter parent;
  OsdState state;
};

G_DEFINE_TYPE(GstNpuOsd, gst_npu_osd, GST_TYPE_VIDEO_FILTER)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE("{ NV12, BGR, RGB }")));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE("{ NV12, BGR, RGB }")));

namespace {

OsdPicture PictureOf(GstVideoFrame* frame) {
  OsdPicture picture;
  const GstVideoFormat format = GST_VIDEO_FRAME_FORMAT(frame);
  picture.format = format == GST_VIDEO_FORMAT_NV12  ? OsdFormat::kNv12
                   : format == GST_VIDEO_FORMAT_RGB ? OsdFormat::kRgb
                                                    : OsdFormat::kBgr;
  picture.width = GST_VIDEO_FRAME_WIDTH(frame);
  picture.height = GST_VIDEO_FRAME_HEIGHT(frame);
  picture.first = static_cast<std::byte*>(GST_VIDEO_FRAME_PLANE_DATA(frame, 0));
  picture.first_stride = GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0);
  if (picture.format != OsdFormat::kNv12) return picture;
  picture.chroma = static_cast<std::byte*>(GST_VIDEO_FRAME_PLANE_DATA(frame, 1));
  picture.chroma_stride = GST_VIDEO_FRAME_PLANE_STRIDE(frame, 1);
  return picture;
}

}  // namespace

static GstFlowReturn gst_npu_osd_transform_frame_ip(GstVideoFilter* filter, GstVideoFrame* frame) {
  OsdStyle style;
  {
    ObjectLock lock(filter);
    style = GST_NPU_OSD(filter)->state.style;
  }
  const OsdPicture picture = PictureOf(frame);
  Status status;
  ForEachPayload<NpuDetectionMeta>(frame->buffer, [&](const DetectionResult& result) {
    status = DrawDetections(picture, result, style);
    return status.ok();
  });
  if (status.ok()) return GST_FLOW_OK;
  PostError(GST_ELEMENT(filter), status);
  return GST_FLOW_ERROR;
}

static void gst_npu_osd_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  OsdStyle& style = GST_NPU_OSD(object)->state.style;
  ObjectLock lock(object);
  switch (id) {
    case kPropLineWidth: style.line_width = g_value_get_int(value); break;
    case kPropTextScale: style.text_scale = g_value_get_double(value); break;
    case kPropLabels: style.labels = g_value_get_boolean(value); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
}

static void gst_npu_osd_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  const OsdStyle& style = GST_NPU_OSD(object)->state.style;
  ObjectLock lock(object);
  switch (id) {
    case kPropLineWidth: g_value_set_int(value, style.line_width); break;
    case kPropTextScale: g_value_set_double(value, style.text_scale); break;
    case kPropLabels: g_value_set_boolean(value, style.labels); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
}

static void gst_npu_osd_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_OSD(object)->state);
  G_OBJECT_CLASS(gst_npu_osd_parent_class)->finalize(object);
}

static void gst_npu_osd_class_init(GstNpuOsdClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_osd_set_property;
  object_class->get_property = gst_npu_osd_get_property;
  object_class->finalize = gst_npu_osd_finalize;
  const OsdStyle defaults;
  g_object_class_install_property(object_class, kPropLineWidth,
                                  g_param_spec_int("line-width", "Line width", "Width of the boxes' lines, in pixels",
                                                   1, 64, defaults.line_width, kReadWriteAnyTime));
  g_object_class_install_property(
      object_class, kPropTextScale,
      g_param_spec_double("text-scale", "Text scale", "Size of the labels; 1.0 is about 22 pixels high", 0.1, 10,
                          defaults.text_scale, kReadWriteAnyTime));
  g_object_class_install_property(object_class, kPropLabels,
                                  g_param_spec_boolean("labels", "Labels", "Write label and confidence beside each box",
                                                       defaults.labels, kReadWriteAnyTime));

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element_class, "NPU on-screen display", "Filter/Editor/Video",
      "Draws the boxes that models found on frames in host memory; put npudownload before it", "npustream");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  GST_VIDEO_FILTER_CLASS(klass)->transform_frame_ip = gst_npu_osd_transform_frame_ip;
}

static void gst_npu_osd_init(GstNpuOsd* self) { std::construct_at(&self->state); }
