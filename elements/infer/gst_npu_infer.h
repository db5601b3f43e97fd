#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_NPU_INFER (gst_npu_infer_get_type())
G_DECLARE_FINAL_TYPE(GstNpuInfer, gst_npu_infer, GST, NPU_INFER, GstElement)
G_END_DECLS
