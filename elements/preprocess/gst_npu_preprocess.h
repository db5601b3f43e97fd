#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS
#define GST_TYPE_NPU_PREPROCESS (gst_npu_preprocess_get_type())
G_DECLARE_FINAL_TYPE(GstNpuPreprocess, gst_npu_preprocess, GST, NPU_PREPROCESS, GstBaseTransform)
G_END_DECLS
