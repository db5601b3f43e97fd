#pragma once

#include <gst/gst.h>

#include "elements/sink/record_publisher.h"

namespace npustream::elements {

// The properties of npumetasink and npupublish.
enum PublisherProperty : guint { kPropLocation = 1, kPropPublisherCameraId, kPropPublisherSource, kPropPublisherStats };

void InstallPublisherProperties(GObjectClass* klass);
// False when `id` is none of them. The caller holds the object lock.
bool SetPublisherProperty(PublisherOptions& options, guint id, const GValue* value);
bool GetPublisherProperty(const PublisherOptions& options, guint id, GValue* value);

}  // namespace npustream::elements
