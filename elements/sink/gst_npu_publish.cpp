#include "elements/sink/gst_npu_publish.h"

#include <memory>

#include "elements/sink/gst_publisher_properties.h"
#include "elements/sink/record_publisher.h"
#include "elements/support/gst_support.h"

using namespace npustream;            // NOLINT: a shell's own file
using namespace npustream::elements;  // NOLINT

namespace {

struct PublishState {
  PublisherOptions options;  // guarded by the object lock
  // Set between start and stop; shared, because somebody may be reading statistics while the element stops.
  std::shared_ptr<RecordPublisher> publisher;  // guarded by the object lock
};

}  // namespace

struct _GstNpuPublish {
  GstBaseTransform parent;
  PublishState state;
};

G_DEFINE_TYPE(GstNpuPublish, gst_npu_publish, GST_TYPE_BASE_TRANSFORM)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

namespace {

std::shared_ptr<RecordPublisher> PublisherOf(gpointer object) {
  ObjectLock lock(object);
  return GST_NPU_PUBLISH(object)->state.publisher;
}

}  // namespace

static gboolean gst_npu_publish_start(GstBaseTransform* transform) {
  PublishState& state = GST_NPU_PUBLISH(transform)->state;
  PublisherOptions options;
  {
    ObjectLock lock(transform);
    options = state.options;
  }
  Result<std::unique_ptr<RecordPublisher>> publisher = RecordPublisher::Create(options);
  if (!publisher.ok()) {
    PostError(GST_ELEMENT(transform), publisher.status());
    return FALSE;
  }
  ObjectLock lock(transform);
  state.publisher = std::move(*publisher);
  return TRUE;
}

static gboolean gst_npu_publish_stop(GstBaseTransform* transform) {
  const std::shared_ptr<RecordPublisher> publisher = PublisherOf(transform);
  if (publisher == nullptr) return TRUE;
  const Status status = publisher->Flush();
  if (!status.ok()) PostError(GST_ELEMENT(transform), status);
  return status.ok();
}

static GstFlowReturn gst_npu_publish_transform_ip(GstBaseTransform* transform, GstBuffer* buffer) {
  const Status status = PublisherOf(transform)->Publish(buffer, transform->segment);
  if (status.ok()) return GST_FLOW_OK;
  PostError(GST_ELEMENT(transform), status);
  return GST_FLOW_ERROR;
}

static gboolean gst_npu_publish_sink_event(GstBaseTransform* transform, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    const Status status = PublisherOf(transform)->Flush();
    if (!status.ok()) PostError(GST_ELEMENT(transform), status);
  }
  return GST_BASE_TRANSFORM_CLASS(gst_npu_publish_parent_class)->sink_event(transform, event);
}

static void gst_npu_publish_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  ObjectLock lock(object);
  if (SetPublisherProperty(GST_NPU_PUBLISH(object)->state.options, id, value)) return;
  G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_npu_publish_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  if (id == kPropPublisherStats) {
    const std::shared_ptr<RecordPublisher> publisher = PublisherOf(object);
    g_value_take_boxed(value, publisher != nullptr ? publisher->Stats("npupublish-stats")
                                                   : gst_structure_new_empty("npupublish-stats"));
    return;
  }
  ObjectLock lock(object);
  if (GetPublisherProperty(GST_NPU_PUBLISH(object)->state.options, id, value)) return;
  G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_npu_publish_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_PUBLISH(object)->state);
  G_OBJECT_CLASS(gst_npu_publish_parent_class)->finalize(object);
}

static void gst_npu_publish_class_init(GstNpuPublishClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_publish_set_property;
  object_class->get_property = gst_npu_publish_get_property;
  object_class->finalize = gst_npu_publish_finalize;
  InstallPublisherProperties(object_class);

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
  std::construct_at(&self->state);
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}
