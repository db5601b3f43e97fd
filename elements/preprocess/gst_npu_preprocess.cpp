#include "elements/preprocess/gst_npu_preprocess.h"

#include <atomic>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "elements/infer/gst_model_properties.h"
#include "elements/memory/gst_npu_memory.h"
#include "elements/meta/npu_metas.h"
#include "elements/preprocess/npu_preprocess.h"
#include "elements/support/gst_support.h"

GST_DEBUG_CATEGORY_STATIC(npu_preprocess_debug);
#define GST_CAT_DEFAULT npu_preprocess_debug

using namespace npustream;            // NOLINT: a shell's own file
using namespace npustream::elements;  // NOLINT

namespace {

enum Property : guint { kPropInferenceInterval = kPropModelLast, kPropInferenceRegion, kPropStats };

struct PreprocessState {
  // Guarded by the object lock.
  ModelSelection selection;
  unsigned inference_interval = 1;
  std::string inference_region;               // empty: the whole frame
  std::shared_ptr<const ModelBinding> model;  // shared with the inputs on their way; set between start and stop

  // The streaming thread's own.
  std::unique_ptr<Preprocessor> preprocessor;
  GstVideoInfo info;
  uint64_t frame_number = 0;
  bool warned = false;

  std::atomic<uint64_t> frames_in{0};
  std::atomic<uint64_t> prepared{0};
  std::atomic<uint64_t> skipped{0};
  std::atomic<uint64_t> failed{0};
};

}  // namespace

struct _GstNpuPreprocess {
  GstBaseTransform parent;
  PreprocessState state;
};

G_DEFINE_TYPE(GstNpuPreprocess, gst_npu_preprocess, GST_TYPE_BASE_TRANSFORM)

#define PICTURE_CAPS GST_VIDEO_CAPS_MAKE_WITH_FEATURES(NPUSTREAM_CAPS_FEATURE_MEMORY, "{ NV12, RGB }")

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(PICTURE_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(PICTURE_CAPS));

namespace {

GstFlowReturn FrameFailed(GstNpuPreprocess* self, GstBuffer* buffer, const Status& status) {
  PreprocessState& state = self->state;
  if (status.code() != StatusCode::kUnsupported) {
    PostError(GST_ELEMENT(self), status);
    return GST_FLOW_ERROR;
  }
  ++state.failed;
  if (!std::exchange(state.warned, true)) PostWarning(GST_ELEMENT(self), status);
  MarkSkipped(buffer, InferenceSkipped::kPreprocess);
  return GST_FLOW_OK;
}

Status Start(GstNpuPreprocess* self) {
  PreprocessState& state = self->state;
  ModelSelection selection;
  std::string region;
  {
    ObjectLock lock(self);
    selection = state.selection;
    region = state.inference_region;
  }
  const int device_id = selection.runner.device_id;
  NPUSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<const ModelBinding> model, AcquireModel(std::move(selection)));
  NPUSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<const NpuDevice> device, NpuDevice::Open(device_id));
  PreprocessOptions options = PreprocessOptionsOf(std::move(device), model->info(), model->description);
  if (!region.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(options.region, ParseFrameRegion(region));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(state.preprocessor, Preprocessor::Create(std::move(options)));
  state.frames_in = state.prepared = state.skipped = state.failed = 0;
  state.frame_number = 0;
  state.warned = false;
  ObjectLock lock(self);
  state.model = std::move(model);
  return Status();
}

}  // namespace

static gboolean gst_npu_preprocess_start(GstBaseTransform* transform) {
  const Status status = Start(GST_NPU_PREPROCESS(transform));
  if (!status.ok()) PostError(GST_ELEMENT(transform), status);
  return status.ok();
}

static gboolean gst_npu_preprocess_stop(GstBaseTransform* transform) {
  PreprocessState& state = GST_NPU_PREPROCESS(transform)->state;
  state.preprocessor.reset();
  std::shared_ptr<const ModelBinding> model;  // let go of outside the lock
  ObjectLock lock(transform);
  model.swap(state.model);
  return TRUE;
}

// Both pads have the same caps; once the model is known, of its format only. Where upstream has only the other one, it
// may come, so that set_caps can say what is wrong.
static GstCaps* gst_npu_preprocess_transform_caps(GstBaseTransform* transform, GstPadDirection, GstCaps* caps,
                                                  GstCaps* filter) {
  std::shared_ptr<const ModelBinding> model;
  {
    ObjectLock lock(transform);
    model = GST_NPU_PREPROCESS(transform)->state.model;
  }
  UniqueCaps result(gst_caps_copy(caps));
  if (model != nullptr) {
    const bool nv12 = model->info().picture_format == serving::PictureFormat::kNv12;
    const UniqueCaps own(
        gst_caps_from_string(nv12 ? GST_VIDEO_CAPS_MAKE_WITH_FEATURES(NPUSTREAM_CAPS_FEATURE_MEMORY, "NV12")
                                  : GST_VIDEO_CAPS_MAKE_WITH_FEATURES(NPUSTREAM_CAPS_FEATURE_MEMORY, "RGB")));
    UniqueCaps narrowed(gst_caps_intersect_full(result.get(), own.get(), GST_CAPS_INTERSECT_FIRST));
    const bool wanted = filter == nullptr || gst_caps_can_intersect(filter, narrowed.get());
    if (wanted && !gst_caps_is_empty(narrowed.get())) result = std::move(narrowed);
  }
  if (filter != nullptr) result.reset(gst_caps_intersect_full(filter, result.get(), GST_CAPS_INTERSECT_FIRST));
  return result.release();
}

static gboolean gst_npu_preprocess_accept_caps(GstBaseTransform* transform, GstPadDirection, GstCaps* caps) {
  const UniqueCaps both(gst_pad_get_pad_template_caps(GST_BASE_TRANSFORM_SINK_PAD(transform)));
  return gst_caps_can_intersect(caps, both.get());
}

static gboolean gst_npu_preprocess_set_caps(GstBaseTransform* transform, GstCaps* in, GstCaps*) {
  PreprocessState& state = GST_NPU_PREPROCESS(transform)->state;
  if (!gst_video_info_from_caps(&state.info, in)) return FALSE;
  const bool nv12 = state.model->info().picture_format == serving::PictureFormat::kNv12;
  if ((GST_VIDEO_INFO_FORMAT(&state.info) == GST_VIDEO_FORMAT_NV12) == nv12) return TRUE;
  PostError(
      GST_ELEMENT(transform),
      Status(StatusCode::kInvalidArgument,
             fmt::format("the frames are {}, but the model takes {}: {}", nv12 ? "RGB" : "NV12", nv12 ? "NV12" : "RGB",
                         nv12 ? "set picture-format=rgb (for an ONNX file), or bring NV12"
                              : "leave picture-format at nv12 (for an ONNX file), or bring RGB")));
  return FALSE;
}

static GstFlowReturn gst_npu_preprocess_transform_ip(GstBaseTransform* transform, GstBuffer* buffer) {
  auto* self = GST_NPU_PREPROCESS(transform);
  PreprocessState& state = self->state;
  guint interval = 1;
  {
    ObjectLock lock(self);
    interval = state.inference_interval;
  }
  ++state.frames_in;
  if (state.frame_number++ % interval != 0) {
    ++state.skipped;
    MarkSkipped(buffer, InferenceSkipped::kInterval);
    return GST_FLOW_OK;
  }
  const Result<DevicePicture> frame = DevicePictureOf(buffer, state.info);
  if (!frame.ok()) return FrameFailed(self, buffer, frame.status());
  Result<PreparedPicture> prepared = state.preprocessor->Run(*frame);
  if (!prepared.ok()) return FrameFailed(self, buffer, prepared.status());
  ++state.prepared;
  NpuModelInputMeta::Add(buffer, {std::move(prepared->picture), prepared->transform, state.model});
  return GST_FLOW_OK;
}

static void gst_npu_preprocess_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  PreprocessState& state = GST_NPU_PREPROCESS(object)->state;
  ObjectLock lock(object);
  if (SetModelProperty(state.selection, id, value)) return;
  if (id == kPropInferenceInterval) {
    state.inference_interval = g_value_get_uint(value);
  } else if (id == kPropInferenceRegion) {
    state.inference_region = StringOf(value);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void gst_npu_preprocess_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  const PreprocessState& state = GST_NPU_PREPROCESS(object)->state;
  ObjectLock lock(object);
  if (GetModelProperty(state.selection, id, value)) return;
  if (id == kPropInferenceInterval) {
    g_value_set_uint(value, state.inference_interval);
  } else if (id == kPropInferenceRegion) {
    g_value_set_string(value, state.inference_region.c_str());
  } else if (id == kPropStats) {
    g_value_take_boxed(
        value, gst_structure_new("npupreprocess-stats", "frames-in", G_TYPE_UINT64, state.frames_in.load(), "prepared",
                                 G_TYPE_UINT64, state.prepared.load(), "skipped", G_TYPE_UINT64, state.skipped.load(),
                                 "failed", G_TYPE_UINT64, state.failed.load(), nullptr));
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void gst_npu_preprocess_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_PREPROCESS(object)->state);
  G_OBJECT_CLASS(gst_npu_preprocess_parent_class)->finalize(object);
}

static void gst_npu_preprocess_class_init(GstNpuPreprocessClass* klass) {
  GST_DEBUG_CATEGORY_INIT(npu_preprocess_debug, "npupreprocess", 0, "NPU preprocessing");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_preprocess_set_property;
  object_class->get_property = gst_npu_preprocess_get_property;
  object_class->finalize = gst_npu_preprocess_finalize;
  InstallModelProperties(object_class);
  g_object_class_install_property(object_class, kPropInferenceInterval,
                                  g_param_spec_uint("inference-interval", "Inference interval",
                                                    "Every how many frames one is prepared for the model; "
                                                    "the others pass on and say so in NpuFrameMeta, in frames",
                                                    1, G_MAXUINT, 1, kReadWriteAnyTime));
  g_object_class_install_property(
      object_class, kPropInferenceRegion,
      g_param_spec_string(
          "inference-region", "Inference region",
          "The part of the frame that goes to the model, as "
          "x,y,w,h in fractions of its width and height; empty: the whole frame. Boxes stay in pixels of "
          "the whole frame",
          "", kReadWrite));
  g_object_class_install_property(
      object_class, kPropStats,
      g_param_spec_boxed("stats", "Statistics",
                         "frames-in, prepared, skipped (by inference-interval), failed (beyond the "
                         "media engine's limits), all in frames since the start",
                         GST_TYPE_STRUCTURE, kReadOnly));

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "NPU preprocessing", "Filter/Effect/Video/Hardware",
                                        "Scales each frame into a second picture of the model's size and format in "
                                        "device memory; the frame itself goes on "
                                        "unchanged",
                                        "npustream");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);

  GstBaseTransformClass* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->start = gst_npu_preprocess_start;
  transform_class->stop = gst_npu_preprocess_stop;
  transform_class->transform_caps = gst_npu_preprocess_transform_caps;
  transform_class->accept_caps = gst_npu_preprocess_accept_caps;
  transform_class->set_caps = gst_npu_preprocess_set_caps;
  transform_class->transform_ip = gst_npu_preprocess_transform_ip;
  transform_class->transform_ip_on_passthrough = FALSE;
}

static void gst_npu_preprocess_init(GstNpuPreprocess* self) {
  std::construct_at(&self->state);
  gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), FALSE);
}
