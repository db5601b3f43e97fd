#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS
#define GST_TYPE_NPU_DOWNLOAD (gst_npu_download_get_type())
G_DECLARE_FINAL_TYPE(GstNpuDownload, gst_npu_download, GST, NPU_DOWNLOAD, GstBaseTransform)
G_END_DECLS
