#include "elements/sink/gst_npu_meta_sink.h"

#include <memory>

#include "elements/sink/gst_publisher.h"

using npustream::elements::GstPublisher;

struct _GstNpuMetaSink {
  GstBaseSink parent;
  GstPublisher publisher;
};

G_DEFINE_TYPE(GstNpuMetaSink, gst_npu_meta_sink, GST_TYPE_BASE_SINK)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static gboolean gst_npu_meta_sink_start(GstBaseSink* base) { return GST_NPU_META_SINK(base)->publisher.Start(); }

static gboolean gst_npu_meta_sink_stop(GstBaseSink* base) { return GST_NPU_META_SINK(base)->publisher.Stop(); }

static GstFlowReturn gst_npu_meta_sink_render(GstBaseSink* base, GstBuffer* buffer) {
  return GST_NPU_META_SINK(base)->publisher.Publish(buffer, base->segment);
}

static gboolean gst_npu_meta_sink_event(GstBaseSink* base, GstEvent* event) {
  GST_NPU_META_SINK(base)->publisher.OnEvent(event);
  return GST_BASE_SINK_CLASS(gst_npu_meta_sink_parent_class)->event(base, event);
}

static void gst_npu_meta_sink_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  GST_NPU_META_SINK(object)->publisher.SetProperty(id, value, spec);
}

static void gst_npu_meta_sink_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  GST_NPU_META_SINK(object)->publisher.GetProperty(id, value, spec);
}

static void gst_npu_meta_sink_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_META_SINK(object)->publisher);
  G_OBJECT_CLASS(gst_npu_meta_sink_parent_class)->finalize(object);
}

static void gst_npu_meta_sink_class_init(GstNpuMetaSinkClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_meta_sink_set_property;
  object_class->get_property = gst_npu_meta_sink_get_property;
  object_class->finalize = gst_npu_meta_sink_finalize;
  GstPublisher::InstallProperties(object_class);

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "NPU record sink", "Sink/File/Metadata",
                                        "Writes what models found in each frame as JSON lines", "npustream");
  gst_element_class_add_static_pad_template(element_class, &sink_template);

  GstBaseSinkClass* sink_class = GST_BASE_SINK_CLASS(klass);
  sink_class->start = gst_npu_meta_sink_start;
  sink_class->stop = gst_npu_meta_sink_stop;
  sink_class->render = gst_npu_meta_sink_render;
  sink_class->event = gst_npu_meta_sink_event;
}

static void gst_npu_meta_sink_init(GstNpuMetaSink* self) {
  std::construct_at(&self->publisher, GST_ELEMENT(self), "npumetasink-stats");
  // Records are wanted as soon as they are there, not when the frame would be shown.
  gst_base_sink_set_sync(GST_BASE_SINK(self), FALSE);
}
