#include "elements/postprocess/result_builder.h"

#include <fmt/format.h>

namespace npustream::elements {
namespace {

std::string LabelOf(const std::vector<std::string>& labels, int32_t label_id) {
  const auto index = static_cast<size_t>(label_id);
  return index < labels.size() ? labels[index] : fmt::format("{}", label_id);
}

}  // namespace

Result<const ResultBuilder::Prepared*> ResultBuilder::Prepare(const ModelBinding& model) {
  if (const auto found = prepared_.find(model.key); found != prepared_.end()) return &found->second;
  serving::ModelDescription description = model.description;
  if (!overrides_.labels.empty()) description.labels = overrides_.labels;
  PostprocessOptions options = OptionsOf(description);
  options.threshold = overrides_.threshold.value_or(options.threshold);
  options.nms.iou_limit = overrides_.nms_iou.value_or(options.nms.iou_limit);
  options.nms.agnostic = overrides_.nms_agnostic.value_or(options.nms.agnostic);
  options.nms.max_detections = overrides_.max_detections.value_or(options.nms.max_detections);
  const serving::ModelInfo& info = model.info();
  std::vector<OutputShape> outputs;
  for (const serving::TensorInfo& output : info.outputs) {
    if (output.type != ACL_FLOAT) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("model {}: output {} is not float32", description.name, output.name));
    }
    outputs.push_back({output.name, output.dims});
  }
  Result<std::unique_ptr<Postprocessor>> postprocessor =
      Postprocessor::Create(description, outputs, info.picture_width, info.picture_height, options);
  if (!postprocessor.ok()) return postprocessor.status().WithContext(fmt::format("model {}", description.name));
  Prepared& prepared = prepared_[model.key];
  prepared = {std::move(*postprocessor), std::move(description.labels)};
  return &prepared;
}

Result<DetectionResult> ResultBuilder::Build(const ModelOutput& output) {
  NPUSTREAM_ASSIGN_OR_RETURN(const Prepared* prepared, Prepare(*output.model));
  std::vector<const float*> tensors;
  for (size_t index = 0; index < output.model->info().outputs.size(); ++index) {
    tensors.push_back(reinterpret_cast<const float*>(output.tensors->tensor(index).data()));
  }
  DetectionResult result;
  result.model_name = output.model->description.name;
  result.model_version = output.model->description.version;
  result.profile = overrides_.profile;
  result.frame_width = output.transform.frame_width;
  result.frame_height = output.transform.frame_height;
  for (Detection& detection : prepared->postprocessor->Process(tensors, output.transform)) {
    std::string label = LabelOf(prepared->labels, detection.label_id);
    if (!overrides_.object_classes.empty() && !overrides_.object_classes.contains(label)) continue;
    result.objects.push_back({std::move(detection), std::move(label), -1});
  }
  return result;
}

std::set<std::string> ParseClassList(const std::string& text) {
  constexpr const char* kBlanks = " \t\r\n";
  std::set<std::string> classes;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const size_t first = text.find_first_not_of(kBlanks, begin);
    if (first < end) classes.insert(text.substr(first, text.find_last_not_of(kBlanks, end - 1) - first + 1));
    begin = end + 1;
  }
  return classes;
}

}  // namespace npustream::elements
