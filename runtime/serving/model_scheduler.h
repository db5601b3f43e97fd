#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "runtime/serving/batcher.h"
#include "runtime/serving/scheduler_options.h"

namespace npustream::serving {

// Decides which model's batch goes onto the device next, without threads or a device: its owner calls it, and the
// batchers, under one lock.
class ModelScheduler {
 public:
  // `cores`: images in flight that keep the device busy; with fewer, any model may come.
  ModelScheduler(const SchedulerOptions& options, size_t cores, const Clock& clock)
      : options_(options), cores_(cores), clock_(clock) {}

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
  const size_t cores_;
  const Clock& clock_;
  std::vector<Entry> entries_;
  Batcher* current_ = nullptr;
  double current_weight_ = 1;
  int64_t turn_began_ns_ = 0;
};

}  // namespace npustream::serving
