#include "elements/infer/gst_model_properties.h"

#include "elements/support/gst_support.h"

namespace npustream::elements {
namespace {

GType PictureFormatType() {
  static const GType type = [] {
    static const GEnumValue kValues[] = {
        {static_cast<gint>(serving::PictureFormat::kNv12), "NV12, as video decoders give it", "nv12"},
        {static_cast<gint>(serving::PictureFormat::kRgb888), "packed RGB, 8 bits a channel", "rgb"},
        {0, nullptr, nullptr}};
    return g_enum_register_static("GstNpuPictureFormat", kValues);
  }();
  return type;
}

GType QueuePolicyType() {
  static const GType type = [] {
    using serving::QueuePolicy;
    static const GEnumValue kValues[] = {
        {static_cast<gint>(QueuePolicy::kBlock), "upstream waits", "block"},
        {static_cast<gint>(QueuePolicy::kDropOldest), "the camera's oldest frame that waits goes on without detections",
         "drop-oldest"},
        {static_cast<gint>(QueuePolicy::kFail), "it goes on without detections itself", "fail"},
        {0, nullptr, nullptr}};
    return g_enum_register_static("GstNpuQueuePolicy", kValues);
  }();
  return type;
}

void InstallModelChoice(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kPropModel,
      g_param_spec_string("model", "Model",
                          "Model description (YAML), the name of one, an OM or an ONNX file; ONNX is "
                          "compiled once and kept",
                          "", kReadWrite));
  g_object_class_install_property(
      klass, kPropDecoder,
      g_param_spec_string("decoder", "Box decoder",
                          "Box decoder (yolox, yolov5, yolov8, nanodet, ssd, yunet, …) for an "
                          "OM or ONNX without a description",
                          "", kReadWrite));
  g_object_class_install_property(
      klass, kPropLabelsFile,
      g_param_spec_string("labels-file", "Labels", "Text file with one label a line, in place of the description's", "",
                          kReadWrite));
  g_object_class_install_property(
      klass, kPropPictureFormat,
      g_param_spec_enum("picture-format", "Picture format",
                        "Pixel format of the model's input; an ONNX file is compiled "
                        "for it",
                        PictureFormatType(), static_cast<gint>(serving::PictureFormat::kNv12), kReadWrite));
  g_object_class_install_property(
      klass, kPropPrecision,
      g_param_spec_string("precision", "Precision", "What an ONNX file is compiled to compute in: fp32, fp16 or bf16",
                          "fp32", kReadWrite));
  g_object_class_install_property(
      klass, kPropModelInstanceId,
      g_param_spec_string("model-instance-id", "Model instance",
                          "Elements with the same model, device and instance "
                          "share one runner and its batches, also across pipelines of a process",
                          "", kReadWrite));
  g_object_class_install_property(
      klass, kPropModelDeviceId,
      g_param_spec_int("device-id", "Device", "Number of the NPU that runs the model", 0, 15, 0, kReadWrite));
}

void InstallRunnerProperties(GObjectClass* klass) {
  const serving::RunnerOptions defaults;
  g_object_class_install_property(klass, kPropBatchSize,
                                  g_param_spec_int("batch-size", "Batch size",
                                                   "Frames that run together at most; bounded by the model's largest "
                                                   "batch size",
                                                   1, 256, defaults.batch_size, kReadWrite));
  g_object_class_install_property(klass, kPropBatchTimeoutMs,
                                  g_param_spec_int("batch-timeout-ms", "Batch timeout",
                                                   "How long the oldest frame may wait for a batch to fill, in "
                                                   "milliseconds; 0: a batch leaves as soon as the model is free",
                                                   0, 60000, defaults.batch_timeout_ms, kReadWrite));
  g_object_class_install_property(
      klass, kPropQueueSize,
      g_param_spec_int("queue-size", "Queue size", "Frames that may wait for the model, shared among the cameras that wait", 1, 4096,
                       defaults.queue_size, kReadWrite));
  g_object_class_install_property(
      klass, kPropQueuePolicy,
      g_param_spec_enum("queue-policy", "Queue policy",
                        "What becomes of a frame that finds its camera's share of the queue full",
                        QueuePolicyType(), static_cast<gint>(defaults.queue_policy), kReadWrite));
  g_object_class_install_property(
      klass, kPropDepth,
      g_param_spec_int("depth", "Depth", "Batches in flight on the model's stream", 1, 16, defaults.depth, kReadWrite));
}

}  // namespace

void InstallModelProperties(GObjectClass* klass) {
  InstallModelChoice(klass);
  InstallRunnerProperties(klass);
}

bool SetModelProperty(ModelSelection& selection, guint id, const GValue* value) {
  switch (id) {
    case kPropModel: selection.request.model = StringOf(value); return true;
    case kPropDecoder: selection.request.decoder = StringOf(value); return true;
    case kPropLabelsFile: selection.request.labels_file = StringOf(value); return true;
    case kPropPictureFormat:
      selection.request.picture_format = static_cast<serving::PictureFormat>(g_value_get_enum(value));
      return true;
    case kPropPrecision: selection.request.precision = StringOf(value); return true;
    case kPropModelInstanceId: selection.instance_id = StringOf(value); return true;
    case kPropModelDeviceId: selection.runner.device_id = g_value_get_int(value); return true;
    case kPropBatchSize: selection.runner.batch_size = g_value_get_int(value); return true;
    case kPropBatchTimeoutMs: selection.runner.batch_timeout_ms = g_value_get_int(value); return true;
    case kPropQueueSize: selection.runner.queue_size = g_value_get_int(value); return true;
    case kPropQueuePolicy:
      selection.runner.queue_policy = static_cast<serving::QueuePolicy>(g_value_get_enum(value));
      return true;
    case kPropDepth: selection.runner.depth = g_value_get_int(value); return true;
    default: return false;
  }
}

bool GetModelProperty(const ModelSelection& selection, guint id, GValue* value) {
  switch (id) {
    case kPropModel: g_value_set_string(value, selection.request.model.c_str()); return true;
    case kPropDecoder: g_value_set_string(value, selection.request.decoder.c_str()); return true;
    case kPropLabelsFile: g_value_set_string(value, selection.request.labels_file.c_str()); return true;
    case kPropPictureFormat: g_value_set_enum(value, static_cast<gint>(selection.request.picture_format)); return true;
    case kPropPrecision: g_value_set_string(value, selection.request.precision.c_str()); return true;
    case kPropModelInstanceId: g_value_set_string(value, selection.instance_id.c_str()); return true;
    case kPropModelDeviceId: g_value_set_int(value, selection.runner.device_id); return true;
    case kPropBatchSize: g_value_set_int(value, selection.runner.batch_size); return true;
    case kPropBatchTimeoutMs: g_value_set_int(value, selection.runner.batch_timeout_ms); return true;
    case kPropQueueSize: g_value_set_int(value, selection.runner.queue_size); return true;
    case kPropQueuePolicy: g_value_set_enum(value, static_cast<gint>(selection.runner.queue_policy)); return true;
    case kPropDepth: g_value_set_int(value, selection.runner.depth); return true;
    default: return false;
  }
}

}  // namespace npustream::elements
