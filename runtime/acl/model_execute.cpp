#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include <acl/acl_mdl.h>
#include <fmt/ranges.h>

#include "runtime/acl/context.h"
#include "runtime/acl/data_buffer.h"
#include "runtime/acl/dataset.h"
#include "runtime/acl/error.h"
#include "runtime/acl/memory.h"
#include "runtime/acl/model.h"

namespace npustream::acl {
namespace {

aclError GeError(uint32_t code) { return static_cast<aclError>(code); }

// What a run is made of, once the handles have been looked up.
struct Request {
  uint32_t model_id = 0;
  std::shared_ptr<LoadedModel> model;
  std::shared_ptr<Dataset> input;
  std::shared_ptr<Dataset> output;
};

aclError FindRequest(uint32_t model_id, const aclmdlDataset* input, const aclmdlDataset* output, Request* request) {
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  *request = {model_id, FindModel(model_id), Datasets().Find(input), Datasets().Find(output)};
  if (request->model == nullptr) return NoModel(model_id);
  if (request->model->context() != context->handle()) {
    return Fail(ACL_ERROR_RT_MODEL_CONTEXT, "model {} was loaded in another context than this thread's", model_id);
  }
  if (request->input == nullptr || request->output == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "the {} dataset is null or was destroyed",
                request->input == nullptr ? "input" : "output");
  }
  return ACL_SUCCESS;
}

std::string TextOf(const std::vector<int64_t>& choice) { return fmt::format("{}", fmt::join(choice, ",")); }

aclError NoGear(uint32_t model_id, const std::vector<int64_t>& choice) {
  return Fail(GeError(ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID), "{} is no gear of model {}", TextOf(choice), model_id);
}

aclError ChooseGear(const Request& request, size_t* gear) {
  const ModelDescription& model = *request.model->description();
  const auto& choice = request.input->choice;
  const auto found = choice ? model.info.FindGear(*choice) : std::optional(model.largest_gear);
  if (!found) return NoGear(request.model_id, *choice);
  *gear = *found;
  return ACL_SUCCESS;
}

// The host's view of one buffer. `what` is "input" or "output"; `mismatch` the code for one that is too small.
aclError LookUpBuffer(const char* what, size_t index, const PortDescription& port, const DataBuffer& buffer,
                      size_t needed, aclError mismatch, std::byte** host) {
  if (buffer.size < needed) {
    return Fail(mismatch, "{} {} (\"{}\") has {} bytes, {} are needed", what, index, port.name, buffer.size, needed);
  }
  MemorySpan span;
  const aclError error = LookUpDevice(what, buffer.data, needed, &span);
  if (error != ACL_SUCCESS) return error;
  *host = span.host;
  return ACL_SUCCESS;
}

aclError FillInputs(const Request& request, ModelRun& run) {
  const ModelDescription& model = *request.model->description();
  const auto& handles = request.input->buffers;
  if (handles.size() != model.inputs.size()) {
    return Fail(ACL_ERROR_MODEL_INPUT_NOT_MATCH, "model {} has {} inputs, the dataset {} buffers", request.model_id,
                model.inputs.size(), handles.size());
  }
  for (size_t index = 0; index < handles.size(); ++index) {
    const auto buffer = DataBuffers().Find(handles[index]);
    if (buffer == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "the data buffer of input {} was destroyed", index);
    const bool is_gear = index >= run.inputs.size();
    const size_t needed = is_gear ? model.inputs[index].bytes : request.model->program().InputBytes(index, run.gear);
    const aclError mismatch =
        is_gear ? GeError(ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID) : ACL_ERROR_MODEL_INPUT_NOT_MATCH;
    std::byte* host = nullptr;
    const aclError error = LookUpBuffer("input", index, model.inputs[index], *buffer, needed, mismatch, &host);
    if (error != ACL_SUCCESS) return error;
    if (!is_gear) run.inputs[index] = host;
  }
  return ACL_SUCCESS;
}

// An output without memory gets some, which belongs to the caller afterwards.
aclError ProvideOutput(const Request& request, size_t needed, DataBuffer& buffer) {
  if (buffer.data != nullptr || buffer.size != 0) return ACL_SUCCESS;
  const auto block = request.model->device().memory().Allocate(needed, device::PagePolicy::kHugeFirst);
  if (!block.ok()) return Fail(GeError(ACL_ERROR_GE_MEMORY_ALLOCATION), block.status().message());
  buffer = {*block, needed};
  return ACL_SUCCESS;
}

aclError FillOutputs(const Request& request, ModelRun& run) {
  const ModelDescription& model = *request.model->description();
  const auto& handles = request.output->buffers;
  if (handles.size() != model.outputs.size()) {
    return Fail(ACL_ERROR_MODEL_OUTPUT_NOT_MATCH, "model {} has {} outputs, the dataset {} buffers", request.model_id,
                model.outputs.size(), handles.size());
  }
  for (size_t index = 0; index < handles.size(); ++index) {
    const auto buffer = DataBuffers().Find(handles[index]);
    if (buffer == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "the data buffer of output {} was destroyed", index);
    const size_t needed = request.model->program().OutputBytes(index, run.gear);
    if (const aclError error = ProvideOutput(request, needed, *buffer); error != ACL_SUCCESS) return error;
    const aclError error = LookUpBuffer("output", index, model.outputs[index], *buffer, needed,
                                        ACL_ERROR_MODEL_OUTPUT_NOT_MATCH, &run.outputs[index]);
    if (error != ACL_SUCCESS) return error;
  }
  return ACL_SUCCESS;
}

// Checks everything and appends the run to `stream`. `failure`: where a caller that waits wants to find one of the run.
aclError Submit(const Request& request, device::Stream& stream, Status* failure) {
  ModelRunHandle run = request.model->BeginRun(stream);
  if (run == nullptr) {
    return Fail(ACL_ERROR_RT_STREAM_MODEL, "model {} is running on another stream; a model id runs on one at a time",
                request.model_id);
  }
  run->failure = failure;
  if (const aclError error = ChooseGear(request, &run->gear); error != ACL_SUCCESS) return error;
  if (const aclError error = FillInputs(request, *run); error != ACL_SUCCESS) return error;
  if (const aclError error = FillOutputs(request, *run); error != ACL_SUCCESS) return error;

  const int parts = request.model->program().PartCount(run->gear);
  const Status status = stream.SubmitParts(parts, [run = std::move(run)](int part, int core) {
    Status result = run->model->program().RunPart(run->gear, part, core, run->inputs, run->outputs);
    if (result.ok() || run->failure == nullptr) return result;
    run->model->ReportFailure(*run, std::move(result));
    return Status();
  });
  return status.ok() ? ACL_SUCCESS : Fail(status, Area::kRuntime);
}

// What aclmdlSetDynamic… changes.
struct Tuning {
  std::shared_ptr<LoadedModel> model;
  std::shared_ptr<Dataset> dataset;
};

aclError FindTuning(uint32_t model_id, const aclmdlDataset* dataset, Tuning* tuning) {
  *tuning = {FindModel(model_id), Datasets().Find(dataset)};
  if (tuning->model == nullptr) return NoModel(model_id);
  if (tuning->dataset == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "the dataset is null or was destroyed");
  return ACL_SUCCESS;
}

// Whether input `index` is the one that a gear is chosen by, in a model that has gears of this kind.
aclError CheckChoice(const Tuning& tuning, uint32_t model_id, size_t index, om::Dynamic dynamic, const char* option) {
  const ModelDescription& model = *tuning.model->description();
  if (model.info.dynamic != dynamic)
    return Fail(ACL_ERROR_MODEL_NOT_DYNAMIC, "model {} was compiled without --{}", model_id, option);
  if (index + 1 == model.inputs.size() && index < tuning.dataset->buffers.size()) return ACL_SUCCESS;
  return Fail(GeError(ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID),
              "input {} is not \"{}\" (that is {}), or has no buffer", index, ACL_DYNAMIC_TENSOR_NAME,
              model.inputs.size() - 1);
}

// What the runs that use the dataset are chosen by from now on, whether it is a gear or not.
aclError SetChoice(const Tuning& tuning, uint32_t model_id, std::span<const int64_t> choice) {
  auto& kept = tuning.dataset->choice;
  if (!kept) kept.emplace();
  kept->assign(choice.begin(), choice.end());
  const auto gear = tuning.model->description()->info.FindGear(choice);
  if (!gear) return NoGear(model_id, *kept);
  tuning.model->set_current_gear(*gear);
  return ACL_SUCCESS;
}

// Dims of all inputs in a row must be as many as there are, and those that no gear changes must be the model's.
aclError CheckFixedDims(const om::OmInfo& info, std::span<const int64_t> dims) {
  const std::vector<int64_t>& first = info.gears.front().values;
  if (dims.size() != first.size()) {
    return Fail(GeError(ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID),
                "{} dims were given, all inputs together have {}", dims.size(), first.size());
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool fixed = std::all_of(info.gears.begin(), info.gears.end(),
                                   [&](const om::Gear& gear) { return gear.values[i] == first[i]; });
    if (fixed && dims[i] != first[i]) {
      return Fail(GeError(ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID), "dim {} is {}, and always {} in the model", i,
                  dims[i], first[i]);
    }
  }
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face
using npustream::Status;
using npustream::om::Dynamic;

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output) {
  Request request;
  if (const aclError error = FindRequest(modelId, input, output, &request); error != ACL_SUCCESS) return error;
  npustream::device::Stream& stream = request.model->own_stream();
  Status failure;
  if (const aclError error = Submit(request, stream, &failure); error != ACL_SUCCESS) return error;
  (void)stream.Synchronize();  // failures of a run go to whoever waits for it, not to the stream
  if (failure.ok()) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_MODEL_EXECUTE, "model {}: {}", modelId, failure.message());
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output, aclrtStream stream) {
  std::shared_ptr<StreamObject> found;
  if (const aclError error = FindStream(stream, &found); error != ACL_SUCCESS) return error;
  Request request;
  if (const aclError error = FindRequest(modelId, input, output, &request); error != ACL_SUCCESS) return error;
  return Submit(request, *found->stream, nullptr);
}

aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset* dataset, size_t index, uint64_t batchSize) {
  Tuning tuning;
  aclError error = FindTuning(modelId, dataset, &tuning);
  if (error == ACL_SUCCESS) error = CheckChoice(tuning, modelId, index, Dynamic::kBatch, "dynamic_batch_size");
  if (error != ACL_SUCCESS) return error;
  const int64_t choice[] = {static_cast<int64_t>(batchSize)};
  return SetChoice(tuning, modelId, choice);
}

aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset* dataset, size_t index, uint64_t height,
                                uint64_t width) {
  Tuning tuning;
  aclError error = FindTuning(modelId, dataset, &tuning);
  if (error == ACL_SUCCESS) error = CheckChoice(tuning, modelId, index, Dynamic::kImageSize, "dynamic_image_size");
  if (error != ACL_SUCCESS) return error;
  const int64_t choice[] = {static_cast<int64_t>(height), static_cast<int64_t>(width)};
  return SetChoice(tuning, modelId, choice);
}

aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset* dataset, size_t index, const aclmdlIODims* dims) {
  if (dims == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no dims were given");
  Tuning tuning;
  aclError error = FindTuning(modelId, dataset, &tuning);
  if (error == ACL_SUCCESS) error = CheckChoice(tuning, modelId, index, Dynamic::kDims, "dynamic_dims");
  if (error != ACL_SUCCESS) return error;
  const std::span<const int64_t> choice(dims->dims, std::min<size_t>(dims->dimCount, ACL_MAX_DIM_CNT));
  const aclError chosen = SetChoice(tuning, modelId, choice);
  if (chosen == ACL_SUCCESS) return ACL_SUCCESS;
  error = CheckFixedDims(tuning.model->description()->info, choice);
  return error == ACL_SUCCESS ? chosen : error;
}
