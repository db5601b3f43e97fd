#include <array>

#include <gst/gst.h>

#include "elements/decode/gst_npu_vdec.h"
#include "elements/detect/gst_npu_detect.h"
#include "elements/infer/gst_npu_infer.h"
#include "elements/memory/gst_npu_download.h"
#include "elements/memory/gst_npu_upload.h"
#include "elements/osd/gst_npu_osd.h"
#include "elements/postprocess/gst_npu_postprocess.h"
#include "elements/preprocess/gst_npu_preprocess.h"
#include "elements/sink/gst_npu_meta_sink.h"
#include "elements/sink/gst_npu_publish.h"

namespace {

struct Element {
  const char* name;
  GType (*type)();
};

// Rank none: nobody gets an NPU element who has not asked for one.
constexpr std::array kElements{
    Element{"npudetect", gst_npu_detect_get_type},
    Element{"npudownload", gst_npu_download_get_type},
    Element{"npuinfer", gst_npu_infer_get_type},
    Element{"npumetasink", gst_npu_meta_sink_get_type},
    Element{"npuosd", gst_npu_osd_get_type},
    Element{"npupostprocess", gst_npu_postprocess_get_type},
    Element{"npupreprocess", gst_npu_preprocess_get_type},
    Element{"npupublish", gst_npu_publish_get_type},
    Element{"npuupload", gst_npu_upload_get_type},
    Element{"npuvdec", gst_npu_vdec_get_type},
};

gboolean Register(GstPlugin* plugin) {
  for (const Element& element : kElements) {
    if (!gst_element_register(plugin, element.name, GST_RANK_NONE, element.type())) return FALSE;
  }
  return TRUE;
}

}  // namespace

#define PACKAGE "npustream"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, npustream, "Video analytics on an NPU", Register,
                  NPUSTREAM_VERSION, "Apache 2.0", "npustream", "npustream")
