#include "base/thread_budget.h"

#include <gtest/gtest.h>

namespace npustream {
namespace {

TEST(ThreadBudget, IsAWholeNumberOfThreadsThatCanBeMade) {
  EXPECT_EQ(ParseThreadBudget("1"), 1);
  EXPECT_EQ(ParseThreadBudget("1024"), 1024);
  for (const char* text : {"", "0", "-1", "1.5", "abc", " 2", "2 ", "1025", "20000", "99999999999"})
    EXPECT_EQ(ParseThreadBudget(text), std::nullopt) << text;
}

}  // namespace
}  // namespace npustream
