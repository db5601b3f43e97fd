#pragma once

#include <gst/video/gstvideofilter.h>

G_BEGIN_DECLS
#define GST_TYPE_NPU_OSD (gst_npu_osd_get_type())
G_DECLARE_FINAL_TYPE(GstNpuOsd, gst_npu_osd, GST, NPU_OSD, GstVideoFilter)
G_END_DECLS
