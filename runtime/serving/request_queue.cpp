#include "runtime/serving/request_queue.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace npustream::serving {
namespace {

// A turn at a smaller weight would be waited for through more rounds than anybody means.
constexpr double kLeastWeight = 1.0 / 64;

}  // namespace

void RefuseAll(std::vector<PendingRequest>& requests, const Status& reason, std::optional<DropReason> dropped) {
  for (PendingRequest& pending : requests) pending.request.done({reason, nullptr, 0, 0, 0, dropped});
}

bool RequestQueue::HasRoom(uint64_t source) const {
  const auto found = sources_.find(source);
  const size_t sharing = sources_.size() + (found == sources_.end() ? 1 : 0);
  const size_t share = std::max<size_t>(1, static_cast<size_t>(capacity_) / sharing);
  return found == sources_.end() || found->second.waiting.size() < share;
}

void RequestQueue::Push(PendingRequest pending) {
  const uint64_t id = pending.request.source;
  Source& source = sources_[id];
  source.weight = std::max(pending.request.weight, kLeastWeight);
  const int priority = pending.request.priority;
  if (!source.waiting.empty() && priority != source.priority) Leave(id, source);
  const bool enters = source.waiting.empty() || priority != source.priority;
  source.priority = priority;
  if (enters) Enter(id, source);
  ++size_;
  if (pending.request.deadline_ns != 0) ++with_deadline_;
  source.waiting.push_back(std::move(pending));
}

void RequestQueue::Enter(uint64_t id, Source& source) {
  source.deficit = 0;
  rings_[source.priority].push_back(id);
}

void RequestQueue::Leave(uint64_t id, Source& source) {
  const auto ring = rings_.find(source.priority);
  ring->second.erase(std::find(ring->second.begin(), ring->second.end(), id));
  if (ring->second.empty()) rings_.erase(ring);
}

PendingRequest RequestQueue::Pop() {
  assert(!empty());
  Ring& ring = rings_.begin()->second;
  for (;;) {
    const uint64_t id = ring.front();
    Source& source = sources_.at(id);
    if (source.deficit < 1) source.deficit += source.weight;
    const bool has_turn = source.deficit >= 1;
    if (has_turn) source.deficit -= 1;
    // What is left of a turn is for the next request of the same source.
    if (source.deficit < 1) {
      ring.pop_front();
      ring.push_back(id);
    }
    if (has_turn) return *PopOldestOf(id);
  }
}

std::optional<PendingRequest> RequestQueue::PopOldestOf(uint64_t id) {
  const auto found = sources_.find(id);
  if (found == sources_.end()) return std::nullopt;
  Source& source = found->second;
  PendingRequest pending = std::move(source.waiting.front());
  source.waiting.pop_front();
  --size_;
  if (pending.request.deadline_ns != 0) --with_deadline_;
  if (source.waiting.empty()) {
    Leave(id, source);
    sources_.erase(found);
  }
  return pending;
}

std::vector<PendingRequest> RequestQueue::TakeExpired(int64_t now_ns) {
  if (with_deadline_ == 0) return {};
  return TakeIf([now_ns](const PendingRequest& pending) {
    return pending.request.deadline_ns != 0 && pending.request.deadline_ns <= now_ns;
  });
}

std::vector<PendingRequest> RequestQueue::TakeAll() {
  return TakeIf([](const PendingRequest&) { return true; });
}

std::vector<PendingRequest> RequestQueue::TakeIf(const std::function<bool(const PendingRequest&)>& wanted) {
  std::vector<PendingRequest> taken;
  for (auto entry = sources_.begin(); entry != sources_.end();) {
    auto& [id, source] = *entry;
    const auto kept = std::stable_partition(source.waiting.begin(), source.waiting.end(),
                                            [&](const PendingRequest& pending) { return !wanted(pending); });
    for (auto pending = kept; pending != source.waiting.end(); ++pending) {
      --size_;
      if (pending->request.deadline_ns != 0) --with_deadline_;
      taken.push_back(std::move(*pending));
    }
    source.waiting.erase(kept, source.waiting.end());
    if (source.waiting.empty()) {
      Leave(id, source);
      entry = sources_.erase(entry);
    } else {
      ++entry;
    }
  }
  return taken;
}

int64_t RequestQueue::oldest_submitted_ns() const {
  int64_t oldest = std::numeric_limits<int64_t>::max();
  for (const auto& [id, source] : sources_) oldest = std::min(oldest, source.waiting.front().submitted_ns);
  return oldest;
}

}  // namespace npustream::serving
