#include "elements/sink/gst_publisher.h"

#include <utility>

#include "elements/support/gst_support.h"

namespace npustream::elements {
namespace {

enum Property : guint { kPropLocation = 1, kPropCameraId, kPropSource, kPropStats };

}  // namespace

void GstPublisher::InstallProperties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kPropLocation,
      g_param_spec_string("location", "Location",
                          "File that the records go to, one JSON object a line; truncated at the "
                          "start; -: standard output",
                          "-", kReadWrite));
  g_object_class_install_property(
      klass, kPropCameraId,
      g_param_spec_string("camera-id", "Camera", "Name of the camera in the records; empty: what the decoder attached",
                          "", kReadWrite));
  g_object_class_install_property(
      klass, kPropSource,
      g_param_spec_string("source", "Source",
                          "Name of the clip or picture in the records; empty: what the decoder "
                          "attached",
                          "", kReadWrite));
  g_object_class_install_property(
      klass, kPropStats,
      g_param_spec_boxed(
          "stats", "Statistics",
          "frames-in, records-out, objects, dropped-REASON (frames without a record), as "
          "counts since the start; latency-p50-ms, latency-p99-ms from the decoder's input to the record, in "
          "milliseconds",
          GST_TYPE_STRUCTURE, kReadOnly));
}

std::shared_ptr<RecordPublisher> GstPublisher::publisher() const {
  ObjectLock lock(owner_);
  return publisher_;
}

bool GstPublisher::Report(const Status& status) const {
  if (!status.ok()) PostError(owner_, status);
  return status.ok();
}

gboolean GstPublisher::Start() {
  PublisherOptions options;
  {
    ObjectLock lock(owner_);
    options = options_;
  }
  Result<std::unique_ptr<RecordPublisher>> opened = RecordPublisher::Create(options);
  if (!Report(opened.status())) return FALSE;
  ObjectLock lock(owner_);
  publisher_ = std::move(*opened);
  return TRUE;
}

gboolean GstPublisher::Stop() {
  const std::shared_ptr<RecordPublisher> publisher = this->publisher();
  return publisher == nullptr || Report(publisher->Flush());
}

GstFlowReturn GstPublisher::Publish(GstBuffer* buffer, const GstSegment& segment) {
  return Report(publisher()->Publish(buffer, segment)) ? GST_FLOW_OK : GST_FLOW_ERROR;
}

void GstPublisher::OnEvent(GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) Report(publisher()->Flush());
}

void GstPublisher::SetProperty(guint id, const GValue* value, GParamSpec* spec) {
  ObjectLock lock(owner_);
  switch (id) {
    case kPropLocation: options_.location = StringOf(value); break;
    case kPropCameraId: options_.camera_id = StringOf(value); break;
    case kPropSource: options_.source = StringOf(value); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(owner_, id, spec);
  }
}

void GstPublisher::GetProperty(guint id, GValue* value, GParamSpec* spec) {
  if (id == kPropStats) {
    const std::shared_ptr<RecordPublisher> publisher = this->publisher();
    g_value_take_boxed(value,
                       publisher != nullptr ? publisher->Stats(stats_name_) : gst_structure_new_empty(stats_name_));
    return;
  }
  ObjectLock lock(owner_);
  switch (id) {
    case kPropLocation: g_value_set_string(value, options_.location.c_str()); break;
    case kPropCameraId: g_value_set_string(value, options_.camera_id.c_str()); break;
    case kPropSource: g_value_set_string(value, options_.source.c_str()); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(owner_, id, spec);
  }
}

}  // namespace npustream::elements
