#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS
#define GST_TYPE_NPU_UPLOAD (gst_npu_upload_get_type())
G_DECLARE_FINAL_TYPE(GstNpuUpload, gst_npu_upload, GST, NPU_UPLOAD, GstBaseTransform)
G_END_DECLS
