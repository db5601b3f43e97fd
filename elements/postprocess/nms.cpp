#include "elements/postprocess/nms.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "base/thread_budget.h"

namespace npustream::elements {
namespace {

constexpr size_t kLanes = 16;  // boxes compared at once

// Boxes that stayed, one array per edge, filled up to whole groups with boxes that overlap nothing.
class KeptBoxes {
 public:
  void Add(const Box& box) {
    if (size_ % kLanes == 0) {
      for (std::vector<float>* edge : {&x_min_, &y_min_, &x_max_, &y_max_, &area_}) edge->resize(size_ + kLanes, 0.0f);
    }
    x_min_[size_] = box.x_min;
    y_min_[size_] = box.y_min;
    x_max_[size_] = box.x_max;
    y_max_[size_] = box.y_max;
    area_[size_] = Area(box);
    ++size_;
  }

  bool AnyOverlaps(const Box& box, float limit) const {
    const float area = Area(box);
    for (size_t begin = 0; begin < size_; begin += kLanes) {
      int hits = 0;
      for (size_t i = begin; i < begin + kLanes; ++i) {
        const float width = std::min(x_max_[i], box.x_max) - std::max(x_min_[i], box.x_min);
        const float height = std::min(y_max_[i], box.y_max) - std::max(y_min_[i], box.y_min);
        const float shared = (width > 0 ? width : 0) * (height > 0 ? height : 0);
        hits += shared > limit * (area_[i] + area - shared) ? 1 : 0;
      }
      if (hits > 0) return true;
    }
    return false;
  }

  size_t size() const { return size_; }

 private:
  static float Area(const Box& box) {
    return std::max(0.0f, box.x_max - box.x_min) * std::max(0.0f, box.y_max - box.y_min);
  }

  std::vector<float> x_min_, y_min_, x_max_, y_max_, area_;
  size_t size_ = 0;
};

// `group` are ranks (positions in `order`), ascending; the ranks that stay are left in it. A class cannot give more
// than `max_detections` to the result, so the search ends there.
void SuppressGroup(const std::vector<Detection>& candidates, const std::vector<uint32_t>& order,
                   const NmsOptions& options, std::vector<uint32_t>& group) {
  KeptBoxes kept;
  size_t stay = 0;
  for (uint32_t rank : group) {
    if (stay == static_cast<size_t>(options.max_detections)) break;
    const Box& box = candidates[order[rank]].box;
    if (kept.AnyOverlaps(box, options.iou_limit)) continue;
    kept.Add(box);
    group[stay++] = rank;
  }
  group.resize(stay);
}

// Indices of the candidates with finite confidence, best first, earlier first on ties.
std::vector<uint32_t> OrderByConfidence(const std::vector<Detection>& candidates) {
  std::vector<uint32_t> order;
  order.reserve(candidates.size());
  for (uint32_t i = 0; i < candidates.size(); ++i) {
    if (std::isfinite(candidates[i].confidence)) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (candidates[a].confidence != candidates[b].confidence)
      return candidates[a].confidence > candidates[b].confidence;
    return a < b;
  });
  return order;
}

std::vector<std::vector<uint32_t>> GroupByClass(const std::vector<Detection>& candidates,
                                                const std::vector<uint32_t>& order, bool agnostic) {
  std::map<int32_t, std::vector<uint32_t>> by_class;
  for (uint32_t rank = 0; rank < order.size(); ++rank) {
    by_class[agnostic ? 0 : candidates[order[rank]].label_id].push_back(rank);
  }
  std::vector<std::vector<uint32_t>> groups;
  groups.reserve(by_class.size());
  for (auto& [label_id, ranks] : by_class) groups.push_back(std::move(ranks));
  return groups;
}

// Opened on first use with the budget of that moment, like the devices.
tbb::task_arena& Arena() {
  static tbb::task_arena arena(ThreadBudget());
  return arena;
}

}  // namespace

std::vector<Detection> SuppressNonMaxima(std::vector<Detection> candidates, const NmsOptions& options) {
  if (options.max_detections <= 0) return {};
  const std::vector<uint32_t> order = OrderByConfidence(candidates);
  std::vector<std::vector<uint32_t>> groups = GroupByClass(candidates, order, options.agnostic);
  if (groups.size() > 1 && order.size() >= options.parallel_from) {
    Arena().execute([&] {
      tbb::parallel_for(size_t{0}, groups.size(),
                        [&](size_t i) { SuppressGroup(candidates, order, options, groups[i]); });
    });
  } else {
    for (std::vector<uint32_t>& group : groups) SuppressGroup(candidates, order, options, group);
  }
  std::vector<uint32_t> ranks;
  for (const std::vector<uint32_t>& group : groups) ranks.insert(ranks.end(), group.begin(), group.end());
  std::sort(ranks.begin(), ranks.end());
  if (ranks.size() > static_cast<size_t>(options.max_detections)) ranks.resize(options.max_detections);
  std::vector<Detection> stayed;
  stayed.reserve(ranks.size());
  for (uint32_t rank : ranks) stayed.push_back(std::move(candidates[order[rank]]));
  return stayed;
}

}  // namespace npustream::elements
