#include "base/status.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace npustream {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Status(StatusCode::kInvalidArgument, "odd");
  return number / 2;
}

Result<int> Quarter(int number) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int half, Half(number));
  return Half(half);
}

TEST(Status, DefaultIsOk) { EXPECT_TRUE(Status().ok()); }

TEST(Status, ContextGoesInFrontAndKeepsCodeAndPlace) {
  const Status inner(StatusCode::kCorruptData, "truncated");
  const Status outer = inner.WithContext("x.om");
  EXPECT_EQ(outer.message(), "x.om: truncated");
  EXPECT_EQ(outer.code(), StatusCode::kCorruptData);
  EXPECT_EQ(outer.where().line(), inner.where().line());
}

TEST(Status, MessageCanBeShownWhateverItQuotes) {
  const std::string name("\x1b[31m\xff模\0", 10);
  EXPECT_EQ(Status(StatusCode::kCorruptData, "node " + name).message(), "node \\x1b[31m\\xff模\\x00");
  EXPECT_EQ(Status(StatusCode::kCorruptData, "damaged").WithContext("a\rb").message(), "a\\x0db: damaged");
}

TEST(Result, PassesTheFirstFailureOn) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = std::move(made).value();
  EXPECT_EQ(*taken, 5);
}

}  // namespace
}  // namespace npustream
