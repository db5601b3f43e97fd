#pragma once

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS
#define GST_TYPE_NPU_META_SINK (gst_npu_meta_sink_get_type())
G_DECLARE_FINAL_TYPE(GstNpuMetaSink, gst_npu_meta_sink, GST, NPU_META_SINK, GstBaseSink)
G_END_DECLS
