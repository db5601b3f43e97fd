#include "elements/infer/model_binding.h"

#include <fmt/format.h>

#include "runtime/serving/model_defaults.h"

namespace npustream::elements {

Result<std::shared_ptr<const ModelBinding>> AcquireModel(ModelSelection selection) {
  if (selection.request.model.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "no model: set model= to a description, its name, an OM or an ONNX file");
  }
  NPUSTREAM_ASSIGN_OR_RETURN(serving::ResolvedModel resolved, serving::ResolveModel(selection.request));
  selection.runner.om = resolved.om;
  auto binding = std::make_shared<ModelBinding>();
  binding->key = fmt::format("{}@{}#{}", resolved.om.string(), selection.runner.device_id, selection.instance_id);
  binding->description = std::move(resolved.description);
  NPUSTREAM_ASSIGN_OR_RETURN(binding->runner, serving::ModelRunner::Acquire(selection.runner, selection.instance_id));
  // An OM tells its outputs only now.
  serving::ModelDescription& description = binding->description;
  if (description.labels.empty()) {
    std::vector<std::vector<int64_t>> outputs;
    for (const serving::TensorInfo& output : binding->info().outputs) outputs.push_back(output.dims);
    description.labels = serving::DefaultLabels(description.decoder.type, outputs);
  }
  return std::shared_ptr<const ModelBinding>(std::move(binding));
}

}  // namespace npustream::elements
