#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <acl/acl.h>

#include "base/status.h"
#include "base/unique_handle.h"
#include "runtime/serving/batcher.h"
#include "runtime/serving/loaded_model.h"
#include "runtime/serving/output_pool.h"

namespace npustream::serving {

// The device buffers of one batch in flight, made once: an input batch, the outputs, the datasets that name them. Used
// on threads in the model's context, by one at a time; must go before the model.
class BatchSlot {
 public:
  static Result<std::unique_ptr<BatchSlot>> Create(const LoadedModel& model);
  ~BatchSlot();
  BatchSlot(const BatchSlot&) = delete;
  BatchSlot& operator=(const BatchSlot&) = delete;

  // Takes memory for the batch's outputs. On failure nothing is on the stream.
  Status Prepare(OutputPool& pool);
  // Puts gathering, run, copies to the host and the slot's event on the model's stream. May be repeated.
  Status Enqueue();
  // Waits until what Enqueue has put on the stream is done; the failure of any task up to there.
  Status Wait();

  Batch batch;
  std::vector<std::shared_ptr<HostOutputs>> outputs;  // of each request
  int64_t started_ns = 0;
  Status launch_status;

 private:
  explicit BatchSlot(const LoadedModel& model) : model_(model) {}

  struct DatasetDeleter {
    void operator()(aclmdlDataset* dataset) const;
  };
  using Dataset = std::unique_ptr<aclmdlDataset, DatasetDeleter>;
  using DeviceBlock = UniqueHandle<void, aclrtFree>;

  Status Allocate();
  Result<void*> AllocateBlock(size_t bytes);
  Status AddBuffer(aclmdlDataset* dataset, void* data, size_t bytes);
  Status EnqueueInput();
  Status EnqueueOutputs();

  const LoadedModel& model_;
  std::vector<DeviceBlock> blocks_;
  std::byte* input_batch_ = nullptr;  // largest gear · input bytes; null when only single images are run
  std::vector<std::byte*> device_outputs_;
  Dataset input_;
  Dataset output_;
  aclrtEvent done_ = nullptr;
};

}  // namespace npustream::serving
