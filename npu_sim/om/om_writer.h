#pragma once

#include "base/status.h"
#include "npu_sim/om/om_model.h"

namespace npustream::om {

// The bytes of an OM file: header, FlatBuffers metadata, weight section (64-byte aligned, each constant stored once).
// Verifies the model as the reader would: kInvalidArgument names what is wrong. The same model gives the same bytes.
Result<Bytes> WriteOm(const OmModel& model);

}  // namespace npustream::om
