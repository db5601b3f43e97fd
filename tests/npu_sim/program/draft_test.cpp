// The buffer plan: lives do not meet at one address, and gaps are looked for.
#include "npu_sim/program/draft.h"

#include <gtest/gtest.h>

namespace npustream::program {
namespace {

struct Life {
  int64_t size;  // units of 64 bytes
  int first, last;
};

// Steps 0 … 6, each of which writes the values that begin with it and reads those that end with it.
Draft MakeDraft(const std::vector<Life>& lives) {
  Draft draft;
  draft.steps.resize(7);
  for (const Life& life : lives) {
    const auto id = static_cast<int32_t>(draft.values.size());
    draft.values.push_back({"v" + std::to_string(id), om::DataType::kFloat32, {life.size * 16}});
    draft.steps[static_cast<size_t>(life.first)].node.outputs.push_back(id);
    draft.steps[static_cast<size_t>(life.last)].node.inputs.push_back(id);
  }
  return draft;
}

void ExpectNoClash(const om::NativePlan& plan) {
  for (size_t a = 0; a < plan.buffers.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      const om::NativeBuffer &x = plan.buffers[a], &y = plan.buffers[b];
      if (x.last_step < y.first_step || y.last_step < x.first_step) continue;
      EXPECT_TRUE(x.offset + x.bytes <= y.offset || y.offset + y.bytes <= x.offset) << a << " and " << b;
    }
    EXPECT_LE(plan.buffers[a].offset + plan.buffers[a].bytes, plan.arena_bytes);
  }
}

// By hand: at step 5 nine of 64 bytes are alive in the first net, and so on. The largest first, each at the lowest
// place, would need 12, 17 and 15.
TEST(DraftTest, BuffersFitIntoWhatIsAliveAtOnce) {
  const struct {
    std::vector<Life> lives;
    uint64_t most;
  } nets[] = {
      {{{5, 1, 2}, {4, 5, 6}, {4, 3, 6}, {3, 2, 4}, {1, 4, 5}}, 9},
      {{{5, 3, 5}, {5, 0, 3}, {4, 5, 6}, {3, 4, 6}, {4, 2, 4}}, 14},
      {{{4, 3, 4}, {1, 1, 3}, {5, 4, 5}, {4, 2, 4}, {6, 5, 6}}, 13},
  };
  for (const auto& net : nets) {
    const om::NativePlan plan = PlanBuffers(MakeDraft(net.lives));
    ExpectNoClash(plan);
    EXPECT_EQ(plan.arena_lower_bound, net.most * 64);
    EXPECT_EQ(plan.arena_bytes, net.most * 64);
  }
}

}  // namespace
}  // namespace npustream::program
