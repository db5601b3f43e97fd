#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/runtime/acl/acl_test.h"
#include "tests/support/temporary_folder.h"

extern "C" aclError CallFromC();

namespace npustream::acl_test {
namespace {

std::string WriteConfig(const std::string& text) {
  static const testing_support::TemporaryFolder folder;
  const std::string path = folder / "acl_config.json";
  std::ofstream(path) << text;
  return path;
}

class AclInit : public ::testing::Test {
 protected:
  void SetUp() override { aclFinalize(); }  // whatever was before
  void TearDown() override { aclFinalize(); }
};

TEST_F(AclInit, ARepeatIsToldAndMayBeIgnored) {
  EXPECT_ACL_OK(aclInit(nullptr));
  EXPECT_EQ(aclInit(nullptr), 100002);
  EXPECT_ACL_OK(aclFinalize());
}

TEST_F(AclInit, ASecondFinalizeIsTold) {
  EXPECT_ACL_OK(aclInit(nullptr));
  EXPECT_ACL_OK(aclFinalize());
  EXPECT_EQ(aclFinalize(), 100037);
}

TEST_F(AclInit, AMissingConfigIsNamed) {
  EXPECT_EQ(aclInit("no/such/acl.json"), 100003);
  EXPECT_NE(Sentence().find("no/such/acl.json"), std::string::npos);
}

TEST_F(AclInit, AConfigThatIsNotJsonIsNamed) {
  const std::string path = WriteConfig("{\"dump\": ");
  EXPECT_EQ(aclInit(path.c_str()), 100006);
  EXPECT_NE(Sentence().find(path), std::string::npos);
}

TEST_F(AclInit, TheConfigMayNameADefaultDevice) {
  ASSERT_ACL_OK(aclInit(WriteConfig(R"({"defaultDevice": {"default_device": "0"}})").c_str()));
  std::thread([] {  // a thread that has set nothing
    int32_t device = -1;
    EXPECT_ACL_OK(aclrtGetDevice(&device));
    EXPECT_EQ(device, 0);
  })
      .join();
  EXPECT_ACL_OK(aclrtResetDevice(0));
}

TEST_F(AclInit, ADefaultDeviceThatDoesNotExistIsNamed) {
  EXPECT_EQ(aclInit(WriteConfig(R"({"defaultDevice": {"default_device": "99"}})").c_str()), 100008);
  EXPECT_NE(Sentence().find("99"), std::string::npos);
}

TEST_F(AclInit, AnEmptyConfigIsFine) { EXPECT_ACL_OK(aclInit(WriteConfig("{}").c_str())); }

TEST(AclVersion, IsTheOneOfTheHeader) {
  int32_t major = 0, minor = 0, patch = 0;
  EXPECT_ACL_OK(aclrtGetVersion(&major, &minor, &patch));
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, 13);
}

TEST(AclHeaders, AreC) { EXPECT_ACL_OK(CallFromC()); }

TEST(AclGetRecentErrMsg, GivesEachFailureOnceAndToItsOwnThreadOnly) {
  aclInit(nullptr);
  Sentence();
  EXPECT_EQ(aclrtSetDevice(77), 107001);
  std::thread([] { EXPECT_EQ(Sentence(), ""); }).join();
  EXPECT_NE(Sentence().find("77"), std::string::npos);
  EXPECT_EQ(Sentence(), "");
}

TEST(AclrtGetLastError, IsKeptUntilItIsTaken) {
  aclInit(nullptr);
  aclrtSetDevice(77);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 107001);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 107001);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

}  // namespace
}  // namespace npustream::acl_test
