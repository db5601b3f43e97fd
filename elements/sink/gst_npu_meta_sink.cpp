#include "elements/sink/gst_npu_meta_sink.h"

#include <memory>

#include "elements/sink/gst_publisher_properties.h"
#include "elements/sink/record_publisher.h"
#include "elements/support/gst_support.h"

using namespace npustream;            // NOLINT: a shell's own file
using namespace npustream::elements;  // NOLINT

namespace {

struct MetaSinkState {
  PublisherOptions options;  // guarded by the object lock
  // Set between start and stop; shared, because somebody may be reading statistics while the element stops.
  std::shared_ptr<RecordPublisher> publisher;  // guarded by the object lock
};

}  // namespace

struct _GstNpuMetaSink {
  GstBaseSink parent;
  MetaSinkState state;
};

G_DEFINE_TYPE(GstNpuMetaSink, gst_npu_meta_sink, GST_TYPE_BASE_SINK)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

namespace {

std::shared_ptr<RecordPublisher> PublisherOf(gpointer object) {
  ObjectLock lock(object);
  return GST_NPU_META_SINK(object)->state.publisher;
}

}  // namespace

static gboolean gst_npu_meta_sink_start(GstBaseSink* sink) {
  MetaSinkState& state = GST_NPU_META_SINK(sink)->state;
  PublisherOptions options;
  {
    ObjectLock lock(sink);
    options = state.options;
  }
  Result<std::unique_ptr<RecordPublisher>> publisher = RecordPublisher::Create(options);
  if (!publisher.ok()) {
    PostError(GST_ELEMENT(sink), publisher.status());
    return FALSE;
  }
  ObjectLock lock(sink);
  state.publisher = std::move(*publisher);
  return TRUE;
}

static gboolean gst_npu_meta_sink_stop(GstBaseSink* sink) {
  const std::shared_ptr<RecordPublisher> publisher = PublisherOf(sink);
  if (publisher == nullptr) return TRUE;
  const Status status = publisher->Flush();
  if (!status.ok()) PostError(GST_ELEMENT(sink), status);
  return status.ok();
}

static GstFlowReturn gst_npu_meta_sink_render(GstBaseSink* sink, GstBuffer* buffer) {
  const Status status = PublisherOf(sink)->Publish(buffer, sink->segment);
  if (status.ok()) return GST_FLOW_OK;
  PostError(GST_ELEMENT(sink), status);
  return GST_FLOW_ERROR;
}

static gboolean gst_npu_meta_sink_event(GstBaseSink* sink, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    const Status status = PublisherOf(sink)->Flush();
    if (!status.ok()) PostError(GST_ELEMENT(sink), status);
  }
  return GST_BASE_SINK_CLASS(gst_npu_meta_sink_parent_class)->event(sink, event);
}

static void gst_npu_meta_sink_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  ObjectLock lock(object);
  if (SetPublisherProperty(GST_NPU_META_SINK(object)->state.options, id, value)) return;
  G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_npu_meta_sink_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  if (id == kPropPublisherStats) {
    const std::shared_ptr<RecordPublisher> publisher = PublisherOf(object);
    g_value_take_boxed(value, publisher != nullptr ? publisher->Stats("npumetasink-stats")
                                                   : gst_structure_new_empty("npumetasink-stats"));
    return;
  }
  ObjectLock lock(object);
  if (GetPublisherProperty(GST_NPU_META_SINK(object)->state.options, id, value)) return;
  G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_npu_meta_sink_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_META_SINK(object)->state);
  G_OBJECT_CLASS(gst_npu_meta_sink_parent_class)->finalize(object);
}

static void gst_npu_meta_sink_class_init(GstNpuMetaSinkClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_meta_sink_set_property;
  object_class->get_property = gst_npu_meta_sink_get_property;
  object_class->finalize = gst_npu_meta_sink_finalize;
  InstallPublisherProperties(object_class);

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
  std::construct_at(&self->state);
  // Records are wanted as soon as they are there, not when the frame would be shown.
  gst_base_sink_set_sync(GST_BASE_SINK(self), FALSE);
}
