#include "elements/postprocess/gst_npu_postprocess.h"

#include <atomic>
#include <memory>

#include "elements/memory/gst_npu_memory.h"
#include "elements/meta/npu_metas.h"
#include "elements/postprocess/result_builder.h"
#include "elements/support/gst_support.h"

GST_DEBUG_CATEGORY_STATIC(npu_postprocess_debug);
#define GST_CAT_DEFAULT npu_postprocess_debug

using namespace npustream;            // NOLINT: a shell's own file
using namespace npustream::elements;  // NOLINT

namespace {

enum class Agnostic { kModel = -1, kNo = 0, kYes = 1 };
enum Property : guint {
  kPropThreshold = 1,
  kPropNmsIou,
  kPropNmsAgnostic,
  kPropMaxDetections,
  kPropLabelsFile,
  kPropObjectClass,
  kPropProfile,
  kPropStats,
};

GType AgnosticType() {
  static const GType type = [] {
    static const GEnumValue kValues[] = {
        {static_cast<gint>(Agnostic::kModel), "as the model's description says", "model"},
        {static_cast<gint>(Agnostic::kNo), "boxes of different classes do not suppress each other", "no"},
        {static_cast<gint>(Agnostic::kYes), "boxes suppress each other across classes", "yes"},
        {0, nullptr, nullptr}};
    return g_enum_register_static("GstNpuNmsAgnostic", kValues);
  }();
  return type;
}

struct PostprocessState {
  // Guarded by the object lock. Negative, zero or empty: as the model's description says.
  double threshold = -1;
  double nms_iou = -1;
  Agnostic nms_agnostic = Agnostic::kModel;
  int max_detections = 0;
  std::string labels_file;
  std::string object_class;
  std::string profile;

  std::unique_ptr<ResultBuilder> builder;  // the streaming thread's own
  std::atomic<bool> changed{false};        // properties were set since the builder was made
  std::atomic<uint64_t> frames_in{0};
  std::atomic<uint64_t> results{0};
  std::atomic<uint64_t> objects{0};
};

}  // namespace

struct _GstNpuPostprocess {
  GstBaseTransform parent;
  PostprocessState state;
};

G_DEFINE_TYPE(GstNpuPostprocess, gst_npu_postprocess, GST_TYPE_BASE_TRANSFORM)

// Works on metas alone, wherever the frame is.
static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS("video/x-raw(ANY)"));

namespace {

Status MakeBuilder(GstNpuPostprocess* self) {
  PostprocessState& state = self->state;
  PostprocessOverrides overrides;
  std::string labels_file;
  {
    ObjectLock lock(self);
    state.changed = false;
    if (state.threshold >= 0) overrides.threshold = static_cast<float>(state.threshold);
    if (state.nms_iou >= 0) overrides.nms_iou = static_cast<float>(state.nms_iou);
    if (state.nms_agnostic != Agnostic::kModel) overrides.nms_agnostic = state.nms_agnostic == Agnostic::kYes;
    if (state.max_detections > 0) overrides.max_detections = state.max_detections;
    overrides.object_classes = ParseClassList(state.object_class);
    overrides.profile = state.profile;
    labels_file = state.labels_file;
  }
  if (!labels_file.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(overrides.labels, serving::LoadLabels(labels_file));
  }
  state.builder = std::make_unique<ResultBuilder>(std::move(overrides));
  return Status();
}

Status Process(GstNpuPostprocess* self, GstBuffer* buffer) {
  PostprocessState& state = self->state;
  if (state.changed) NPUSTREAM_RETURN_IF_ERROR(MakeBuilder(self));
  while (ModelOutput* output = NpuTensorMeta::Get(buffer)) {
    Result<DetectionResult> result = state.builder->Build(*output);
    if (!result.ok()) return result.status();
    gst_buffer_remove_meta(buffer, gst_buffer_get_meta(buffer, NpuTensorMeta::Api()));
    ++state.results;
    state.objects += result->objects.size();
    AttachDetections(buffer, std::move(*result));
  }
  return Status();
}

}  // namespace

static gboolean gst_npu_postprocess_start(GstBaseTransform* transform) {
  auto* self = GST_NPU_POSTPROCESS(transform);
  self->state.frames_in = self->state.results = self->state.objects = 0;
  const Status status = MakeBuilder(self);
  if (!status.ok()) PostError(GST_ELEMENT(self), status);
  return status.ok();
}

static gboolean gst_npu_postprocess_stop(GstBaseTransform* transform) {
  GST_NPU_POSTPROCESS(transform)->state.builder.reset();
  return TRUE;
}

static GstFlowReturn gst_npu_postprocess_transform_ip(GstBaseTransform* transform, GstBuffer* buffer) {
  auto* self = GST_NPU_POSTPROCESS(transform);
  ++self->state.frames_in;
  const Status status = Process(self, buffer);
  if (status.ok()) return GST_FLOW_OK;
  PostError(GST_ELEMENT(self), status);
  return GST_FLOW_ERROR;
}

static void gst_npu_postprocess_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  PostprocessState& state = GST_NPU_POSTPROCESS(object)->state;
  ObjectLock lock(object);
  state.changed = true;
  switch (id) {
    case kPropThreshold: state.threshold = g_value_get_double(value); break;
    case kPropNmsIou: state.nms_iou = g_value_get_double(value); break;
    case kPropNmsAgnostic: state.nms_agnostic = static_cast<Agnostic>(g_value_get_enum(value)); break;
    case kPropMaxDetections: state.max_detections = g_value_get_int(value); break;
    case kPropLabelsFile: state.labels_file = StringOf(value); break;
    case kPropObjectClass: state.object_class = StringOf(value); break;
    case kPropProfile: state.profile = StringOf(value); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
}

static void gst_npu_postprocess_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  const PostprocessState& state = GST_NPU_POSTPROCESS(object)->state;
  ObjectLock lock(object);
  switch (id) {
    case kPropThreshold: g_value_set_double(value, state.threshold); break;
    case kPropNmsIou: g_value_set_double(value, state.nms_iou); break;
    case kPropNmsAgnostic: g_value_set_enum(value, static_cast<gint>(state.nms_agnostic)); break;
    case kPropMaxDetections: g_value_set_int(value, state.max_detections); break;
    case kPropLabelsFile: g_value_set_string(value, state.labels_file.c_str()); break;
    case kPropObjectClass: g_value_set_string(value, state.object_class.c_str()); break;
    case kPropProfile: g_value_set_string(value, state.profile.c_str()); break;
    case kPropStats:
      g_value_take_boxed(value,
                         gst_structure_new("npupostprocess-stats", "frames-in", G_TYPE_UINT64, state.frames_in.load(),
                                           "results", G_TYPE_UINT64, state.results.load(), "objects", G_TYPE_UINT64,
                                           state.objects.load(), nullptr));
      break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
}

static void gst_npu_postprocess_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_POSTPROCESS(object)->state);
  G_OBJECT_CLASS(gst_npu_postprocess_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kPropThreshold,
      g_param_spec_double("threshold", "Threshold",
                          "Least confidence of an object, 0 to 1; -1: as the model's description "
                          "says",
                          -1, 1, -1, kReadWriteAnyTime));
  g_object_class_install_property(
      klass, kPropNmsIou,
      g_param_spec_double("nms-iou", "NMS overlap",
                          "Boxes that overlap a better one by more than this intersection over "
                          "union are dropped, 0 to 1; -1: as the model's description says",
                          -1, 1, -1, kReadWriteAnyTime));
  g_object_class_install_property(
      klass, kPropNmsAgnostic,
      g_param_spec_enum("nms-agnostic", "NMS across classes", "Whether boxes suppress boxes of other classes",
                        AgnosticType(), static_cast<gint>(Agnostic::kModel), kReadWriteAnyTime));
  g_object_class_install_property(klass, kPropMaxDetections,
                                  g_param_spec_int("max-detections", "Most objects",
                                                   "Objects per frame, the best ones; 0: as the model's description "
                                                   "says",
                                                   0, 100000, 0, kReadWriteAnyTime));
  g_object_class_install_property(
      klass, kPropLabelsFile,
      g_param_spec_string("labels-file", "Labels", "Text file with one label a line, in place of the model's", "",
                          kReadWriteAnyTime));
  g_object_class_install_property(
      klass, kPropObjectClass,
      g_param_spec_string("object-class", "Object classes", "Labels that are kept, separated by commas; empty: all", "",
                          kReadWriteAnyTime));
  g_object_class_install_property(
      klass, kPropProfile,
      g_param_spec_string("profile", "Profile", "Name of the profile in the results, such as day or night", "",
                          kReadWriteAnyTime));
  g_object_class_install_property(
      klass, kPropStats,
      g_param_spec_boxed("stats", "Statistics",
                         "frames-in, results (frames times models), objects, as counts since the "
                         "start",
                         GST_TYPE_STRUCTURE, kReadOnly));
}

static void gst_npu_postprocess_class_init(GstNpuPostprocessClass* klass) {
  GST_DEBUG_CATEGORY_INIT(npu_postprocess_debug, "npupostprocess", 0, "NPU postprocessing");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_postprocess_set_property;
  object_class->get_property = gst_npu_postprocess_get_property;
  object_class->finalize = gst_npu_postprocess_finalize;
  install_properties(object_class);

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "NPU postprocessing", "Filter/Analyzer/Video",
                                        "Reads objects from a model's output tensors, suppresses duplicates and "
                                        "attaches them in pixels of the frame, also as "
                                        "GstVideoRegionOfInterestMeta",
                                        "npustream");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);

  GstBaseTransformClass* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->start = gst_npu_postprocess_start;
  transform_class->stop = gst_npu_postprocess_stop;
  transform_class->transform_ip = gst_npu_postprocess_transform_ip;
}

static void gst_npu_postprocess_init(GstNpuPostprocess* self) {
  std::construct_at(&self->state);
  gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
}
