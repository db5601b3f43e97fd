#include "apps/atc/shapes.h"

#include <gtest/gtest.h>

namespace npustream::atc {
namespace {

std::string CodeOfShape(const std::string& text) {
  const auto shapes = ParseInputShape(text);
  return shapes.ok() ? "" : shapes.failure().code;
}

using om::Dynamic;
using Choices = std::vector<std::vector<int64_t>>;

std::string CodeOfGears(const std::string& text, Dynamic dynamic = Dynamic::kBatch) {
  const auto gears = ParseChoices(dynamic, text);
  return gears.ok() ? "" : gears.failure().code;
}

TEST(ShapesTest, NamesMayContainColons) {
  const auto shapes = ParseInputShape("input_1:0:1,3,128,128;b:-1, 4");
  ASSERT_TRUE(shapes.ok()) << shapes.failure().message;
  EXPECT_EQ(shapes.value(), (Shapes{{"input_1:0", {1, 3, 128, 128}}, {"b", {-1, 4}}}));
}

TEST(ShapesTest, OtherFormsAreRefused) {
  for (const char* text : {"", ";", "x", "x:", ":1,2", "x:1,a", "x:1;x:2", "x:1.5", "x:1,2,", "x:,1", "x:1,,2", "x:1;",
                           ";x:1", "x:1;;y:2"}) {
    EXPECT_EQ(CodeOfShape(text), "E10002") << text;
  }
  EXPECT_EQ(CodeOfShape("x:1~10,3"), "E10001");
}

TEST(ShapesTest, BatchesAreSortedAndCounted) {
  const auto gears = ParseChoices(Dynamic::kBatch, "8,1, 4,2");
  ASSERT_TRUE(gears.ok());
  EXPECT_EQ(gears.value(), (Choices{{1}, {2}, {4}, {8}}));
  EXPECT_EQ(CodeOfGears("4"), "E10035");
  EXPECT_EQ(CodeOfGears("1,2,2"), "E10039");
  EXPECT_EQ(CodeOfGears("1,0"), "E10038");
  EXPECT_EQ(CodeOfGears("1,70000"), "E10001");
  for (const char* text : {"1,x", "1,2,", ",1,2", "1,,2", ""}) EXPECT_EQ(CodeOfGears(text), "E10001") << text;
  std::string many = "1";
  for (int i = 2; i <= 101; ++i) many += "," + std::to_string(i);
  EXPECT_EQ(CodeOfGears(many), "E10036");
}

TEST(ShapesTest, ImageSizesAndDimsStayInTheirOrder) {
  const auto sizes = ParseChoices(Dynamic::kImageSize, "832,832; 416,416;416,832");
  ASSERT_TRUE(sizes.ok());
  EXPECT_EQ(sizes.value(), (Choices{{832, 832}, {416, 416}, {416, 832}}));
  for (const char* text : {"416", "416,416,3;8,8,3", "416,416;832", "416,x;8,8", "416,416;", "a;b", "416x416;8x8"})
    EXPECT_EQ(CodeOfGears(text, Dynamic::kImageSize), "E10020") << text;
  EXPECT_EQ(CodeOfGears("416,416", Dynamic::kImageSize), "E10035");
  EXPECT_EQ(CodeOfGears("8,8;4,4;8,8", Dynamic::kImageSize), "E10039");
  EXPECT_EQ(CodeOfGears("8,8;4,0", Dynamic::kImageSize), "E10038");
  EXPECT_EQ(CodeOfGears("8,-8;4,4", Dynamic::kImageSize), "E10038");

  const auto dims = ParseChoices(Dynamic::kDims, "20,20,1,1;40,40,2,2");
  ASSERT_TRUE(dims.ok());
  EXPECT_EQ(dims.value(), (Choices{{20, 20, 1, 1}, {40, 40, 2, 2}}));
  EXPECT_EQ(CodeOfGears("4;8;16", Dynamic::kDims), "");
  EXPECT_EQ(CodeOfGears("1,2;3", Dynamic::kDims), "E10037");
  EXPECT_EQ(CodeOfGears("1,2;", Dynamic::kDims), "E10001");
  EXPECT_EQ(CodeOfGears("1,2;1,2", Dynamic::kDims), "E10039");
  std::string many = "1";
  for (int i = 2; i <= 101; ++i) many += ";" + std::to_string(i);
  EXPECT_EQ(CodeOfGears(many, Dynamic::kDims), "E10036");
}

compiler::OnnxModel Model() {
  compiler::OnnxModel model;
  model.graph.inputs.push_back({"x", om::DataType::kFloat32, true, {{-1, "batch"}, {3, ""}, {-1, "height"}}});
  return model;
}

std::string CodeOfCheck(const Shapes& shapes, Dynamic dynamic = Dynamic::kNothing, Choices choices = {{4}}) {
  const Check failure = CheckShapes(Model(), shapes, {dynamic, std::move(choices), {}});
  return failure ? failure->code : "";
}

TEST(ShapesTest, ShapesMustSuitTheModel) {
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, 8}}}), "");
  EXPECT_EQ(CodeOfCheck({{"x", {-1, 3, 8}}}), "E10011");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, 0}}}), "E10011");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3}}}), "E10049");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 4, 8}}}), "E10001");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, 8}}, {"y", {1}}}), "E10016");
  EXPECT_EQ(CodeOfCheck({}), "E10001");
  // A name that is mistyped leaves its input open, but is the mistake.
  EXPECT_EQ(CodeOfCheck({{"X", {1, 3, 8}}}), "E10016");
}

TEST(ShapesTest, MinusOneStandsWhereGearsHaveNumbers) {
  EXPECT_EQ(CodeOfCheck({{"x", {-1, 3, 8}}}, Dynamic::kBatch), "");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, -1}}}, Dynamic::kBatch), "E10018");
  EXPECT_EQ(CodeOfCheck({{"x", {-1, 3, -1}}}, Dynamic::kBatch), "E10018");
  EXPECT_EQ(CodeOfCheck({{"x", {4, 3, 8}}}, Dynamic::kBatch), "E10031");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, -1}}}, Dynamic::kDims), "");
  EXPECT_EQ(CodeOfCheck({{"x", {-1, 3, -1}}}, Dynamic::kDims), "E10001");
  EXPECT_EQ(CodeOfCheck({{"x", {-1, 3, -1}}}, Dynamic::kDims, {{1, 8}}), "");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, 8}}}, Dynamic::kDims), "E10040");
  EXPECT_EQ(CodeOfCheck({{"x", {1, -1, 8}}}, Dynamic::kDims), "E10001");  // the file fixes it
  EXPECT_EQ(CodeOfCheck({}, Dynamic::kDims), "E10001");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, -1}}}, Dynamic::kImageSize), "E10019");

  const auto picture = [](const om::Dims& dims) {
    compiler::OnnxModel model;
    model.graph.inputs.push_back(
        {"x", om::DataType::kFloat32, true, {{-1, "n"}, {3, ""}, {-1, "height"}, {-1, "width"}}});
    const Check failure = CheckShapes(model, {{"x", dims}}, {Dynamic::kImageSize, {{8, 8}, {4, 4}}, {}});
    return failure ? failure->code : "";
  };
  EXPECT_EQ(picture({1, 3, -1, -1}), "");
  EXPECT_EQ(picture({8, 3, -1, -1}), "");
  EXPECT_EQ(picture({-1, 3, 8, 8}), "E10019");
  EXPECT_EQ(picture({1, 3, -1, 8}), "E10019");
  EXPECT_EQ(picture({-1, 3, -1, -1}), "E10019");
  EXPECT_EQ(picture({1, 3, 8, 8}), "E10040");
}

}  // namespace
}  // namespace npustream::atc
