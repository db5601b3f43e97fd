#pragma once

#include <gst/gst.h>

#include "elements/infer/model_binding.h"

namespace npustream::elements {

// The properties that npupreprocess and npuinfer have in common, so that both come to the same runner. Their ids are
// 1 … kPropModelLast − 1; an element's own follow from kPropModelLast.
enum ModelProperty : guint {
  kPropModel = 1,
  kPropDecoder,
  kPropLabelsFile,
  kPropPictureFormat,
  kPropPrecision,
  kPropModelInstanceId,
  kPropModelDeviceId,
  kPropBatchSize,
  kPropBatchTimeoutMs,
  kPropQueueSize,
  kPropQueuePolicy,
  kPropDepth,
  kPropModelLast,
};

void InstallModelProperties(GObjectClass* klass);
// False when `id` is not one of the common properties. The caller holds the object lock.
bool SetModelProperty(ModelSelection& selection, guint id, const GValue* value);
bool GetModelProperty(const ModelSelection& selection, guint id, GValue* value);

}  // namespace npustream::elements
