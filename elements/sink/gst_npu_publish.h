#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS
#define GST_TYPE_NPU_PUBLISH (gst_npu_publish_get_type())
G_DECLARE_FINAL_TYPE(GstNpuPublish, gst_npu_publish, GST, NPU_PUBLISH, GstBaseTransform)
G_END_DECLS
