#include "elements/decode/gst_vdec_properties.h"

#include "elements/support/gst_support.h"

namespace npustream::elements {
namespace {

constexpr guint kLeastMaxPending = 20;  // codecs hold up to 16 packets back to reorder pictures

GType OutputFormatType() {
  static const GType type = [] {
    static const GEnumValue kValues[] = {
        {static_cast<gint>(OutputFormat::kAuto), "the first that downstream takes, NV12 by preference", "auto"},
        {static_cast<gint>(OutputFormat::kNv12), "NV12", "nv12"},
        {static_cast<gint>(OutputFormat::kRgb), "packed RGB, 8 bits a channel", "rgb"},
        {static_cast<gint>(OutputFormat::kBgr), "packed BGR, 8 bits a channel", "bgr"},
        {0, nullptr, nullptr}};
    return g_enum_register_static("GstNpuVdecOutputFormat", kValues);
  }();
  return type;
}

}  // namespace

void InstallVdecProperties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kPropDeviceId,
      g_param_spec_int("device-id", "Device", "Number of the NPU that decodes", 0, 15, 0, kReadWrite));
  g_object_class_install_property(
      klass, kPropCameraId,
      g_param_spec_string("camera-id", "Camera",
                          "Name of the camera in NpuFrameMeta and in records; empty: the element's name", "",
                          kReadWrite));
  g_object_class_install_property(
      klass, kPropSource,
      g_param_spec_string("source", "Source",
                          "Name of the clip or picture in NpuFrameMeta and in records; empty: file "
                          "name that upstream tells",
                          "", kReadWrite));
  g_object_class_install_property(
      klass, kPropOutputFormat,
      g_param_spec_enum("output-format", "Output format", "Pixel format of the decoded pictures", OutputFormatType(),
                        static_cast<gint>(OutputFormat::kAuto), kReadWrite));
  g_object_class_install_property(
      klass, kPropMaxPending,
      g_param_spec_uint("max-pending", "Pending packets",
                        "Packets on the way through the decoder, in frames; upstream "
                        "waits when there are so many. At most 8 of them are decoded pictures that wait for downstream",
                        kLeastMaxPending, 256, VdecSettings().max_pending, kReadWrite));
  g_object_class_install_property(
      klass, kPropVdecStats,
      g_param_spec_boxed("stats", "Statistics",
                         "frames-in (packets received), frames-out (pictures pushed), errors "
                         "(packets that gave no picture), all in frames since the start",
                         GST_TYPE_STRUCTURE, kReadOnly));
}

bool SetVdecProperty(VdecSettings& settings, guint id, const GValue* value) {
  switch (id) {
    case kPropDeviceId: settings.device_id = g_value_get_int(value); return true;
    case kPropCameraId: settings.camera_id = StringOf(value); return true;
    case kPropSource: settings.source = StringOf(value); return true;
    case kPropOutputFormat: settings.output_format = static_cast<OutputFormat>(g_value_get_enum(value)); return true;
    case kPropMaxPending: settings.max_pending = g_value_get_uint(value); return true;
    default: return false;
  }
}

bool GetVdecProperty(const VdecSettings& settings, guint id, GValue* value) {
  switch (id) {
    case kPropDeviceId: g_value_set_int(value, settings.device_id); return true;
    case kPropCameraId: g_value_set_string(value, settings.camera_id.c_str()); return true;
    case kPropSource: g_value_set_string(value, settings.source.c_str()); return true;
    case kPropOutputFormat: g_value_set_enum(value, static_cast<gint>(settings.output_format)); return true;
    case kPropMaxPending: g_value_set_uint(value, settings.max_pending); return true;
    default: return false;
  }
}

}  // namespace npustream::elements
