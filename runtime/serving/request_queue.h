#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/serving/model_runner.h"

namespace npustream::serving {

struct PendingRequest {
  InferenceRequest request;
  int64_t submitted_ns = 0;
};

// Answers requests that will not run.
void RefuseAll(std::vector<PendingRequest>& requests, const Status& reason, std::optional<DropReason> dropped = {});

// What waits for a model: a FIFO for each source. Sources of the highest priority come first; among those of one
// priority turns are shared by deficit round robin (M. Shreedhar, G. Varghese, "Efficient Fair Queueing Using Deficit
// Round Robin", SIGCOMM 1995) in proportion to their weights, a request costing one. Without threads of its own: its
// owner calls it under a lock.
class RequestQueue {
 public:
  // `capacity` is shared among the sources that wait, at least one request each: a source that floods fills its own
  // share, and never that of others.
  explicit RequestQueue(int capacity) : capacity_(capacity) {}

  bool HasRoom(uint64_t source) const;
  // Priority and weight of a source are those of its newest request.
  void Push(PendingRequest pending);
  // The next one; not to be called when empty.
  PendingRequest Pop();
  // The oldest of a source, which makes room for a newer one; nothing when it has none.
  std::optional<PendingRequest> PopOldestOf(uint64_t source);
  // Takes away what waits with a deadline at or before `now_ns`.
  std::vector<PendingRequest> TakeExpired(int64_t now_ns);
  std::vector<PendingRequest> TakeAll();

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // When the one that has waited longest came; not to be called when empty.
  int64_t oldest_submitted_ns() const;

 private:
  struct Source {
    std::deque<PendingRequest> waiting;
    int priority = 0;
    double weight = 1;
    double deficit = 0;
  };
  using Ring = std::deque<uint64_t>;  // sources with something that waits; the front one has its turn

  void Enter(uint64_t id, Source& source);
  void Leave(uint64_t id, Source& source);
  std::vector<PendingRequest> TakeIf(const std::function<bool(const PendingRequest&)>& wanted);

  const int capacity_;
  size_t size_ = 0;
  size_t with_deadline_ = 0;
  std::unordered_map<uint64_t, Source> sources_;        // those that wait
  std::map<int, Ring, std::greater<int>> rings_;        // by priority
};

}  // namespace npustream::serving
