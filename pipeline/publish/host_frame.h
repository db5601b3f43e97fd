#pragma once

#include <functional>

#include <gst/gst.h>

#include "base/status.h"
#include "pipeline/publish/annotate.h"

namespace npustream::pipeline {

// Shows `use` the NV12 picture of a sample in host memory. kUnsupported for other formats and for device memory.
Status WithHostPicture(GstSample* sample, const std::function<void(const HostPicture&)>& use);

}  // namespace npustream::pipeline
