#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "runtime/serving/request_queue.h"

namespace npustream::serving {

struct BatcherOptions {
  std::vector<int64_t> gears{1};  // batch sizes the model can run, ascending
  int batch_size = 1;             // largest batch
  int64_t batch_timeout_ns = 0;   // how long the oldest request may be held back for a fuller batch
  int queue_size = 64;  // requests waiting, shared among their sources (request_queue.h)
  int depth = 2;  // batches in flight
  // What a run at each gear costs, in any unit; empty: in proportion to the gear, as on a device that is short of
  // cores.
  std::vector<double> gear_costs{};
};

// Requests that leave together, run at `gear` ≥ their number.
struct Batch {
  std::vector<PendingRequest> requests;
  int64_t gear = 0;
};

// Decides which requests leave together and when, without threads or a device: its owner calls it under a lock.
//
// Work-conserving: while a batch may be put in flight, what waits leaves at once; while none may, requests gather. A
// timeout turns that into holding back for at most that long until batch_size requests are there. Whose request comes
// next is the queue's matter. What waits is cut into gears at the least total cost: with gears 1, 2, 4 and costs in
// proportion, three requests leave as two and one rather than as four with one wasted.
class Batcher {
 public:
  Batcher(BatcherOptions options, const Clock& clock);

  bool HasRoom(uint64_t source) const { return waiting_.HasRoom(source); }
  // The caller has made sure of room.
  void Push(InferenceRequest request);
  // Makes room for a source by taking away its oldest request; nothing when none waits.
  std::optional<PendingRequest> DropOldestOf(uint64_t source) { return waiting_.PopOldestOf(source); }
  // Takes away what came too late for its deadline.
  std::vector<PendingRequest> TakeExpired() { return waiting_.TakeExpired(clock_.NowNs()); }
  // Whether anything waits that is not held back for a fuller batch.
  bool HasWork() const { return !waiting_.empty() && !HeldBack(); }
  // Whether a batch may leave now.
  bool Ready() const { return HasWork() && in_flight_ < options_.depth; }
  // Moves the next batch into `batch` when one is to leave now, and counts it as in flight. Keeps batch's storage.
  bool Take(Batch& batch);
  // A batch that was in flight is done; it had so many requests.
  void Finish(size_t requests);
  // When Take() will answer otherwise by the passing of time alone; nothing while only Push or Finish can change it.
  std::optional<int64_t> WakeAtNs() const;
  // Takes away everything that waits.
  std::vector<PendingRequest> TakeAll() { return waiting_.TakeAll(); }

  size_t waiting() const { return waiting_.size(); }
  int in_flight() const { return in_flight_; }
  size_t images_in_flight() const { return images_in_flight_; }
  // When the request that has waited longest came; not to be called when nothing waits.
  int64_t oldest_submitted_ns() const { return waiting_.oldest_submitted_ns(); }

 private:
  struct Cut {
    int count = 0;
    int64_t gear = 0;
    double cost = 0;
  };

  bool HeldBack() const;

  const BatcherOptions options_;
  const Clock& clock_;
  std::vector<Cut> cuts_;  // index: requests that wait, at most batch_size
  RequestQueue waiting_;
  int in_flight_ = 0;
  size_t images_in_flight_ = 0;
};

}  // namespace npustream::serving
