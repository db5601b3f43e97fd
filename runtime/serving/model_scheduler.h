#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "runtime/serving/batcher.h"

namespace npustream::serving {

// In which order batches of several models go onto one device.
enum class SchedulingPolicy {
  // A model goes on while it has work, so that its weights and activations stay in the caches; bounded by its turn
  // and by how long the others' requests have waited.
  kGrouped,
  kFifo,  // the model whose request has waited longest
};

struct SchedulerOptions {
  SchedulingPolicy policy = SchedulingPolicy::kGrouped;
  // How long a model of weight 1 goes on while another one has a batch to give.
  int64_t turn_ns = 20'000'000;
  // A request that has waited so long ends another model's turn.
  int64_t longest_wait_ns = 40'000'000;
  // Images in flight that keep the device busy (its AI cores); with fewer, any model may come.
  size_t busy_images = 1;
};

// Decides which model's batch goes onto the device next, without threads or a device: its owner calls it, and the
// batchers, under one lock.
class ModelScheduler {
 public:
  ModelScheduler(const SchedulerOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

  // `weight` > 0 stretches the model's turns. The batcher must be removed before it goes.
  void Add(Batcher& model, double weight);
  void Remove(Batcher& model);

  // The model whose Take() is due; null when none may put a batch onto the device now.
  Batcher* Choose();
  // When Choose() will answer otherwise by the passing of time alone.
  std::optional<int64_t> WakeAtNs() const;

 private:
  struct Entry {
    Batcher* model = nullptr;
    double weight = 1;
  };

  Batcher* Oldest(const Batcher* except) const;
  bool DeviceIsBusy() const;
  // When the present turn is over for the sake of `other`.
  int64_t TurnEndsNs(const Batcher& other) const;

  const SchedulerOptions options_;
  const Clock& clock_;
  std::vector<Entry> entries_;
  Batcher* current_ = nullptr;
  double current_weight_ = 1;
  int64_t turn_began_ns_ = 0;
};

}  // namespace npustream::serving
