#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <acl/acl.h>

#include "base/clock.h"
#include "base/status.h"
#include "runtime/serving/model_store.h"
#include "runtime/serving/scheduler_options.h"

namespace npustream::serving {

struct TensorInfo {
  std::string name;
  aclDataType type = ACL_FLOAT;
  std::vector<int64_t> dims;  // of one image: axis 0 is 1
  size_t bytes = 0;           // of one image
};

// What a loaded model takes and gives. `picture_*` tell what VPC has to write into input 0; width and height are 0 for
// a model without static AIPP, which takes a tensor and no picture.
struct ModelInfo {
  TensorInfo input;
  std::vector<TensorInfo> outputs;
  std::vector<int64_t> gears;  // batch sizes, ascending
  PictureFormat picture_format = PictureFormat::kNv12;
  int picture_width = 0;
  int picture_height = 0;
};

// What becomes of a request for which there is no room.
enum class QueuePolicy {
  kBlock,       // Submit waits
  kDropOldest,  // the source's oldest request that waits is answered with kResourceExhausted
  kFail,        // it is answered with kResourceExhausted itself
};

// Of configurations and properties, in the order of QueuePolicy.
inline constexpr std::array kQueuePolicyNames{"block", "drop-oldest", "fail"};

struct RunnerOptions {
  std::filesystem::path om;
  int device_id = 0;
  int batch_size = 8;        // largest batch; more than the largest gear counts as that
  int batch_timeout_ms = 0;  // how long the oldest request may be held back to fill the batch; 0: work-conserving
  int queue_size = 64;       // requests waiting, shared among the sources that wait
  QueuePolicy queue_policy = QueuePolicy::kBlock;
  int depth = 2;             // batches in flight on the model's stream
  double weight = 1;         // > 0: stretches the model's turns on the device
  SchedulerOptions scheduling{};  // of the device's models; the first runner on it decides
};

// The output tensors of one image in pinned host memory; lives until the last copy of the pointer goes, and may outlive
// the runner. The memory is recycled: a runner holds as much as its callers do, plus depth · batch_size images in
// reserve.
class InferenceOutputs {
 public:
  virtual ~InferenceOutputs() = default;
  // In the order of ModelInfo::outputs; `bytes` of TensorInfo each.
  virtual std::span<const std::byte> tensor(size_t index) const = 0;
};

// Why a request was answered without a run.
enum class DropReason { kQueueFull, kDeadline };

struct InferenceResponse {
  Status status;
  std::shared_ptr<const InferenceOutputs> outputs;  // null on failure; shared because several elements may look at it
  int batch = 0;                                    // how many images ran together
  int64_t queue_wait_ns = 0;                        // from Submit to the start of the batch
  int64_t run_ns = 0;                               // from there until the outputs were on the host
  std::optional<DropReason> dropped{};              // with a failure that says the same in words
};

struct InferenceRequest {
  // Device memory with one picture of ModelInfo's format, `input.bytes` long. `keep_alive` holds it until the response.
  const void* device_input = nullptr;
  std::shared_ptr<void> keep_alive;
  uint64_t source = 0;  // whose frame it is; responses of one source come in the order of submission
  int priority = 0;         // requests of a higher one leave first
  double weight = 1;        // share of the source's turns among sources of its priority
  int64_t deadline_ns = 0;  // by the runner's clock: answered with kTimeout when it has not begun by then; 0: none
  // Called once, on a thread of the runner's own or within another Submit; must not block for long and must not destroy
  // the runner.
  std::function<void(InferenceResponse)> done;
};

struct SourceStats {
  uint64_t ran = 0;           // well or not
  uint64_t dropped_full = 0;  // pushed out by a newer one, or not taken, as the queue was full
  uint64_t expired = 0;       // past their deadlines
};

struct RunnerStats {
  uint64_t requests = 0;  // that ran, well or not
  std::map<uint64_t, SourceStats> sources;
  uint64_t failures = 0;
  uint64_t batches = 0;
  std::vector<uint64_t> batches_by_size;  // index: images in the batch
  std::vector<int64_t> queue_wait_ns;     // of the last 4,096 requests
};

// One model on one device with its own context, stream and batcher (batcher.h says when a batch leaves, and
// model_scheduler.h whose). All calls of AscendCL happen on a thread of the runner's own and on the device's dispatcher's,
// so the caller's context is left alone. A run that fails fails its
// requests with the reason, and the runner goes on. Requests that still wait when the runner is destroyed are answered
// with kUnavailable; those on the device are finished. Thread-safe.
class ModelRunner {
 public:
  static Result<std::shared_ptr<ModelRunner>> Create(const RunnerOptions& options, Clock& clock = Clock::System());
  // The runner of this OM, device and `instance_id` in this process, made on first use and kept while somebody holds
  // it. Elements with the same model share it; later callers' other options are ignored with a warning.
  static Result<std::shared_ptr<ModelRunner>> Acquire(const RunnerOptions& options,
                                                      const std::string& instance_id = "");
  virtual ~ModelRunner() = default;

  virtual const ModelInfo& info() const = 0;
  // A full queue: see QueuePolicy. Fails without calling `done` when the request is malformed or the runner is being shut
  // down.
  virtual Status Submit(InferenceRequest request) = 0;
  virtual RunnerStats stats() const = 0;
};

}  // namespace npustream::serving
