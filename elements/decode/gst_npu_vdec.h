#pragma once

#include <gst/video/gstvideodecoder.h>

G_BEGIN_DECLS
#define GST_TYPE_NPU_VDEC (gst_npu_vdec_get_type())
G_DECLARE_FINAL_TYPE(GstNpuVdec, gst_npu_vdec, GST, NPU_VDEC, GstVideoDecoder)
G_END_DECLS
