#include "apps/atc/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace npustream::atc {
namespace {

using testing::HasSubstr;

std::string CodeOf(const std::vector<std::string>& arguments) {
  const auto flags = ParseFlags(arguments);
  return flags.ok() ? "" : flags.failure().code;
}

TEST(FlagsTest, ValuesFollowAnEqualsSignOrStandAlone) {
  const auto flags = ParseFlags({"--model=a=b.onnx", "--framework", "5", "-output", "x", "--input_shape", "x:-1,3"});
  ASSERT_TRUE(flags.ok()) << flags.failure().message;
  EXPECT_EQ(flags.value().Get("model"), "a=b.onnx");
  EXPECT_EQ(flags.value().Get("framework"), "5");
  EXPECT_EQ(flags.value().Get("output"), "x");
  EXPECT_EQ(flags.value().Get("input_shape"), "x:-1,3");
  EXPECT_TRUE(flags.value().Has("model"));
  EXPECT_FALSE(flags.value().Has("mode"));
  EXPECT_EQ(flags.value().Get("mode"), "0");
}

TEST(FlagsTest, ATruthValueMayStandAlone) {
  const auto flags = ParseFlags({"--help", "--enable_compress_weight", "false", "--model=x"});
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags.value().Get("help"), "true");
  EXPECT_EQ(flags.value().Get("enable_compress_weight"), "false");
}

TEST(FlagsTest, AnUnknownFlagIsNamed) {
  const auto flags = ParseFlags({"--modle=x.onnx"});
  ASSERT_FALSE(flags.ok());
  EXPECT_EQ(flags.failure().code, "E10003");
  EXPECT_THAT(flags.failure().message, HasSubstr("'--modle'"));
  EXPECT_EQ(CodeOf({"model.onnx"}), "E10003");
}

TEST(FlagsTest, ValuesAreCheckedWithTheToolsCodes) {
  EXPECT_EQ(CodeOf({"--model="}), "E10004");
  EXPECT_EQ(CodeOf({"--model", "--framework=5"}), "E10004");
  EXPECT_EQ(CodeOf({"--enable_compress_weight=yes"}), "E10005");
  EXPECT_EQ(CodeOf({"--disable_reuse_memory=2"}), "E10006");
  EXPECT_EQ(CodeOf({"--mode=9"}), "E10001");
  EXPECT_EQ(CodeOf({"--precision_mode=fp4"}), "E10001");
  EXPECT_EQ(CodeOf({"--precision_mode=allow_mix_precision"}), "");
}

TEST(FlagsTest, WhatCannotBeDoneIsRefusedUnlessItHasItsDefault) {
  EXPECT_EQ(CodeOf({"--dynamic_image_size=416,416;320,320"}), "E10001");
  EXPECT_EQ(CodeOf({"--external_weight=1"}), "E10001");
  EXPECT_EQ(CodeOf({"--external_weight=0"}), "");
}

// The list of the vendor's flags has 85 entries; two, --extension_lib and --packed_weights, are ours.
TEST(FlagsTest, TheTableIsCompleteAndSorted) {
  const auto& flags = AllFlags();
  EXPECT_EQ(flags.size(), 87u);
  EXPECT_TRUE(std::is_sorted(flags.begin(), flags.end(), [](const Flag& a, const Flag& b) { return a.name < b.name; }));
  const std::string help = HelpText();
  for (const Flag& flag : flags) EXPECT_THAT(help, HasSubstr("--" + std::string(flag.name)));
}

}  // namespace
}  // namespace npustream::atc
