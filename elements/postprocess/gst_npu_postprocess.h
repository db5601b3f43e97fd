#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS
#define GST_TYPE_NPU_POSTPROCESS (gst_npu_postprocess_get_type())
G_DECLARE_FINAL_TYPE(GstNpuPostprocess, gst_npu_postprocess, GST, NPU_POSTPROCESS, GstBaseTransform)
G_END_DECLS
