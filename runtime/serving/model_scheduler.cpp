#include "runtime/serving/model_scheduler.h"

#include <algorithm>
#include <cassert>

namespace npustream::serving {

void ModelScheduler::Add(Batcher& model, double weight) {
  assert(weight > 0);
  entries_.push_back({&model, weight});
}

void ModelScheduler::Remove(Batcher& model) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.model == &model; });
  if (current_ == &model) current_ = nullptr;
}

Batcher* ModelScheduler::Oldest(const Batcher* except) const {
  Batcher* oldest = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.model == except || !entry.model->Ready()) continue;
    if (oldest == nullptr || entry.model->oldest_submitted_ns() < oldest->oldest_submitted_ns()) oldest = entry.model;
  }
  return oldest;
}

bool ModelScheduler::DeviceIsBusy() const {
  size_t images = 0;
  for (const Entry& entry : entries_) images += entry.model->images_in_flight();
  return images >= cores_;
}

int64_t ModelScheduler::TurnEndsNs(const Batcher& other) const {
  const int64_t turn_ns = static_cast<int64_t>(static_cast<double>(options_.turn_ns) * current_weight_);
  return std::min(turn_began_ns_ + turn_ns, other.oldest_submitted_ns() + options_.longest_wait_ns);
}

Batcher* ModelScheduler::Choose() {
  if (options_.policy == SchedulingPolicy::kFifo) return Oldest(nullptr);
  Batcher* other = Oldest(current_);
  const bool goes_on = current_ != nullptr && current_->HasWork();
  if (goes_on && (other == nullptr || clock_.NowNs() < TurnEndsNs(*other))) {
    if (current_->Ready()) return current_;
    if (DeviceIsBusy()) return nullptr;
    return other;  // a guest on idle cores; the turn stays
  }
  if (other == nullptr) return nullptr;
  current_ = other;
  turn_began_ns_ = clock_.NowNs();
  for (const Entry& entry : entries_) {
    if (entry.model == current_) current_weight_ = entry.weight;
  }
  return current_;
}

std::optional<int64_t> ModelScheduler::WakeAtNs() const {
  std::optional<int64_t> wake_at_ns;
  for (const Entry& entry : entries_) {
    const std::optional<int64_t> at_ns = entry.model->WakeAtNs();
    if (at_ns && (!wake_at_ns || *at_ns < *wake_at_ns)) wake_at_ns = at_ns;
  }
  if (options_.policy == SchedulingPolicy::kFifo || current_ == nullptr || !current_->HasWork()) return wake_at_ns;
  if (const Batcher* other = Oldest(current_)) {
    const int64_t ends_ns = TurnEndsNs(*other);
    if (!wake_at_ns || ends_ns < *wake_at_ns) wake_at_ns = ends_ns;
  }
  return wake_at_ns;
}

}  // namespace npustream::serving
