#pragma once

#include <cstddef>
#include <cstdint>

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
};

}  // namespace npustream::serving
