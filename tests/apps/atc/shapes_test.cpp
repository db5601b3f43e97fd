#include "apps/atc/shapes.h"

#include <gtest/gtest.h>

namespace npustream::atc {
namespace {

std::string CodeOfShape(const std::string& text) {
  const auto shapes = ParseInputShape(text);
  return shapes.ok() ? "" : shapes.failure().code;
}

std::string CodeOfGears(const std::string& text) {
  const auto gears = ParseGears(text);
  return gears.ok() ? "" : gears.failure().code;
}

TEST(ShapesTest, NamesMayContainColons) {
  const auto shapes = ParseInputShape("input_1:0:1,3,128,128;b:-1, 4");
  ASSERT_TRUE(shapes.ok()) << shapes.failure().message;
  EXPECT_EQ(shapes.value().at("input_1:0"), (om::Dims{1, 3, 128, 128}));
  EXPECT_EQ(shapes.value().at("b"), (om::Dims{-1, 4}));
}

TEST(ShapesTest, OtherFormsAreRefused) {
  for (const char* text : {"", ";", "x", "x:", ":1,2", "x:1,a", "x:1;x:2", "x:1.5", "x:1,2,", "x:,1", "x:1,,2", "x:1;",
                           ";x:1", "x:1;;y:2"}) {
    EXPECT_EQ(CodeOfShape(text), "E10002") << text;
  }
  EXPECT_EQ(CodeOfShape("x:1~10,3"), "E10001");
}

TEST(ShapesTest, GearsAreSortedAndCounted) {
  const auto gears = ParseGears("8,1, 4,2");
  ASSERT_TRUE(gears.ok());
  EXPECT_EQ(gears.value(), (std::vector<int64_t>{1, 2, 4, 8}));
  EXPECT_EQ(CodeOfGears("4"), "E10035");
  EXPECT_EQ(CodeOfGears("1,2,2"), "E10039");
  EXPECT_EQ(CodeOfGears("1,0"), "E10018");
  for (const char* text : {"1,x", "1,2,", ",1,2", "1,,2", ""}) EXPECT_EQ(CodeOfGears(text), "E10018") << text;
  std::string many = "1";
  for (int i = 2; i <= 101; ++i) many += "," + std::to_string(i);
  EXPECT_EQ(CodeOfGears(many), "E10036");
}

compiler::OnnxModel Model() {
  compiler::OnnxModel model;
  model.graph.inputs.push_back({"x", om::DataType::kFloat32, true, {{-1, "batch"}, {3, ""}, {-1, "height"}}});
  return model;
}

std::string CodeOfCheck(const Shapes& shapes, bool has_gears) {
  const Check failure = CheckShapes(Model(), shapes, has_gears);
  return failure ? failure->code : "";
}

TEST(ShapesTest, ShapesMustSuitTheModel) {
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, 8}}}, false), "");
  EXPECT_EQ(CodeOfCheck({{"x", {-1, 3, 8}}}, true), "");
  EXPECT_EQ(CodeOfCheck({{"x", {-1, 3, 8}}}, false), "E10012");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, -1}}}, true), "E10012");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, 0}}}, false), "E10011");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3}}}, false), "E10049");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 4, 8}}}, false), "E10001");
  EXPECT_EQ(CodeOfCheck({{"x", {1, 3, 8}}, {"y", {1}}}, false), "E10016");
  EXPECT_EQ(CodeOfCheck({}, false), "E10001");
  // A name that is mistyped leaves its input open, but is the mistake.
  EXPECT_EQ(CodeOfCheck({{"X", {1, 3, 8}}}, false), "E10016");
}

}  // namespace
}  // namespace npustream::atc
