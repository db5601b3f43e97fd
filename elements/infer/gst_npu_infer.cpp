#include "elements/infer/gst_npu_infer.h"

#include <atomic>
#include <memory>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/percentile.h"
#include "elements/infer/gst_model_properties.h"
#include "elements/infer/npu_infer.h"
#include "elements/memory/gst_npu_memory.h"
#include "elements/meta/npu_metas.h"
#include "elements/support/gst_support.h"

GST_DEBUG_CATEGORY_STATIC(npu_infer_debug);
#define GST_CAT_DEFAULT npu_infer_debug

using namespace npustream;            // NOLINT: a shell's own file
using namespace npustream::elements;  // NOLINT

namespace {

enum class WhenFull { kBlock, kPass };
enum Property : guint {
  kPropMaxInFlight = kPropModelLast,
  kPropWhenFull,
  kPropPriority,
  kPropWeight,
  kPropDeadlineMs,
  kPropStats,
};
constexpr guint kDefaultMaxInFlight = 8;
constexpr int64_t kNsPerMs = 1'000'000;

GType WhenFullType() {
  static const GType type = [] {
    static const GEnumValue kValues[] = {{static_cast<gint>(WhenFull::kBlock), "upstream waits", "block"},
                                         {static_cast<gint>(WhenFull::kPass),
                                          "the frame goes on in its place without detections and is counted", "pass"},
                                         {0, nullptr, nullptr}};
    return g_enum_register_static("GstNpuInferWhenFull", kValues);
  }();
  return type;
}

// How this element's frames come to the model.
struct Passage {
  WhenFull when_full = WhenFull::kBlock;
  int priority = 0;
  double weight = 1;
  int deadline_ms = 0;  // 0: none
};

struct InferState {
  GstPad* sink_pad = nullptr;
  GstPad* src_pad = nullptr;

  // Guarded by the object lock.
  ModelSelection selection;
  guint max_in_flight = kDefaultMaxInFlight;
  Passage passage;
  std::shared_ptr<const ModelBinding> model;  // shared with inputs and outputs on their way

  std::unique_ptr<OrderedResults> results;       // lives while pads may be active
  std::atomic<GstFlowReturn> flow{GST_FLOW_OK};  // what the source pad's last push said
  std::atomic<uint64_t> frames_in{0};
  std::atomic<uint64_t> inferred{0};
  std::atomic<uint64_t> passed{0};   // frames without an input for this model
  std::atomic<uint64_t> dropped{0};  // went on without inference
};

}  // namespace

struct _GstNpuInfer {
  GstElement parent;
  InferState state;
};

G_DEFINE_TYPE(GstNpuInfer, gst_npu_infer, GST_TYPE_ELEMENT)

#define PICTURE_CAPS GST_VIDEO_CAPS_MAKE_WITH_FEATURES(NPUSTREAM_CAPS_FEATURE_MEMORY, "{ NV12, RGB, BGR }")

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(PICTURE_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(PICTURE_CAPS));

namespace {

OrderedResults::Payload Own(GstMiniObject* object) {
  return OrderedResults::Payload(object,
                                 [](void* owned) { gst_mini_object_unref(static_cast<GstMiniObject*>(owned)); });
}

const ModelInput* InputFor(GstBuffer* buffer, const ModelBinding& model) {
  const ModelInput* found = nullptr;
  ForEachPayload<NpuModelInputMeta>(buffer, [&](const ModelInput& input) {
    if (input.model->key == model.key) found = &input;
    return found == nullptr;
  });
  return found;
}

// Whether nobody before this element prepared the frame for the model, nor decided that it goes without.
bool IsUnprepared(GstBuffer* buffer) {
  const FrameInfo* frame = NpuFrameMeta::Get(buffer);
  return frame == nullptr || frame->skipped == InferenceSkipped::kNo;
}

// What a pad function says once the queue has been stopped.
GstFlowReturn StoppedFlow(GstNpuInfer* self) {
  const GstFlowReturn flow = self->state.flow;
  return flow == GST_FLOW_OK ? GST_FLOW_FLUSHING : flow;
}

GstFlowReturn PassThrough(GstNpuInfer* self, OrderedResults::Payload buffer) {
  ++self->state.passed;
  const auto outcome = self->state.results->Add(buffer, false);
  return outcome == OrderedResults::Outcome::kAccepted ? GST_FLOW_OK : StoppedFlow(self);
}

GstBuffer* WithoutInference(GstNpuInfer* self, GstBuffer* buffer, InferenceSkipped reason) {
  ++self->state.dropped;
  buffer = gst_buffer_make_writable(buffer);
  MarkSkipped(buffer, reason);
  return buffer;
}

GstFlowReturn PassUnmarked(GstNpuInfer* self, OrderedResults::Payload owned) {
  GstBuffer* buffer = WithoutInference(self, GST_BUFFER(owned.release()), InferenceSkipped::kQueueFull);
  owned = Own(GST_MINI_OBJECT_CAST(buffer));
  const auto outcome = self->state.results->Add(owned, false);
  return outcome == OrderedResults::Outcome::kAccepted ? GST_FLOW_OK : StoppedFlow(self);
}

// `runner` is the caller's: once submitted, the buffer and `input` in it may be gone before this returns.
GstFlowReturn Infer(GstNpuInfer* self, OrderedResults::Payload buffer, const ModelInput& input,
                    serving::ModelRunner& runner, const Passage& passage) {
  serving::InferenceRequest request;
  request.device_input = input.picture->data();
  request.keep_alive = input.picture;
  request.source = reinterpret_cast<uintptr_t>(self);
  request.priority = passage.priority;
  request.weight = passage.weight;
  if (passage.deadline_ms > 0) request.deadline_ns = Clock::System().NowNs() + passage.deadline_ms * kNsPerMs;
  Status status;
  const auto wait = passage.when_full == WhenFull::kBlock ? OrderedResults::Wait::kYes : OrderedResults::Wait::kNo;
  const auto outcome = self->state.results->Submit(buffer, runner, std::move(request), wait, status);
  if (outcome == OrderedResults::Outcome::kStopped) return StoppedFlow(self);
  if (outcome == OrderedResults::Outcome::kFull) return PassUnmarked(self, std::move(buffer));
  if (status.ok()) return GST_FLOW_OK;
  PostError(GST_ELEMENT(self), status);
  return GST_FLOW_ERROR;
}

GstFlowReturn Chain(GstPad*, GstObject* parent, GstBuffer* buffer) {
  auto* self = GST_NPU_INFER(parent);
  InferState& state = self->state;
  OrderedResults::Payload owned = Own(GST_MINI_OBJECT_CAST(buffer));
  ++state.frames_in;
  if (state.flow != GST_FLOW_OK) return state.flow;
  std::shared_ptr<const ModelBinding> model;
  Passage passage;
  {
    ObjectLock lock(self);
    model = state.model;
    passage = state.passage;
  }
  if (model == nullptr) return GST_FLOW_FLUSHING;
  const ModelInput* input = InputFor(buffer, *model);
  if (input == nullptr) {
    if (!IsUnprepared(buffer)) return PassThrough(self, std::move(owned));
    PostError(GST_ELEMENT(self), Status(StatusCode::kFailedPrecondition,
                                        fmt::format("frames without a picture for model {}; npupreprocess with the same "
                                                    "model has to come before npuinfer (npudetect has both)",
                                                    model->description.name)));
    return GST_FLOW_ERROR;
  }
  return Infer(self, std::move(owned), *input, *model->runner, passage);
}

// Puts the tensors in the place of the model's input, whose memory is free for the next frame.
GstBuffer* AttachOutput(GstNpuInfer* self, GstBuffer* buffer, serving::InferenceResponse response) {
  buffer = gst_buffer_make_writable(buffer);
  ModelOutput output;
  output.tensors = std::move(response.outputs);
  output.batch = response.batch;
  output.queue_wait_ns = response.queue_wait_ns;
  output.run_ns = response.run_ns;
  {
    ObjectLock lock(self);
    output.model = self->state.model;
  }
  gpointer position = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &position, NpuModelInputMeta::Api())) {
    const ModelInput& input = reinterpret_cast<NpuModelInputMeta*>(meta)->payload;
    if (output.model == nullptr || input.model->key != output.model->key) continue;
    output.transform = input.transform;
    gst_buffer_remove_meta(buffer, meta);
    break;
  }
  if (output.model != nullptr) NpuTensorMeta::Add(buffer, std::move(output));
  ++self->state.inferred;
  return buffer;
}

// Nothing goes on after this; the chain function passes `flow` on upstream.
void StopPushing(GstNpuInfer* self, GstFlowReturn flow) {
  self->state.flow = flow;
  self->state.results->Stop();
  gst_pad_pause_task(self->state.src_pad);
}

void FailInference(GstNpuInfer* self, const Status& status) {
  PostError(GST_ELEMENT(self), status.WithContext("inference"));
  StopPushing(self, GST_FLOW_ERROR);
  gst_pad_push_event(self->state.src_pad, gst_event_new_eos());
}

// Upstream may have nothing more to send and so never see `flow`: a failure has to be posted from here.
void FailPushing(GstNpuInfer* self, GstFlowReturn flow) {
  StopPushing(self, flow);
  if (flow != GST_FLOW_NOT_LINKED && flow >= GST_FLOW_EOS) return;
  GST_ELEMENT_FLOW_ERROR(self, flow);
  gst_pad_push_event(self->state.src_pad, gst_event_new_eos());
}

// The source pad's task: one item a turn.
void PushNext(gpointer user_data) {
  auto* self = static_cast<GstNpuInfer*>(user_data);
  std::optional<OrderedResults::Item> item = self->state.results->Take();
  if (!item.has_value()) {
    gst_pad_pause_task(self->state.src_pad);
    return;
  }
  auto* object = static_cast<GstMiniObject*>(item->payload.release());
  if (GST_IS_EVENT(object)) {
    gst_pad_push_event(self->state.src_pad, GST_EVENT(object));
    return;
  }
  GstBuffer* buffer = GST_BUFFER(object);
  if (item->response.has_value() && item->response->dropped.has_value()) {
    const bool late = *item->response->dropped == serving::DropReason::kDeadline;
    buffer = WithoutInference(self, buffer, late ? InferenceSkipped::kDeadline : InferenceSkipped::kQueueFull);
  } else if (item->response.has_value()) {
    if (!item->response->status.ok()) {
      gst_buffer_unref(buffer);
      FailInference(self, item->response->status);
      return;
    }
    buffer = AttachOutput(self, buffer, std::move(*item->response));
  }
  const GstFlowReturn flow = gst_pad_push(self->state.src_pad, buffer);
  if (flow != GST_FLOW_OK) FailPushing(self, flow);
}

gboolean FlushStart(GstNpuInfer* self, GstEvent* event) {
  const gboolean forwarded = gst_pad_push_event(self->state.src_pad, event);
  self->state.flow = GST_FLOW_FLUSHING;
  self->state.results->Stop();
  gst_pad_pause_task(self->state.src_pad);
  return forwarded;
}

gboolean FlushStop(GstNpuInfer* self, GstEvent* event) {
  const gboolean forwarded = gst_pad_push_event(self->state.src_pad, event);
  self->state.flow = GST_FLOW_OK;
  self->state.results->Start();
  gst_pad_start_task(self->state.src_pad, PushNext, self, nullptr);
  return forwarded;
}

gboolean SinkEvent(GstPad* pad, GstObject* parent, GstEvent* event) {
  auto* self = GST_NPU_INFER(parent);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) return FlushStart(self, event);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) return FlushStop(self, event);
  if (!GST_EVENT_IS_SERIALIZED(event)) return gst_pad_event_default(pad, parent, event);
  OrderedResults::Payload owned = Own(GST_MINI_OBJECT_CAST(event));
  return self->state.results->Add(owned, true) == OrderedResults::Outcome::kAccepted;
}

gboolean SinkQuery(GstPad* pad, GstObject* parent, GstQuery* query) {
  auto* self = GST_NPU_INFER(parent);
  // What downstream would propose is for the frames' memory, which is the decoder's; and the query would overtake
  // frames.
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION) return FALSE;
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN) self->state.results->WaitEmpty();
  return gst_pad_query_default(pad, parent, query);
}

gboolean ActivateSrc(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active) {
  auto* self = GST_NPU_INFER(parent);
  if (mode != GST_PAD_MODE_PUSH) return FALSE;
  if (active) {
    self->state.flow = GST_FLOW_OK;
    self->state.results->Start();
    return gst_pad_start_task(pad, PushNext, self, nullptr);
  }
  self->state.flow = GST_FLOW_FLUSHING;
  self->state.results->Stop();
  return gst_pad_stop_task(pad);
}

Status Start(GstNpuInfer* self) {
  InferState& state = self->state;
  ModelSelection selection;
  guint max_in_flight = 0;
  {
    ObjectLock lock(self);
    selection = state.selection;
    max_in_flight = state.max_in_flight;
  }
  NPUSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<const ModelBinding> model, AcquireModel(std::move(selection)));
  state.results = std::make_unique<OrderedResults>(max_in_flight);
  state.frames_in = state.inferred = state.passed = state.dropped = 0;
  ObjectLock lock(self);
  state.model = std::move(model);
  return Status();
}

GstStructure* Stats(GstNpuInfer* self) {
  InferState& state = self->state;
  std::shared_ptr<const ModelBinding> model;
  {
    ObjectLock lock(self);
    model = state.model;
  }
  serving::RunnerStats runner;
  if (model != nullptr) runner = model->runner->stats();
  uint64_t images = 0;
  for (size_t size = 0; size < runner.batches_by_size.size(); ++size) images += size * runner.batches_by_size[size];
  const double mean_batch = runner.batches == 0 ? 0 : static_cast<double>(images) / static_cast<double>(runner.batches);
  return gst_structure_new(
      "npuinfer-stats", "model", G_TYPE_STRING, model == nullptr ? "" : model->description.name.c_str(), "frames-in",
      G_TYPE_UINT64, state.frames_in.load(), "inferred", G_TYPE_UINT64, state.inferred.load(), "passed", G_TYPE_UINT64,
      state.passed.load(), "dropped", G_TYPE_UINT64, state.dropped.load(), "runner-requests", G_TYPE_UINT64,
      runner.requests, "runner-failures", G_TYPE_UINT64, runner.failures, "runner-batches", G_TYPE_UINT64,
      runner.batches, "mean-batch", G_TYPE_DOUBLE, mean_batch, "queue-wait-p50-ms", G_TYPE_DOUBLE,
      PercentileMs(runner.queue_wait_ns, 0.5), "queue-wait-p99-ms", G_TYPE_DOUBLE,
      PercentileMs(runner.queue_wait_ns, 0.99), nullptr);
}

}  // namespace

static GstStateChangeReturn gst_npu_infer_change_state(GstElement* element, GstStateChange transition) {
  auto* self = GST_NPU_INFER(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    if (Status status = Start(self); !status.ok()) {
      PostError(element, status);
      return GST_STATE_CHANGE_FAILURE;
    }
  }
  const GstStateChangeReturn result = GST_ELEMENT_CLASS(gst_npu_infer_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    std::shared_ptr<const ModelBinding> model;  // let go of outside the lock
    ObjectLock lock(self);
    model.swap(self->state.model);
  }
  return result;
}

static void gst_npu_infer_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  InferState& state = GST_NPU_INFER(object)->state;
  ObjectLock lock(object);
  if (SetModelProperty(state.selection, id, value)) return;
  switch (id) {
    case kPropMaxInFlight: state.max_in_flight = g_value_get_uint(value); break;
    case kPropWhenFull: state.passage.when_full = static_cast<WhenFull>(g_value_get_enum(value)); break;
    case kPropPriority: state.passage.priority = g_value_get_int(value); break;
    case kPropWeight: state.passage.weight = g_value_get_double(value); break;
    case kPropDeadlineMs: state.passage.deadline_ms = g_value_get_int(value); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
}

static void gst_npu_infer_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  auto* self = GST_NPU_INFER(object);
  if (id == kPropStats) {
    g_value_take_boxed(value, Stats(self));
    return;
  }
  ObjectLock lock(object);
  if (GetModelProperty(self->state.selection, id, value)) return;
  switch (id) {
    case kPropMaxInFlight: g_value_set_uint(value, self->state.max_in_flight); break;
    case kPropWhenFull: g_value_set_enum(value, static_cast<gint>(self->state.passage.when_full)); break;
    case kPropPriority: g_value_set_int(value, self->state.passage.priority); break;
    case kPropWeight: g_value_set_double(value, self->state.passage.weight); break;
    case kPropDeadlineMs: g_value_set_int(value, self->state.passage.deadline_ms); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
}

static void gst_npu_infer_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_INFER(object)->state);
  G_OBJECT_CLASS(gst_npu_infer_parent_class)->finalize(object);
}

static void gst_npu_infer_class_init(GstNpuInferClass* klass) {
  GST_DEBUG_CATEGORY_INIT(npu_infer_debug, "npuinfer", 0, "NPU inference");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_infer_set_property;
  object_class->get_property = gst_npu_infer_get_property;
  object_class->finalize = gst_npu_infer_finalize;
  InstallModelProperties(object_class);
  g_object_class_install_property(object_class, kPropMaxInFlight,
                                  g_param_spec_uint("max-in-flight", "Frames in flight",
                                                    "Frames of this element that may be with the model at once", 1,
                                                    1024, kDefaultMaxInFlight, kReadWrite));
  g_object_class_install_property(
      object_class, kPropWhenFull,
      g_param_spec_enum("when-full", "When full",
                        "What happens to a frame that comes while max-in-flight frames are with "
                        "the model",
                        WhenFullType(), static_cast<gint>(WhenFull::kBlock), kReadWriteAnyTime));
  g_object_class_install_property(
      object_class, kPropPriority,
      g_param_spec_int("priority", "Priority", "Frames of a higher one leave the model's queue first", -100, 100, 0,
                       kReadWriteAnyTime));
  g_object_class_install_property(
      object_class, kPropWeight,
      g_param_spec_double("weight", "Weight", "Frames that leave the queue for each frame of a camera of weight 1 and the same priority", 0.02,
                          100, 1, kReadWriteAnyTime));
  g_object_class_install_property(
      object_class, kPropDeadlineMs,
      g_param_spec_int("deadline-ms", "Deadline",
                       "A frame that has waited so many milliseconds for the model goes on without detections; 0: never",
                       0, 60000, 0, kReadWriteAnyTime));
  g_object_class_install_property(
      object_class, kPropStats,
      g_param_spec_boxed(
          "stats", "Statistics",
          "This element: frames-in, inferred, passed (no input for the model), dropped "
          "(when-full=pass, queue-policy, deadline-ms). The shared runner: model, runner-requests, runner-failures, runner-batches, "
          "mean-batch (frames), queue-wait-p50-ms, queue-wait-p99-ms",
          GST_TYPE_STRUCTURE, kReadOnly));

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "NPU inference", "Filter/Analyzer/Video/Hardware",
                                        "Runs a model on the pictures that npupreprocess attached, in batches shared "
                                        "by all cameras, and attaches the output "
                                        "tensors; frames and events keep their order",
                                        "npustream");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  element_class->change_state = gst_npu_infer_change_state;
}

static void gst_npu_infer_init(GstNpuInfer* self) {
  std::construct_at(&self->state);
  InferState& state = self->state;
  state.results = std::make_unique<OrderedResults>(kDefaultMaxInFlight);
  state.sink_pad = gst_pad_new_from_static_template(&sink_template, "sink");
  gst_pad_set_chain_function(state.sink_pad, Chain);
  gst_pad_set_event_function(state.sink_pad, SinkEvent);
  gst_pad_set_query_function(state.sink_pad, SinkQuery);
  GST_PAD_SET_PROXY_CAPS(state.sink_pad);
  gst_element_add_pad(GST_ELEMENT(self), state.sink_pad);
  state.src_pad = gst_pad_new_from_static_template(&src_template, "src");
  gst_pad_set_activatemode_function(state.src_pad, ActivateSrc);
  GST_PAD_SET_PROXY_CAPS(state.src_pad);
  gst_element_add_pad(GST_ELEMENT(self), state.src_pad);
}
