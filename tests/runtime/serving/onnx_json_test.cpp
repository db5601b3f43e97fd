#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/serving/atc_compiler.h"

namespace npustream::serving {
namespace {

using ::testing::ElementsAre;

// What protobuf's own JSON printer makes of an ONNX model: 64-bit numbers are texts, names may be camel case.
TEST(OnnxJson, ReadsProtobufsSpelling) {
  const auto interface = ParseOnnxJson(R"({"irVersion":"7","graph":{
    "initializer":[{"dims":["8"],"dataType":1,"name":"w"}],
    "input":[{"name":"w","type":{"tensorType":{"elemType":1,"shape":{"dim":[{"dimValue":"8"}]}}}},
             {"name":"images","type":{"tensorType":{"elemType":1,"shape":{"dim":[
                {"dimParam":"N"},{"dimValue":"3"},{"dimValue":"416"},{}]}}}}],
    "output":[{"name":"out","type":{"tensorType":{"elemType":1,"shape":{"dim":[{"dimValue":"1"},{"dimValue":"85"}]}}}}]}})");
  ASSERT_TRUE(interface.ok()) << interface.status().message();
  ASSERT_EQ(interface->inputs.size(), 1u);
  EXPECT_EQ(interface->inputs[0].name, "images");
  EXPECT_THAT(interface->inputs[0].dims, ElementsAre(-1, 3, 416, -1));
  ASSERT_EQ(interface->outputs.size(), 1u);
  EXPECT_THAT(interface->outputs[0].dims, ElementsAre(1, 85));
}

TEST(OnnxJson, ReadsFieldNamesAsInTheSchema) {
  const auto interface = ParseOnnxJson(R"({"graph":{
    "input":[{"name":"a","type":{"tensor_type":{"elem_type":1,"shape":{"dim":[{"dim_value":1},{"dim_value":3}]}}}}],
    "output":[{"name":"b"}]}})");
  ASSERT_TRUE(interface.ok()) << interface.status().message();
  EXPECT_THAT(interface->inputs[0].dims, ElementsAre(1, 3));
  EXPECT_TRUE(interface->outputs[0].dims.empty());
}

TEST(OnnxJson, RefusesWhatIsNoModel) {
  for (const char* text : {"", "[]", "null", "{", "{\"graph\":3}", "{\"graph\":{\"input\":\"x\"}}", "\"text\"",
                           "{\"graph\":{\"input\":[1,2],\"output\":[]}}"}) {
    EXPECT_FALSE(ParseOnnxJson(text).ok()) << text;
  }
}

}  // namespace
}  // namespace npustream::serving
