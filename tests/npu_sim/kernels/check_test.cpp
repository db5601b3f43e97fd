// What a kernel is given may come from a damaged file: whatever it counts, indexes or divides by is checked before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "npu_sim/kernels/kernel.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::kernels {
namespace {

using om::Attribute;
using om::DataType;
using om::Dims;
using om::GraphBuilder;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

// The complaint about the last node of a graph; empty when it can be run.
std::string Complaint(const GraphBuilder& b) {
  return CheckNode(b.graph(), b.graph().nodes.back()).message();
}

std::string WithAttribute(const std::string& name, Attribute value) {
  GraphBuilder b;
  b.Output(b.Node("Relu", {b.Input({1, 4})}, {1, 4}, {{name, std::move(value)}}));
  return Complaint(b);
}

TEST(CheckTest, AnAttributeIsOfItsKindAndInItsRange) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    const char* name;
    Attribute good, bad;
  };
  const Case cases[] = {
      {"axis", int64_t{-8}, int64_t{8}},
      {"axis", int64_t{7}, 1.0f},
      {"group", int64_t{1}, int64_t{0}},
      {"strides", Ints{1, 2}, Ints{1, 0}},
      {"dilations", Ints{1 << 20}, Ints{(1 << 20) + 1}},
      {"perm", Ints{0, 7}, Ints{-1}},
      {"table_zero_point", int64_t{255}, int64_t{256}},
      {"row_zero_point", int64_t{0}, int64_t{-1}},
      {"table_scale", 0.5f, 0.0f},
      {"row_scale", 0.5f, nan},
      {"row_scale", 0.5f, std::numeric_limits<float>::infinity()},
      {"plane_size", int64_t{1}, int64_t{0}},
      {"source", Ints{4095}, Ints{4096}},
      {"mode", std::string("edge"), int64_t{0}},
      {"scales", std::vector<float>{2}, Ints{2}},
      {"activation_alpha", 1.0f, std::vector<float>{1}},
      {"alphas", std::vector<float>{1}, 1.0f},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(WithAttribute(c.name, c.good), "") << c.name;
    EXPECT_THAT(WithAttribute(c.name, c.bad), HasSubstr("its attribute '" + std::string(c.name) + "'"));
  }
  EXPECT_EQ(WithAttribute("nobody_reads_it", 1.0f), "");
}

// Twice the same axis would add up two offsets, each of which alone is inside.
TEST(CheckTest, AnAxisIsSlicedOnce) {
  GraphBuilder b;
  b.Output(b.Node("Slice", {b.Input({10})}, {5},
                  {{"axes", Ints{0, 0}}, {"starts", Ints{5, 5}}, {"ends", Ints{10, 10}}, {"steps", Ints{1, 1}}}));
  EXPECT_THAT(Complaint(b), HasSubstr("sliced twice"));
}

TEST(CheckTest, RepeatsThatOverflowAreRefused) {
  const int64_t huge = int64_t{1} << 32;
  GraphBuilder b;
  b.Output(b.Node("Tile", {b.Input({0, huge})}, {0, 0}, {{"repeats", Ints{1, huge}}}));
  EXPECT_THAT(Complaint(b), HasSubstr("repeats do not give"));
}

// Only the empty axis makes these small; loops over the others would not end.
TEST(CheckTest, NothingIsDoneForEmptyResults) {
  const int64_t huge = int64_t{1} << 38;
  GraphBuilder b;
  b.Output(b.Node("Softmax", {b.Input({huge, 0})}, {huge, 0}, {{"axis", int64_t{1}}}));
  b.Output(b.Node("NonMaxSuppression", {b.Input({huge, 0, 4}), b.Input({huge, 1, 0})}, {0, 3},
                  {{"max_output_boxes_per_class", int64_t{9}}}, DataType::kInt64));
  const auto outputs = program::EvaluateGraph(b.graph(), {{}, {}, {}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_TRUE(outputs->at(0).empty());
}

// Integers wrap around, as they do on a device; C++ leaves it open.
TEST(CheckTest, IntegersWrapAround) {
  const int64_t most = INT64_MAX, least = INT64_MIN;
  GraphBuilder b;
  const auto x = b.Input({2}, DataType::kInt64), y = b.Input({2}, DataType::kInt64);
  for (const char* op : {"Add", "Sub", "Mul"}) b.Output(b.Node(op, {x, y}, {2}, {}, DataType::kInt64));
  b.Output(b.Node("Neg", {x}, {2}, {}, DataType::kInt64));
  b.Output(b.Node("Abs", {x}, {2}, {}, DataType::kInt64));
  b.Output(b.Node("ReduceSum", {y}, {1}, {}, DataType::kInt64));
  const auto outputs = program::EvaluateGraph(b.graph(), {om::ToBytes(Ints{most, least}), om::ToBytes(Ints{most, 1})});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  const Ints expected[] = {{-2, least + 1}, {0, most}, {1, least}, {-most, least}, {most, least}, {least}};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(om::FromBytes<int64_t>(outputs->at(i)), expected[i]) << i;
}

TEST(CheckTest, WholeNumbersAreDividedWithoutTraps) {
  GraphBuilder b;
  const auto x = b.Input({4}, DataType::kInt64), y = b.Input({4}, DataType::kInt64);
  const auto u = b.Input({2}, DataType::kUInt8), v = b.Input({2}, DataType::kUInt8);
  for (const char* op : {"Div", "Mod"}) b.Output(b.Node(op, {x, y}, {4}, {}, DataType::kInt64));
  for (const char* op : {"Div", "Mod"}) b.Output(b.Node(op, {u, v}, {2}, {}, DataType::kUInt8));
  b.Output(b.Node("Pow", {x, y}, {4}, {}, DataType::kInt64));
  b.Output(b.Node("ReduceL2", {y}, {1}, {}, DataType::kInt64));
  const std::vector<uint8_t> bytes = {100, 255}, by = {255, 255};
  const auto outputs = program::EvaluateGraph(
      b.graph(), {om::ToBytes(Ints{INT64_MIN, 7, -7, INT64_MAX}), om::ToBytes(Ints{-1, 0, 2, 2}), om::ToBytes(bytes),
                  om::ToBytes(by)});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(om::FromBytes<int64_t>(outputs->at(0)), (Ints{INT64_MIN, 0, -3, INT64_MAX / 2}));
  EXPECT_EQ(om::FromBytes<int64_t>(outputs->at(1)), (Ints{0, 0, 1, 1}));
  EXPECT_EQ(om::FromBytes<uint8_t>(outputs->at(2)), (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(om::FromBytes<uint8_t>(outputs->at(3)), (std::vector<uint8_t>{100, 0}));
  EXPECT_EQ(om::FromBytes<int64_t>(outputs->at(4)), (Ints{0, 1, 49, INT64_MAX}));
  EXPECT_EQ(om::FromBytes<int64_t>(outputs->at(5)), (Ints{3}));
}

}  // namespace
}  // namespace npustream::kernels
