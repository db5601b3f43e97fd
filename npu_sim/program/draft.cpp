#include "npu_sim/program/draft.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace npustream::program {

int32_t Draft::Root(int32_t value, uint64_t* offset) const {
  while (values[value].parent >= 0) {
    if (offset) *offset += values[value].offset;
    value = values[value].parent;
  }
  return value;
}

namespace {

// A stretch of a join's planes which is the whole of one input.
struct Segment {
  int64_t source;
  int64_t first, count;  // planes of the join
};

// The join's planes as whole inputs in a row; empty when they are not.
std::vector<Segment> WholeInputs(const Draft& draft, const DraftStep& step) {
  const auto source = om::GetInts(step.node, "source"), plane = om::GetInts(step.node, "plane");
  std::vector<Segment> segments;
  for (size_t i = 0; i < source.size();) {
    const om::Dims& dims = draft.values[step.node.inputs[source[i]]].dims;
    const auto count = static_cast<size_t>(dims[0] * dims[1]);
    if (dims[0] != 1 || i + count > source.size()) return {};
    for (size_t k = 0; k < count; ++k) {
      if (source[i + k] != source[i] || plane[i + k] != static_cast<int64_t>(k)) return {};
    }
    segments.push_back({source[i], static_cast<int64_t>(i), static_cast<int64_t>(count)});
    i += count;
  }
  return segments;
}

// Which values have views or are parts of something: their memory is not theirs alone.
std::vector<bool> SharedRoots(const Draft& draft) {
  std::vector<bool> shared(draft.values.size());
  for (size_t i = 0; i < draft.values.size(); ++i) {
    if (draft.values[i].parent >= 0) shared[draft.Root(static_cast<int32_t>(i))] = true;
  }
  return shared;
}

// The copy of one segment, as a step of its own that writes into a view of the join.
DraftStep CopySegment(Draft& draft, const DraftStep& join, const Segment& segment, uint64_t offset) {
  const int32_t source = join.node.inputs[segment.source];
  DraftValue view = draft.values[source];
  const int32_t target = join.node.outputs[0];
  view.name = draft.values[target].name;
  view.place = om::Place::kBuffer;
  view.index = -1;
  view.parent = target;
  view.offset = offset;
  draft.values.push_back(std::move(view));
  DraftStep step;
  step.node = {join.node.name, "Reorder", {source}, {static_cast<int32_t>(draft.values.size() - 1)}, {}};
  step.implementation = "copy";
  return step;
}

}  // namespace

void JoinWithoutCopy(Draft& draft) {
  std::vector<DraftStep> steps;
  std::vector<bool> computed(draft.values.size());  // written by a step so far
  for (DraftStep& step : draft.steps) {
    for (const int32_t output : step.node.outputs) {
      if (static_cast<size_t>(output) >= computed.size()) computed.resize(draft.values.size());
      computed[output] = true;
    }
    if (step.node.op != "Planes") {
      steps.push_back(std::move(step));
      continue;
    }
    const int32_t target = step.node.outputs[0];
    const om::Dims dims = draft.values[target].dims;
    const om::Layout layout = draft.values[target].layout;
    const int64_t block = om::BlockOf(layout);
    const auto segments = WholeInputs(draft, step);
    const bool channels = dims.size() >= 3 && dims[0] == 1 && !segments.empty() &&
                          segments.back().first + segments.back().count == dims[1];
    const bool aligned =
        std::all_of(segments.begin(), segments.end(), [&](const Segment& s) { return s.first % block == 0; });
    if (!channels || !aligned) {
      steps.push_back(std::move(step));
      continue;
    }
    const std::vector<bool> shared = SharedRoots(draft);
    const auto plane_bytes =
        static_cast<uint64_t>(om::GetInt(step.node, "plane_size", 0)) * om::SizeOf(draft.values[target].type);
    for (const Segment& segment : segments) {
      const int32_t source = step.node.inputs[segment.source];
      const uint64_t offset = static_cast<uint64_t>(segment.first) * plane_bytes;
      const DraftValue& value = draft.values[source];
      const bool own = value.place == om::Place::kBuffer && value.parent < 0 &&
                       static_cast<size_t>(source) < shared.size() && !shared[source] && computed[source];
      if (own) {
        draft.values[source].parent = target;
        draft.values[source].offset = offset;
      } else {
        steps.push_back(CopySegment(draft, step, segment, offset));
      }
    }
  }
  draft.steps = std::move(steps);
}

void QuantizeIntoPixels(Draft& draft) {
  std::vector<int> reads(draft.values.size());
  std::vector<int32_t> writer(draft.values.size(), -1);
  for (size_t i = 0; i < draft.steps.size(); ++i) {
    for (const int32_t input : draft.steps[i].node.inputs) {
      if (input >= 0) ++reads[static_cast<size_t>(input)];
    }
    for (const int32_t output : draft.steps[i].node.outputs) writer[static_cast<size_t>(output)] = static_cast<int32_t>(i);
  }
  const std::vector<bool> shared = SharedRoots(draft);
  const auto joins = [&](const DraftStep& step) {
    if (step.node.op != "Reorder") return false;
    const auto from = static_cast<size_t>(step.node.inputs[0]), to = static_cast<size_t>(step.node.outputs[0]);
    const DraftValue& value = draft.values[from];
    if (draft.values[to].layout != om::Layout::kBlocked4 || reads[from] != 1 || writer[from] < 0 || shared[from] ||
        value.place != om::Place::kBuffer || value.parent >= 0)
      return false;
    DraftStep& quantize = draft.steps[static_cast<size_t>(writer[from])];
    if (quantize.node.op != "Quantize" || value.dims[1] > 4 ||
        draft.values[static_cast<size_t>(quantize.node.inputs[0])].layout != om::Layout::kPlain)
      return false;
    quantize.node.outputs[0] = step.node.outputs[0];
    return true;
  };
  std::vector<bool> joined;
  for (const DraftStep& step : draft.steps) joined.push_back(joins(step));
  std::vector<DraftStep> kept;
  for (size_t i = 0; i < joined.size(); ++i) {
    if (!joined[i]) kept.push_back(std::move(draft.steps[i]));
  }
  draft.steps = std::move(kept);
}

void ComputeInPlace(Draft& draft) {
  std::vector<int32_t> last_read(draft.values.size(), -1);
  for (size_t i = 0; i < draft.steps.size(); ++i) {
    for (const int32_t input : draft.steps[i].node.inputs) {
      if (input >= 0) last_read[input] = static_cast<int32_t>(i);
    }
  }
  const std::vector<bool> shared = SharedRoots(draft);
  for (size_t i = 0; i < draft.steps.size(); ++i) {
    const DraftStep& step = draft.steps[i];
    if (step.in_place_input < 0) continue;
    const int32_t input = step.node.inputs[step.in_place_input], output = step.node.outputs[0];
    const DraftValue &from = draft.values[input], &to = draft.values[output];
    // A root shared by in-place results only was not shared before this pass.
    const bool free = from.place == om::Place::kBuffer && last_read[input] == static_cast<int32_t>(i) &&
                      !shared[draft.Root(input)] && !shared[input];
    const bool fits = to.place == om::Place::kBuffer && to.parent < 0 && !shared[output] && from.layout == to.layout &&
                      from.Bytes() == to.Bytes();
    const auto others = std::count(step.node.inputs.begin(), step.node.inputs.end(), input);
    if (free && fits && others == 1) {
      draft.values[output].parent = input;
      draft.values[output].offset = 0;
    }
  }
}

namespace {

constexpr uint64_t kAlignment = 64;
uint64_t AlignUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

uint64_t MostAlive(const om::NativePlan& plan) {
  std::vector<int64_t> change(plan.steps.size() + 2);
  for (const om::NativeBuffer& buffer : plan.buffers) {
    change[buffer.first_step] += static_cast<int64_t>(buffer.bytes);
    change[buffer.last_step + 1] -= static_cast<int64_t>(buffer.bytes);
  }
  int64_t alive = 0, most = 0;
  for (const int64_t c : change) {
    alive += c;
    most = std::max(most, alive);
  }
  return static_cast<uint64_t>(most);
}

// Gives the buffers addresses in this order, each the lowest place that is free during its life. Returns the end of
// all.
uint64_t PlaceInOrder(const std::vector<size_t>& order, std::vector<om::NativeBuffer>& buffers) {
  std::vector<size_t> placed;  // sorted by offset
  uint64_t end = 0;
  for (const size_t i : order) {
    om::NativeBuffer& buffer = buffers[i];
    uint64_t offset = 0;
    for (const size_t other : placed) {
      const om::NativeBuffer& o = buffers[other];
      if (o.last_step < buffer.first_step || buffer.last_step < o.first_step) continue;
      if (offset + buffer.bytes <= o.offset) break;
      offset = std::max(offset, o.offset + o.bytes);
    }
    buffer.offset = offset;
    end = std::max(end, offset + buffer.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return buffers[a].offset < buffers[b].offset; }),
                  i);
  }
  return end;
}

// The largest buffers first; then, as long as that leaves gaps, whichever came to lie on top goes before all others.
// The best of a bounded number of tries is taken.
void AssignOffsets(om::NativePlan& plan) {
  constexpr size_t kMostTries = 64, kMostSteps = size_t{1} << 25;
  std::vector<size_t> order(plan.buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return plan.buffers[a].bytes > plan.buffers[b].bytes; });
  std::vector<om::NativeBuffer> tried = plan.buffers;
  plan.arena_bytes = std::numeric_limits<uint64_t>::max();
  const size_t tries = std::clamp(kMostSteps / (order.size() * order.size() + 1), size_t{1}, kMostTries);
  for (size_t i = 0; i < tries && plan.arena_bytes > plan.arena_lower_bound; ++i) {
    const uint64_t end = PlaceInOrder(order, tried);
    if (end < plan.arena_bytes) {
      plan.arena_bytes = end;
      plan.buffers = tried;
    }
    const auto on_top = [&](size_t b) { return tried[b].offset + tried[b].bytes == end; };
    const auto top = std::find_if(order.begin(), order.end(), on_top);
    if (top != order.end()) std::rotate(order.begin(), top, top + 1);
  }
}

}  // namespace

om::NativePlan PlanBuffers(const Draft& draft) {
  om::NativePlan plan;
  plan.constants = draft.constants;
  // Lifetimes of the roots.
  constexpr int32_t kNever = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> first(draft.values.size(), kNever), last(draft.values.size(), -1);
  for (size_t i = 0; i < draft.steps.size(); ++i) {
    const om::Node& node = draft.steps[i].node;
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (const int32_t value : *list) {
        if (value < 0) continue;
        const int32_t root = draft.Root(value);
        first[root] = std::min(first[root], static_cast<int32_t>(i));
        last[root] = std::max(last[root], static_cast<int32_t>(i));
      }
    }
  }
  std::vector<int32_t> buffer_of(draft.values.size(), -1);
  for (size_t v = 0; v < draft.values.size(); ++v) {
    const DraftValue& value = draft.values[v];
    if (value.parent >= 0 || value.place != om::Place::kBuffer) continue;
    if (last[v] < 0) first[v] = last[v] = 0;  // nobody uses it
    buffer_of[v] = static_cast<int32_t>(plan.buffers.size());
    plan.buffers.push_back({0, AlignUp(value.Bytes()), first[v], last[v]});
  }
  for (size_t v = 0; v < draft.values.size(); ++v) {
    const DraftValue& value = draft.values[v];
    uint64_t offset = 0;
    const int32_t root = draft.Root(static_cast<int32_t>(v), &offset);
    const DraftValue& owner = draft.values[root];
    plan.values.push_back({value.name, value.type, value.dims, value.layout, owner.place,
                           owner.place == om::Place::kBuffer ? buffer_of[root] : owner.index, offset,
                           value.quantization});
  }
  for (size_t i = 0; i < draft.steps.size(); ++i) {
    const DraftStep& step = draft.steps[i];
    int32_t scratch = -1;
    if (step.scratch_bytes > 0) {
      scratch = static_cast<int32_t>(plan.buffers.size());
      plan.buffers.push_back({0, AlignUp(step.scratch_bytes), static_cast<int32_t>(i), static_cast<int32_t>(i)});
    }
    plan.steps.push_back({step.node.name, step.node.op, step.implementation, step.node.inputs, step.node.outputs,
                          step.node.attributes, scratch});
  }
  plan.arena_lower_bound = MostAlive(plan);
  AssignOffsets(plan);
  return plan;
}

}  // namespace npustream::program
