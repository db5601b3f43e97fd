#pragma once

#include <string>

#include <acl/acl.h>
#include <gtest/gtest.h>

// The call succeeds; else the sentence for people is shown.
#define EXPECT_ACL_OK(call)                                            \
  do {                                                                 \
    const aclError error_ = (call);                                    \
    EXPECT_EQ(error_, ACL_SUCCESS) << npustream::acl_test::Sentence(); \
  } while (false)
#define ASSERT_ACL_OK(call)                                            \
  do {                                                                 \
    const aclError error_ = (call);                                    \
    ASSERT_EQ(error_, ACL_SUCCESS) << npustream::acl_test::Sentence(); \
  } while (false)

namespace npustream::acl_test {

// What aclGetRecentErrMsg says; empty when it says nothing.
inline std::string Sentence() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

// A test on a thread that has set device 0.
class AclTest : public ::testing::Test {
 protected:
  void SetUp() override {
    aclInit(nullptr);  // may be running already
    Sentence();
    ASSERT_ACL_OK(aclrtSetDevice(0));
  }
  void TearDown() override { EXPECT_ACL_OK(aclrtResetDevice(0)); }
};

}  // namespace npustream::acl_test
