#include "elements/sink/gst_publisher_properties.h"

#include "elements/support/gst_support.h"

namespace npustream::elements {

void InstallPublisherProperties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kPropLocation,
      g_param_spec_string("location", "Location",
                          "File that the records go to, one JSON object a line; truncated at the "
                          "start; -: standard output",
                          "-", kReadWrite));
  g_object_class_install_property(
      klass, kPropPublisherCameraId,
      g_param_spec_string("camera-id", "Camera", "Name of the camera in the records; empty: what the decoder attached",
                          "", kReadWrite));
  g_object_class_install_property(
      klass, kPropPublisherSource,
      g_param_spec_string("source", "Source",
                          "Name of the clip or picture in the records; empty: what the decoder "
                          "attached",
                          "", kReadWrite));
  g_object_class_install_property(
      klass, kPropPublisherStats,
      g_param_spec_boxed(
          "stats", "Statistics",
          "frames-in, records-out, objects, dropped-REASON (frames without a record), as "
          "counts since the start; latency-p50-ms, latency-p99-ms from the decoder's input to the record, in "
          "milliseconds",
          GST_TYPE_STRUCTURE, kReadOnly));
}

bool SetPublisherProperty(PublisherOptions& options, guint id, const GValue* value) {
  switch (id) {
    case kPropLocation: options.location = StringOf(value); return true;
    case kPropPublisherCameraId: options.camera_id = StringOf(value); return true;
    case kPropPublisherSource: options.source = StringOf(value); return true;
    default: return false;
  }
}

bool GetPublisherProperty(const PublisherOptions& options, guint id, GValue* value) {
  switch (id) {
    case kPropLocation: g_value_set_string(value, options.location.c_str()); return true;
    case kPropPublisherCameraId: g_value_set_string(value, options.camera_id.c_str()); return true;
    case kPropPublisherSource: g_value_set_string(value, options.source.c_str()); return true;
    default: return false;
  }
}

}  // namespace npustream::elements
