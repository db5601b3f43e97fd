#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_NPU_DETECT (gst_npu_detect_get_type())
G_DECLARE_FINAL_TYPE(GstNpuDetect, gst_npu_detect, GST, NPU_DETECT, GstBin)
G_END_DECLS
