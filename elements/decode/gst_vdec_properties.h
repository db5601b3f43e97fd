#pragma once

#include <string>

#include <gst/gst.h>

namespace npustream::elements {

enum class OutputFormat { kAuto, kNv12, kRgb, kBgr };

// What may be set on npuvdec.
struct VdecSettings {
  int device_id = 0;
  std::string camera_id;
  std::string source;  // empty: what upstream tells
  OutputFormat output_format = OutputFormat::kAuto;
  guint max_pending = 32;  // packets
};

enum VdecProperty : guint {
  kPropDeviceId = 1,
  kPropCameraId,
  kPropSource,
  kPropOutputFormat,
  kPropMaxPending,
  kPropVdecStats,  // read only, the element's own
};

void InstallVdecProperties(GObjectClass* klass);
// False when `id` is none of the settings. The caller holds the object lock.
bool SetVdecProperty(VdecSettings& settings, guint id, const GValue* value);
bool GetVdecProperty(const VdecSettings& settings, guint id, GValue* value);

}  // namespace npustream::elements
