#include "runtime/serving/child_process.h"

#include <gtest/gtest.h>

namespace npustream::serving {
namespace {

TEST(RunProgram, GivesExitCodeAndBothOutputs) {
  const auto outcome = RunProgram("/bin/sh", {"-c", "echo out; echo err >&2; exit 7"});
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_EQ(outcome->exit_code, 7);
  EXPECT_EQ(outcome->output, "out\nerr\n");
}

TEST(RunProgram, HasNoInput) {
  const auto outcome = RunProgram("/bin/cat", {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_code, 0);
  EXPECT_EQ(outcome->output, "");
}

TEST(RunProgram, TellsOfASignal) {
  const auto outcome = RunProgram("/bin/sh", {"-c", "kill -9 $$"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_code, 128 + 9);
}

TEST(RunProgram, KeepsTheEndOfALongOutput) {
  const auto outcome = RunProgram("/bin/sh", {"-c", "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo the end"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->output.size(), 64u * 1024);
  EXPECT_TRUE(outcome->output.ends_with("x\nthe end\n"));
}

TEST(RunProgram, NamesAProgramThatIsNotThere) {
  const auto outcome = RunProgram("/nonexistent/program", {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.status().code(), StatusCode::kNotFound);
  EXPECT_NE(outcome.status().message().find("/nonexistent/program"), std::string::npos);
}

}  // namespace
}  // namespace npustream::serving
