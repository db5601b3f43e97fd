#include <thread>

#include "tests/runtime/acl/acl_test.h"

namespace npustream::acl_test {
namespace {

class AclContext : public AclTest {};

TEST_F(AclContext, AThreadWithoutOneGets107002) {
  std::thread([] {
    aclrtContext context = nullptr;
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    void* memory = nullptr;
    int32_t device = 0;
    size_t free = 0, total = 0;
    char bytes[4] = {};
    EXPECT_EQ(aclrtGetCurrentContext(&context), 107002);
    EXPECT_EQ(aclrtGetDevice(&device), 107002);
    EXPECT_EQ(aclrtCreateStream(&stream), 107002);
    EXPECT_EQ(aclrtCreateEvent(&event), 107002);
    EXPECT_EQ(aclrtMalloc(&memory, 4, ACL_MEM_MALLOC_HUGE_FIRST), 107002);
    EXPECT_EQ(aclrtMallocHost(&memory, 4), 107002);
    EXPECT_EQ(aclrtMemcpy(bytes, 4, bytes, 4, ACL_MEMCPY_HOST_TO_HOST), 107002);
    EXPECT_EQ(aclrtMemset(bytes, 4, 0, 4), 107002);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), 107002);
    EXPECT_EQ(aclrtSynchronizeDevice(), 107002);
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 107002);
    EXPECT_NE(Sentence().find("aclrtSetDevice"), std::string::npos);
  }).join();
}

TEST_F(AclContext, AllThreadsThatSetTheDeviceShareItsDefault) {
  aclrtContext mine = nullptr, theirs = nullptr;
  ASSERT_ACL_OK(aclrtGetCurrentContext(&mine));
  std::thread([&] {
    EXPECT_ACL_OK(aclrtSetDevice(0));
    EXPECT_ACL_OK(aclrtGetCurrentContext(&theirs));
    EXPECT_ACL_OK(aclrtResetDevice(0));
  }).join();
  EXPECT_EQ(mine, theirs);
}

TEST_F(AclContext, ResetDeviceIsReferenceCounted) {
  ASSERT_ACL_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  EXPECT_ACL_OK(aclrtResetDevice(0));
  EXPECT_ACL_OK(aclrtCreateStream(&stream));  // still set once by the fixture
  EXPECT_ACL_OK(aclrtResetDevice(0));
  EXPECT_EQ(aclrtSynchronizeStream(stream), 107002);
  EXPECT_EQ(aclrtResetDevice(0), 107002);
  ASSERT_ACL_OK(aclrtSetDevice(0));
  EXPECT_EQ(aclrtDestroyStream(stream), 107017);  // it ended with its context
}

TEST_F(AclContext, ForcedResetIgnoresTheCount) {
  ASSERT_ACL_OK(aclrtSetDevice(0));
  EXPECT_ACL_OK(aclrtResetDeviceForce(0));
  EXPECT_EQ(aclrtSynchronizeDevice(), 107002);
  ASSERT_ACL_OK(aclrtSetDevice(0));
}

TEST_F(AclContext, ADeviceThatDoesNotExistGets107001) {
  uint32_t count = 0;
  ASSERT_ACL_OK(aclrtGetDeviceCount(&count));
  EXPECT_EQ(aclrtSetDevice(static_cast<int32_t>(count)), 107001);
  EXPECT_EQ(aclrtSetDevice(-1), 107001);
  EXPECT_EQ(aclrtResetDevice(-1), 107001);
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtCreateContext(&context, 55), 107001);
}

TEST_F(AclContext, TheDeviceSaysWhatItHas) {
  const auto capability = [](aclDeviceInfo info) {
    int64_t value = -1;
    EXPECT_ACL_OK(aclGetDeviceCapability(0, info, &value));
    return value;
  };
  EXPECT_GE(capability(ACL_DEVICE_INFO_AI_CORE_NUM), 1);
  EXPECT_EQ(capability(ACL_DEVICE_INFO_VECTOR_CORE_NUM), 7) << "of an Ascend310P3";
  EXPECT_EQ(capability(ACL_DEVICE_INFO_L2_SIZE), 16 << 20);
  int64_t value = -1;
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_UNDEFINED, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDeviceCapability(99, ACL_DEVICE_INFO_L2_SIZE, &value), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(AclContext, CreateBindsAndTheLastSetWins) {
  aclrtContext standard = nullptr, made = nullptr, current = nullptr;
  ASSERT_ACL_OK(aclrtGetCurrentContext(&standard));
  ASSERT_ACL_OK(aclrtCreateContext(&made, 0));
  ASSERT_ACL_OK(aclrtGetCurrentContext(&current));
  EXPECT_EQ(current, made);
  EXPECT_NE(made, standard);
  ASSERT_ACL_OK(aclrtSetCurrentContext(standard));
  ASSERT_ACL_OK(aclrtGetCurrentContext(&current));
  EXPECT_EQ(current, standard);
  EXPECT_ACL_OK(aclrtDestroyContext(made));
  EXPECT_EQ(aclrtSetCurrentContext(made), 107002);
  EXPECT_EQ(aclrtDestroyContext(made), 107002);
}

TEST_F(AclContext, ADestroyedContextLeavesItsThreadWithoutOne) {
  aclrtContext standard = nullptr, made = nullptr;
  ASSERT_ACL_OK(aclrtGetCurrentContext(&standard));
  ASSERT_ACL_OK(aclrtCreateContext(&made, 0));
  ASSERT_ACL_OK(aclrtDestroyContext(made));
  EXPECT_EQ(aclrtSynchronizeDevice(), 107002);
  ASSERT_ACL_OK(aclrtSetCurrentContext(standard));
}

TEST_F(AclContext, TheDefaultOneIsNotDestroyed) {
  aclrtContext standard = nullptr;
  ASSERT_ACL_OK(aclrtGetCurrentContext(&standard));
  EXPECT_EQ(aclrtDestroyContext(standard), 107000);
}

TEST_F(AclContext, WildHandlesAreErrors) {
  int number = 0;
  EXPECT_EQ(aclrtSetCurrentContext(&number), 107002);
  EXPECT_EQ(aclrtDestroyContext(reinterpret_cast<void*>(0x1234)), 107002);
  EXPECT_EQ(aclrtSetCurrentContext(nullptr), 100000);
}

TEST_F(AclContext, RunModeIsHostAndTheSocHasAName) {
  aclrtRunMode mode = ACL_DEVICE;
  EXPECT_ACL_OK(aclrtGetRunMode(&mode));
  EXPECT_EQ(mode, ACL_HOST);
  EXPECT_STREQ(aclrtGetSocName(), "Ascend310P3");
}

}  // namespace
}  // namespace npustream::acl_test
