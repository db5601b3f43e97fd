#include "elements/sink/gst_npu_publish.h"

#include <memory>

#include "elements/sink/gst_publisher.h"

using npustream::elements::GstPublisher;

struct _GstNpuPublish {
  GstBaseTransform parent;
  GstPublisher publisher;
};

G_DEFINE_TYPE(GstNpuPublish, gst_npu_publish, GST_TYPE_BASE_TRANSFORM)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static gboolean gst_npu_publish_start(GstBaseTransform* base) { return GST_NPU_PUBLISH(base)->publisher.Start(); }

static gboolean gst_npu_publish_stop(GstBaseTransform* base) { return GST_NPU_PUBLISH(base)->publisher.Stop(); }

static GstFlowReturn gst_npu_publish_transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  return GST_NPU_PUBLISH(base)->publisher.Publish(buffer, base->segment);
}

static gboolean gst_npu_publish_sink_event(GstBaseTransform* base, GstEvent* event) {
  GST_NPU_PUBLISH(base)->publisher.OnEvent(event);
  return GST_BASE_TRANSFORM_CLASS(gst_npu_publish_parent_class)->sink_event(base, event);
}

static void gst_npu_publish_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  GST_NPU_PUBLISH(object)->publisher.SetProperty(id, value, spec);
}

static void gst_npu_publish_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  GST_NPU_PUBLISH(object)->publisher.GetProperty(id, value, spec);
}

static void gst_npu_publish_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_PUBLISH(object)->publisher);
  G_OBJECT_CLASS(gst_npu_publish_parent_class)->finalize(object);
}

static void gst_npu_publish_class_init(GstNpuPublishClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_publish_set_property;
  object_class->get_property = gst_npu_publish_get_property;
  object_class->finalize = gst_npu_publish_finalize;
  GstPublisher::InstallProperties(object_class);

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "NPU record publisher", "Filter/Metadata",
                                        "Writes what models found in each frame as JSON lines and passes the frames on",
                                        "npustream");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);

  GstBaseTransformClass* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->start = gst_npu_publish_start;
  transform_class->stop = gst_npu_publish_stop;
  transform_class->transform_ip = gst_npu_publish_transform_ip;
  transform_class->sink_event = gst_npu_publish_sink_event;
}

static void gst_npu_publish_init(GstNpuPublish* self) {
  std::construct_at(&self->publisher, GST_ELEMENT(self), "npupublish-stats");
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}
