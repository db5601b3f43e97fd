#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "runtime/serving/acl_session.h"
#include "runtime/serving/model_runner.h"

namespace npustream::serving {

// One image's outputs in one block of pinned host memory, which goes back to its pool at the end.
class HostOutputs : public InferenceOutputs {
 public:
  HostOutputs(std::shared_ptr<class OutputPool> pool, std::byte* block) : pool_(std::move(pool)), block_(block) {}
  ~HostOutputs() override;
  HostOutputs(const HostOutputs&) = delete;
  HostOutputs& operator=(const HostOutputs&) = delete;

  std::span<const std::byte> tensor(size_t index) const override;
  std::byte* data(size_t index);

 private:
  const std::shared_ptr<OutputPool> pool_;  // shared, as outputs may outlive the runner
  std::byte* const block_;
};

// Blocks of pinned host memory for outputs. Grows with what is held outside, since blocking could bring a pipeline to a
// stand that holds outputs until others have come; up to `reserve` unused blocks are kept, the rest is freed.
// Thread-safe.
class OutputPool : public std::enable_shared_from_this<OutputPool> {
 public:
  OutputPool(std::shared_ptr<AclSession> session, const std::vector<TensorInfo>& outputs, size_t reserve);
  ~OutputPool();

  // To be called where a context is current. kResourceExhausted when there is no memory.
  Result<std::shared_ptr<HostOutputs>> Take();

 private:
  friend class HostOutputs;
  struct Extent {
    size_t offset = 0, bytes = 0;
  };
  void GiveBack(std::byte* block);

  const std::shared_ptr<AclSession> session_;
  std::vector<Extent> extents_;
  size_t block_bytes_ = 0;
  const size_t reserve_;
  Mutex mutex_;
  std::vector<std::byte*> unused_ NPUSTREAM_GUARDED_BY(mutex_);
};

}  // namespace npustream::serving
