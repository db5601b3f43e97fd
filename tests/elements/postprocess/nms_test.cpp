#include "elements/postprocess/nms.h"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace npustream::elements {
namespace {

Detection Make(float x, float y, float size, float confidence, int label_id = 0) {
  return {{x, y, x + size, y + size}, confidence, label_id, {}};
}

double Iou(const Box& a, const Box& b) {
  const double w = std::max(0.0, double{std::min(a.x_max, b.x_max)} - std::max(a.x_min, b.x_min));
  const double h = std::max(0.0, double{std::min(a.y_max, b.y_max)} - std::max(a.y_min, b.y_min));
  const auto area = [](const Box& box) { return (double{box.x_max} - box.x_min) * (double{box.y_max} - box.y_min); };
  return w * h / (area(a) + area(b) - w * h);
}

// Looks for the best of what is left again and again, and strikes out what overlaps it.
std::vector<Detection> Naive(std::vector<Detection> left, const NmsOptions& options) {
  std::vector<Detection> stayed;
  while (!left.empty() && stayed.size() < static_cast<size_t>(options.max_detections)) {
    size_t best = 0;
    for (size_t i = 1; i < left.size(); ++i) {
      if (left[i].confidence > left[best].confidence) best = i;
    }
    const Detection chosen = left[best];
    stayed.push_back(chosen);
    left.erase(left.begin() + static_cast<ptrdiff_t>(best));
    std::erase_if(left, [&](const Detection& other) {
      return (options.agnostic || other.label_id == chosen.label_id) && Iou(chosen.box, other.box) > options.iou_limit;
    });
  }
  return stayed;
}

std::vector<Detection> RandomCandidates(uint32_t seed, int count, int classes, int confidences) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> place(0, 100), size(5, 60);
  std::vector<Detection> candidates;
  for (int i = 0; i < count; ++i) {
    const float x = place(random), y = place(random), w = size(random), h = size(random);
    const auto confidence = static_cast<float>(1 + random() % confidences) / static_cast<float>(confidences + 1);
    candidates.push_back({{x, y, x + w, y + h}, confidence, static_cast<int32_t>(random() % classes), {}});
  }
  return candidates;
}

void ExpectSame(const std::vector<Detection>& found, const std::vector<Detection>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].box.x_min, expected[i].box.x_min) << i;
    ASSERT_EQ(found[i].confidence, expected[i].confidence) << i;
    ASSERT_EQ(found[i].label_id, expected[i].label_id) << i;
  }
}

TEST(Nms, EqualsTheNaiveSearchSerialAndParallel) {
  for (const bool agnostic : {false, true}) {
    for (uint32_t seed = 1; seed <= 20; ++seed) {
      // Few distinct confidences make many ties.
      const std::vector<Detection> candidates = RandomCandidates(seed, 600, 7, seed % 2 == 0 ? 50 : 100000);
      NmsOptions options{0.45f, agnostic, 40, std::numeric_limits<size_t>::max()};
      const std::vector<Detection> expected = Naive(candidates, options);
      ExpectSame(SuppressNonMaxima(candidates, options), expected);
      options.parallel_from = 1;
      ExpectSame(SuppressNonMaxima(candidates, options), expected);
    }
  }
}

TEST(Nms, OverlapAtTheLimitStays) {
  // Two 10x10 boxes shifted by 5: intersection 50, union 150.
  const std::vector<Detection> candidates{Make(0, 0, 10, 0.9f), {{5, 0, 15, 10}, 0.8f, 0, {}}};
  EXPECT_EQ(SuppressNonMaxima(candidates, {50.0f / 150.0f + 1e-6f, false, 10}).size(), 2u);
  EXPECT_EQ(SuppressNonMaxima(candidates, {50.0f / 150.0f - 1e-6f, false, 10}).size(), 1u);
}

TEST(Nms, ClassesAreApartUnlessAgnostic) {
  const std::vector<Detection> candidates{Make(0, 0, 10, 0.8f, 1), Make(0, 0, 10, 0.9f, 2)};
  EXPECT_EQ(SuppressNonMaxima(candidates, {0.5f, false, 10}).size(), 2u);
  const std::vector<Detection> stayed = SuppressNonMaxima(candidates, {0.5f, true, 10});
  ASSERT_EQ(stayed.size(), 1u);
  EXPECT_EQ(stayed[0].label_id, 2);
}

TEST(Nms, TheEarlierOfEqualsWins) {
  const std::vector<Detection> candidates{Make(1, 0, 10, 0.5f), Make(0, 0, 10, 0.5f), Make(50, 0, 10, 0.5f)};
  const std::vector<Detection> stayed = SuppressNonMaxima(candidates, {0.5f, false, 10});
  ASSERT_EQ(stayed.size(), 2u);
  EXPECT_EQ(stayed[0].box.x_min, 1);
  EXPECT_EQ(stayed[1].box.x_min, 50);
}

TEST(Nms, LeavesOutWhatIsNotANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const std::vector<Detection> candidates{Make(0, 0, 10, nan), Make(20, 0, 10, infinity), Make(40, 0, 10, 0.1f)};
  const std::vector<Detection> stayed = SuppressNonMaxima(candidates, {0.5f, false, 10});
  ASSERT_EQ(stayed.size(), 1u);
  EXPECT_EQ(stayed[0].box.x_min, 40);
}

TEST(Nms, NothingGivesNothing) {
  EXPECT_TRUE(SuppressNonMaxima({}, {}).empty());
  EXPECT_TRUE(SuppressNonMaxima({Make(0, 0, 10, 0.5f)}, {0.5f, false, 0}).empty());
}

}  // namespace
}  // namespace npustream::elements
