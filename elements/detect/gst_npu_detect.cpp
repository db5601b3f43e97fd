#include "elements/detect/gst_npu_detect.h"

#include <array>
#include <memory>

#include "elements/infer/gst_npu_infer.h"
#include "elements/memory/gst_npu_memory.h"
#include "elements/postprocess/gst_npu_postprocess.h"
#include "elements/preprocess/gst_npu_preprocess.h"
#include "elements/support/gst_support.h"

using namespace npustream::elements;  // NOLINT: a shell's own file

namespace {

// npuinfer comes first, so that `stats` is its.
struct DetectState {
  GstElement* infer = nullptr;
  GstElement* preprocess = nullptr;
  GstElement* postprocess = nullptr;
  std::array<GstElement*, 3> Children() const { return {infer, preprocess, postprocess}; }
};

}  // namespace

struct _GstNpuDetect {
  GstBin parent;
  DetectState state;  // the children are the bin's
};

G_DEFINE_TYPE(GstNpuDetect, gst_npu_detect, GST_TYPE_BIN)

#define PICTURE_CAPS GST_VIDEO_CAPS_MAKE_WITH_FEATURES(NPUSTREAM_CAPS_FEATURE_MEMORY, "{ NV12, RGB }")

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(PICTURE_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(PICTURE_CAPS));

namespace {

// The same property for another class; null for a type that no child uses.
GParamSpec* CloneSpec(GParamSpec* spec) {
  const gchar* name = spec->name;
  const gchar* nick = g_param_spec_get_nick(spec);
  const gchar* blurb = g_param_spec_get_blurb(spec);
  const GParamFlags flags = spec->flags;
  if (auto* s = G_IS_PARAM_SPEC_STRING(spec) ? G_PARAM_SPEC_STRING(spec) : nullptr) {
    return g_param_spec_string(name, nick, blurb, s->default_value, flags);
  }
  if (auto* i = G_IS_PARAM_SPEC_INT(spec) ? G_PARAM_SPEC_INT(spec) : nullptr) {
    return g_param_spec_int(name, nick, blurb, i->minimum, i->maximum, i->default_value, flags);
  }
  if (auto* u = G_IS_PARAM_SPEC_UINT(spec) ? G_PARAM_SPEC_UINT(spec) : nullptr) {
    return g_param_spec_uint(name, nick, blurb, u->minimum, u->maximum, u->default_value, flags);
  }
  if (auto* d = G_IS_PARAM_SPEC_DOUBLE(spec) ? G_PARAM_SPEC_DOUBLE(spec) : nullptr) {
    return g_param_spec_double(name, nick, blurb, d->minimum, d->maximum, d->default_value, flags);
  }
  if (auto* e = G_IS_PARAM_SPEC_ENUM(spec) ? G_PARAM_SPEC_ENUM(spec) : nullptr) {
    return g_param_spec_enum(name, nick, blurb, spec->value_type, e->default_value, flags);
  }
  if (G_IS_PARAM_SPEC_BOXED(spec)) return g_param_spec_boxed(name, nick, blurb, spec->value_type, flags);
  return nullptr;
}

void MirrorProperties(GObjectClass* klass, GType child, guint& next_id) {
  auto* child_class = static_cast<GObjectClass*>(g_type_class_ref(child));
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(child_class, &count);
  for (guint index = 0; index < count; ++index) {
    if (specs[index]->owner_type != child || g_object_class_find_property(klass, specs[index]->name) != nullptr)
      continue;
    if (GParamSpec* own = CloneSpec(specs[index])) g_object_class_install_property(klass, next_id++, own);
  }
  g_free(specs);
  g_type_class_unref(child_class);
}

bool HasProperty(GstElement* element, const gchar* name) {
  return g_object_class_find_property(G_OBJECT_GET_CLASS(element), name) != nullptr;
}

void AddGhostPad(GstNpuDetect* self, GstElement* child, const gchar* name, GstStaticPadTemplate* pad_template) {
  GstPad* target = gst_element_get_static_pad(child, name);
  GstPadTemplate* resolved = gst_static_pad_template_get(pad_template);
  gst_element_add_pad(GST_ELEMENT(self), gst_ghost_pad_new_from_template(name, target, resolved));
  gst_object_unref(resolved);
  gst_object_unref(target);
}

GstElement* AddChild(GstNpuDetect* self, GType type, const gchar* name) {
  auto* child = GST_ELEMENT(g_object_new(type, "name", name, nullptr));
  gst_bin_add(GST_BIN(self), child);
  return child;
}

}  // namespace

static void gst_npu_detect_set_property(GObject* object, guint, const GValue* value, GParamSpec* spec) {
  for (GstElement* child : GST_NPU_DETECT(object)->state.Children()) {
    if (HasProperty(child, spec->name)) g_object_set_property(G_OBJECT(child), spec->name, value);
  }
}

static void gst_npu_detect_get_property(GObject* object, guint, GValue* value, GParamSpec* spec) {
  for (GstElement* child : GST_NPU_DETECT(object)->state.Children()) {
    if (!HasProperty(child, spec->name)) continue;
    g_object_get_property(G_OBJECT(child), spec->name, value);
    return;
  }
}

static void gst_npu_detect_class_init(GstNpuDetectClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_detect_set_property;
  object_class->get_property = gst_npu_detect_get_property;
  guint next_id = 1;
  MirrorProperties(object_class, GST_TYPE_NPU_INFER, next_id);
  MirrorProperties(object_class, GST_TYPE_NPU_PREPROCESS, next_id);
  MirrorProperties(object_class, GST_TYPE_NPU_POSTPROCESS, next_id);

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "NPU object detection", "Filter/Analyzer/Video/Hardware",
                                        "npupreprocess, npuinfer and npupostprocess in one", "npustream");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
}

static void gst_npu_detect_init(GstNpuDetect* self) {
  std::construct_at(&self->state);
  DetectState& state = self->state;
  state.preprocess = AddChild(self, GST_TYPE_NPU_PREPROCESS, "preprocess");
  state.infer = AddChild(self, GST_TYPE_NPU_INFER, "infer");
  state.postprocess = AddChild(self, GST_TYPE_NPU_POSTPROCESS, "postprocess");
  gst_element_link_many(state.preprocess, state.infer, state.postprocess, nullptr);
  AddGhostPad(self, state.preprocess, "sink", &sink_template);
  AddGhostPad(self, state.postprocess, "src", &src_template);
}
