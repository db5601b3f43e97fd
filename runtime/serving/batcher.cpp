#include "runtime/serving/batcher.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace npustream::serving {

Batcher::Batcher(BatcherOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), waiting_(options_.queue_size) {
  assert(!options_.gears.empty() && options_.batch_size > 0 && options_.queue_size > 0 && options_.depth > 0);
  assert(options_.gear_costs.empty() || options_.gear_costs.size() == options_.gears.size());
  // The cheapest way to run n requests begins with some gear and goes on with the cheapest way for the rest.
  cuts_.resize(static_cast<size_t>(options_.batch_size) + 1);
  for (int n = 1; n <= options_.batch_size; ++n) {
    Cut& best = cuts_[static_cast<size_t>(n)];
    for (size_t i = 0; i < options_.gears.size(); ++i) {
      const int64_t gear = options_.gears[i];
      const int count = static_cast<int>(std::min<int64_t>(n, gear));
      const double gear_cost = options_.gear_costs.empty() ? static_cast<double>(gear) : options_.gear_costs[i];
      const double cost = gear_cost + cuts_[static_cast<size_t>(n - count)].cost;
      // Of equal costs the larger gear, unless it only adds images that nobody wants.
      if (best.count == 0 || cost < best.cost || (cost == best.cost && count > best.count)) best = {count, gear, cost};
    }
  }
}

void Batcher::Push(InferenceRequest request) {
  waiting_.Push({std::move(request), clock_.NowNs()});
}

bool Batcher::HeldBack() const {
  if (waiting_.size() >= static_cast<size_t>(options_.batch_size)) return false;
  return clock_.NowNs() - waiting_.oldest_submitted_ns() < options_.batch_timeout_ns;
}

bool Batcher::Take(Batch& batch) {
  if (!Ready()) return false;
  const Cut& cut = cuts_[std::min(waiting_.size(), cuts_.size() - 1)];
  batch.gear = cut.gear;
  batch.requests.clear();
  for (int i = 0; i < cut.count; ++i) batch.requests.push_back(waiting_.Pop());
  ++in_flight_;
  images_in_flight_ += batch.requests.size();
  return true;
}

void Batcher::Finish(size_t requests) {
  assert(in_flight_ > 0 && images_in_flight_ >= requests);
  --in_flight_;
  images_in_flight_ -= requests;
}

std::optional<int64_t> Batcher::WakeAtNs() const {
  if (waiting_.empty() || in_flight_ >= options_.depth || !HeldBack()) return std::nullopt;
  return waiting_.oldest_submitted_ns() + options_.batch_timeout_ns;
}

}  // namespace npustream::serving
