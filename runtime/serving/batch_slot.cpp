#include "runtime/serving/batch_slot.h"

#include "runtime/serving/acl_status.h"

namespace npustream::serving {

void BatchSlot::DatasetDeleter::operator()(aclmdlDataset* dataset) const {
  for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
    aclDestroyDataBuffer(aclmdlGetDatasetBuffer(dataset, i));
  }
  aclmdlDestroyDataset(dataset);
}

Result<std::unique_ptr<BatchSlot>> BatchSlot::Create(const LoadedModel& model) {
  std::unique_ptr<BatchSlot> slot(new BatchSlot(model));
  NPUSTREAM_RETURN_IF_ERROR(slot->Allocate());
  return slot;
}

BatchSlot::~BatchSlot() {
  if (done_ != nullptr) aclrtDestroyEvent(done_);
}

Result<void*> BatchSlot::AllocateBlock(size_t bytes) {
  void* data = nullptr;
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "allocating a batch's buffers");
  blocks_.emplace_back(data);
  return data;
}

Status BatchSlot::AddBuffer(aclmdlDataset* dataset, void* data, size_t bytes) {
  aclDataBuffer* buffer = aclCreateDataBuffer(data, bytes);
  const aclError error = aclmdlAddDatasetBuffer(dataset, buffer);
  if (error != ACL_SUCCESS) aclDestroyDataBuffer(buffer);
  return AclStatus(error, "describing a batch's buffers");
}

Status BatchSlot::Allocate() {
  const ModelInfo& info = model_.info();
  const auto largest = static_cast<size_t>(info.gears.back());
  input_.reset(aclmdlCreateDataset());
  output_.reset(aclmdlCreateDataset());

  if (largest > 1) {
    const size_t bytes = largest * info.input.bytes;
    NPUSTREAM_ASSIGN_OR_RETURN(void* data, AllocateBlock(bytes));
    // Images of a batch that nobody asked for are run on what is there; it shall at least be numbers.
    NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtMemset(data, bytes, 0, bytes), "clearing a batch's input");
    input_batch_ = static_cast<std::byte*>(data);
  }
  NPUSTREAM_RETURN_IF_ERROR(AddBuffer(input_.get(), input_batch_, input_batch_ ? largest * info.input.bytes : 0));
  if (model_.batch_input()) {
    NPUSTREAM_ASSIGN_OR_RETURN(void* data, AllocateBlock(model_.batch_input()->bytes));
    NPUSTREAM_RETURN_IF_ERROR(AddBuffer(input_.get(), data, model_.batch_input()->bytes));
  }
  for (const TensorInfo& info_output : info.outputs) {
    const size_t bytes = largest * info_output.bytes;
    NPUSTREAM_ASSIGN_OR_RETURN(void* data, AllocateBlock(bytes));
    device_outputs_.push_back(static_cast<std::byte*>(data));
    NPUSTREAM_RETURN_IF_ERROR(AddBuffer(output_.get(), data, bytes));
  }
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtCreateEvent(&done_), "creating an event");
  return {};
}

Status BatchSlot::Prepare(OutputPool& pool) {
  for (size_t i = 0; i < batch.requests.size(); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<HostOutputs> taken, pool.Take());
    outputs.push_back(std::move(taken));
  }
  return {};
}

Status BatchSlot::Enqueue() {
  NPUSTREAM_RETURN_IF_ERROR(EnqueueInput());
  if (model_.batch_input()) {
    NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlSetDynamicBatchSize(model_.id(), input_.get(), model_.batch_input()->index,
                                                            static_cast<uint64_t>(batch.gear)),
                                  "setting the batch size");
  }
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclmdlExecuteAsync(model_.id(), input_.get(), output_.get(), model_.stream()),
                                "running the model");
  NPUSTREAM_RETURN_IF_ERROR(EnqueueOutputs());
  return AclStatus(aclrtRecordEvent(done_, model_.stream()), "recording an event");
}

// A single image is run where it lies; several are gathered on the device.
Status BatchSlot::EnqueueInput() {
  const size_t bytes = model_.info().input.bytes;
  void* data = input_batch_;
  if (batch.gear == 1) {
    data = const_cast<void*>(batch.requests[0].request.device_input);
  } else {
    for (size_t i = 0; i < batch.requests.size(); ++i) {
      NPUSTREAM_RETURN_IF_ACL_ERROR(
          aclrtMemcpyAsync(input_batch_ + i * bytes, bytes, batch.requests[i].request.device_input, bytes,
                           ACL_MEMCPY_DEVICE_TO_DEVICE, model_.stream()),
          "gathering a batch");
    }
  }
  return AclStatus(
      aclUpdateDataBuffer(aclmdlGetDatasetBuffer(input_.get(), 0), data, static_cast<size_t>(batch.gear) * bytes),
      "naming a batch's input");
}

Status BatchSlot::EnqueueOutputs() {
  const std::vector<TensorInfo>& infos = model_.info().outputs;
  for (size_t image = 0; image < outputs.size(); ++image) {
    for (size_t k = 0; k < infos.size(); ++k) {
      const size_t bytes = infos[k].bytes;
      NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtMemcpyAsync(outputs[image]->data(k), bytes, device_outputs_[k] + image * bytes,
                                                     bytes, ACL_MEMCPY_DEVICE_TO_HOST, model_.stream()),
                                    "fetching outputs");
    }
  }
  return {};
}

Status BatchSlot::Wait() { return AclStatus(aclrtSynchronizeEvent(done_), "running the model"); }

}  // namespace npustream::serving
