#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "npu_sim/device/device.h"
#include "tests/runtime/acl/acl_test.h"

namespace npustream::acl_test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class AclMemory : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_ACL_OK(aclrtMalloc(&device_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclrtMallocHost(&pinned_, kBytes));
  }
  void TearDown() override {
    EXPECT_ACL_OK(aclrtFree(device_));
    EXPECT_ACL_OK(aclrtFreeHost(pinned_));
    AclTest::TearDown();
  }

  static size_t FreeBytes() {
    size_t free = 0, total = 0;
    EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    return free;
  }

  static constexpr size_t kBytes = 1000;
  void* device_ = nullptr;
  void* pinned_ = nullptr;
};

using AclMemoryDeathTest = AclMemory;

TEST_F(AclMemoryDeathTest, TheHostFaultsWhenItTouchesADeviceAddress) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH({ *static_cast<volatile char*>(device_) = 1; }, "");
  EXPECT_DEATH({ [[maybe_unused]] const char value = *static_cast<volatile char*>(device_); }, "");
}

TEST_F(AclMemory, MallocIs64ByteAlignedAndTakesTheSizeRoundedUpTo32Plus32) {
  void* memory = nullptr;
  const size_t before = FreeBytes();
  ASSERT_ACL_OK(aclrtMalloc(&memory, 65, ACL_MEM_MALLOC_NORMAL_ONLY));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  EXPECT_EQ(before - FreeBytes(), 128u);  // 96 + 32, in steps of 64
  EXPECT_ACL_OK(aclrtMemset(memory, 128, 1, 128));
  EXPECT_ACL_OK(aclrtFree(memory));
  EXPECT_EQ(FreeBytes(), before);
}

TEST_F(AclMemory, HugePagesAreFor1MiBAndMore) {
  void* memory = nullptr;
  const size_t before = FreeBytes();
  ASSERT_ACL_OK(aclrtMalloc(&memory, 3 * kMiB, ACL_MEM_MALLOC_HUGE_ONLY));
  EXPECT_EQ(before - FreeBytes(), 4 * kMiB);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (2 * kMiB), 0u);
  EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(AclMemory, SizeZeroAndWrongPoliciesAreInvalid) {
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
  EXPECT_EQ(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST), 100000);
  EXPECT_EQ(aclrtMalloc(&memory, 8, static_cast<aclrtMemMallocPolicy>(77)), 100000);
  EXPECT_EQ(aclrtMallocHost(&memory, 0), 100000);
  EXPECT_EQ(aclrtMallocHost(nullptr, 8), 100000);
}

TEST_F(AclMemory, TooMuchIs207001WithTheFigures) {
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, size_t{1} << 45, ACL_MEM_MALLOC_HUGE_FIRST), 207001);
  EXPECT_NE(Sentence().find("35184372088864 bytes"), std::string::npos);
  EXPECT_EQ(aclrtMalloc(&memory, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), 207001);
}

TEST_F(AclMemory, OnlyLiveBlocksAreFreed) {
  void* memory = nullptr;
  int number = 0;
  ASSERT_ACL_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_EQ(aclrtFree(static_cast<char*>(memory) + 64), 107000);
  ASSERT_ACL_OK(aclrtFree(memory));
  EXPECT_EQ(aclrtFree(memory), 107000);
  EXPECT_EQ(aclrtFree(&number), 107000);
  EXPECT_EQ(aclrtFree(nullptr), 100000);
  EXPECT_EQ(aclrtFreeHost(&number), 107000);
  EXPECT_EQ(aclrtFreeHost(memory), 107000);
}

TEST_F(AclMemory, CopiesGoThereAndBackAndAreCountedByDirection) {
  std::vector<uint8_t> sent(kBytes), received(kBytes);
  for (size_t index = 0; index < kBytes; ++index) sent[index] = static_cast<uint8_t>(index * 7);
  const auto before = (*device::Device::Get(0))->counters();
  ASSERT_ACL_OK(aclrtMemcpy(device_, kBytes, sent.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  void* other = nullptr;
  ASSERT_ACL_OK(aclrtMalloc(&other, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_ACL_OK(aclrtMemcpy(other, kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  ASSERT_ACL_OK(aclrtMemcpy(received.data(), kBytes, other, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  ASSERT_ACL_OK(aclrtMemcpy(pinned_, kBytes, sent.data(), 10, ACL_MEMCPY_HOST_TO_HOST));
  const auto after = (*device::Device::Get(0))->counters();
  EXPECT_EQ(received, sent);
  EXPECT_EQ(after.host_to_device - before.host_to_device, kBytes);
  EXPECT_EQ(after.device_to_device - before.device_to_device, kBytes);
  EXPECT_EQ(after.device_to_host - before.device_to_host, kBytes);
  EXPECT_ACL_OK(aclrtFree(other));
}

TEST_F(AclMemory, ByDefaultThePointersDecideTheDirection) {
  std::vector<uint8_t> sent(16, 9), received(16);
  ASSERT_ACL_OK(aclrtMemcpy(device_, kBytes, sent.data(), 16, ACL_MEMCPY_DEFAULT));
  ASSERT_ACL_OK(aclrtMemcpy(received.data(), 16, device_, 16, ACL_MEMCPY_DEFAULT));
  EXPECT_EQ(received, sent);
}

TEST_F(AclMemory, AKindThatDoesNotFitThePointersIs107000) {
  std::vector<uint8_t> host(kBytes);
  void* other = nullptr;
  ASSERT_ACL_OK(aclrtMalloc(&other, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  struct Kind {
    aclrtMemcpyKind kind;
    bool from_device, to_device;
  };
  for (const Kind& kind : {Kind{ACL_MEMCPY_HOST_TO_HOST, false, false}, Kind{ACL_MEMCPY_HOST_TO_DEVICE, false, true},
                           Kind{ACL_MEMCPY_DEVICE_TO_HOST, true, false}, Kind{ACL_MEMCPY_DEVICE_TO_DEVICE, true, true},
                           Kind{ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, true, true}}) {
    for (const bool from_device : {false, true}) {
      for (const bool to_device : {false, true}) {
        SCOPED_TRACE(testing::Message() << kind.kind << " from " << from_device << " to " << to_device);
        const bool fits = from_device == kind.from_device && to_device == kind.to_device;
        const void* source = from_device ? device_ : host.data();
        void* destination = to_device ? other : pinned_;
        EXPECT_EQ(aclrtMemcpy(destination, 16, source, 16, kind.kind), fits ? 0 : 107000);
        EXPECT_EQ(aclrtMemcpy2d(destination, 4, source, 4, 4, 4, kind.kind), fits ? 0 : 107000);
        const aclError wanted = !fits ? 107000 : kind.kind == ACL_MEMCPY_HOST_TO_HOST ? 207000 : 0;
        EXPECT_EQ(aclrtMemcpyAsync(destination, 16, source, 16, kind.kind, nullptr), wanted);
      }
    }
  }
  EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_ACL_OK(aclrtFree(other));
}

TEST_F(AclMemory, AHoleInHostMemoryIsAnErrorAndNoCrash) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* pages = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<char*>(pages) + page, page), 0);
  void* memory = nullptr;
  ASSERT_ACL_OK(aclrtMalloc(&memory, 3 * page, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_EQ(aclrtMemcpy(memory, 3 * page, pages, 3 * page, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_EQ(aclrtMemcpy(pages, 3 * page, memory, 3 * page, ACL_MEMCPY_DEVICE_TO_HOST), 107000);
  EXPECT_ACL_OK(aclrtMemcpy(memory, 3 * page, pages, page, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_ACL_OK(aclrtFree(memory));
  munmap(pages, 3 * page);
}

TEST_F(AclMemory, MoreThanTheDestinationHoldsIs107000) {
  std::vector<uint8_t> bytes(2 * kBytes);
  EXPECT_EQ(aclrtMemcpy(device_, 10, bytes.data(), 11, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_EQ(aclrtMemcpy(device_, 2 * kBytes, bytes.data(), 2 * kBytes, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_NE(Sentence().find("destination"), std::string::npos);
  EXPECT_EQ(aclrtMemcpy(bytes.data(), 2 * kBytes, device_, 2 * kBytes, ACL_MEMCPY_DEVICE_TO_HOST), 107000);
  EXPECT_EQ(aclrtMemcpy(device_, kBytes, bytes.data(), 0, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_EQ(aclrtMemset(device_, 10, 0, 11), 107000);
  EXPECT_EQ(aclrtMemset(device_, 0, 0, 0), 107000);
}

TEST_F(AclMemory, AWildPointerIsAnErrorAndNoCrash) {
  std::vector<uint8_t> bytes(kBytes);
  void* wild = reinterpret_cast<void*>(0x10);
  const void* read_only = "text in a section that cannot be written";
  EXPECT_EQ(aclrtMemcpy(device_, kBytes, wild, 8, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_EQ(aclrtMemcpy(wild, kBytes, device_, 8, ACL_MEMCPY_DEVICE_TO_HOST), 107000);
  EXPECT_EQ(aclrtMemcpy(const_cast<void*>(read_only), 8, device_, 8, ACL_MEMCPY_DEVICE_TO_HOST), 107000);
  EXPECT_EQ(aclrtMemset(wild, 8, 0, 8), 107000);
  EXPECT_EQ(aclrtMemcpy(nullptr, 8, device_, 8, ACL_MEMCPY_DEVICE_TO_HOST), 100000);
  EXPECT_EQ(aclrtMemcpy(device_, 8, nullptr, 8, ACL_MEMCPY_HOST_TO_DEVICE), 100000);
  EXPECT_EQ(aclrtMemcpy(device_, 8, bytes.data(), 8, static_cast<aclrtMemcpyKind>(9)), 100000);
}

TEST_F(AclMemory, AFreedBlockIsAnErrorAndNoCrash) {
  void* memory = nullptr;
  void* host = nullptr;
  uint8_t bytes[8] = {};
  ASSERT_ACL_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_ACL_OK(aclrtFree(memory));
  EXPECT_EQ(aclrtMemcpy(bytes, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_HOST), 107000);
  EXPECT_EQ(aclrtMemsetAsync(memory, 8, 0, 8, nullptr), 107000);
  ASSERT_ACL_OK(aclrtMallocHost(&host, 64));
  ASSERT_ACL_OK(aclrtFreeHost(host));
  EXPECT_EQ(aclrtMemcpy(device_, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
}

TEST_F(AclMemory, AsyncCopiesKeepTheOrderOfTheStream) {
  auto* host = static_cast<uint8_t*>(pinned_);
  std::memset(host, 3, kBytes);
  ASSERT_ACL_OK(aclrtMemsetAsync(device_, kBytes, 1, kBytes, nullptr));
  ASSERT_ACL_OK(aclrtMemcpyAsync(device_, kBytes, host, 10, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  ASSERT_ACL_OK(aclrtMemcpyAsync(host + 100, 20, device_, 20, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  ASSERT_ACL_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(host[109], 3);
  EXPECT_EQ(host[110], 1);
}

TEST_F(AclMemory, AsyncFromHostToHostIs207000) {
  uint8_t bytes[8] = {};
  EXPECT_EQ(aclrtMemcpyAsync(pinned_, 8, bytes, 8, ACL_MEMCPY_HOST_TO_HOST, nullptr), 207000);
}

TEST_F(AclMemory, AsyncWithPageableMemoryReturnsWhenTheCopyIsDone) {
  ASSERT_ACL_OK(aclrtMemset(device_, kBytes, 5, kBytes));
  std::vector<uint8_t> bytes(kBytes);
  ASSERT_ACL_OK(aclrtMemcpyAsync(bytes.data(), kBytes, device_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, nullptr));
  EXPECT_EQ(bytes, std::vector<uint8_t>(kBytes, 5));  // without synchronizing
}

TEST_F(AclMemory, RowsAreCopiedBetweenPitches) {
  std::vector<uint8_t> picture(4 * 10), out(4 * 3);
  for (size_t index = 0; index < picture.size(); ++index) picture[index] = static_cast<uint8_t>(index);
  ASSERT_ACL_OK(aclrtMemcpy2d(device_, 16, picture.data(), 10, 3, 4, ACL_MEMCPY_HOST_TO_DEVICE));
  ASSERT_ACL_OK(aclrtMemcpy2d(out.data(), 3, device_, 16, 3, 4, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_EQ(out, (std::vector<uint8_t>{0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}));
  EXPECT_EQ(aclrtMemcpy2d(device_, 2, picture.data(), 10, 3, 4, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
  EXPECT_EQ(aclrtMemcpy2d(device_, SIZE_MAX, picture.data(), 10, 3, 4, ACL_MEMCPY_HOST_TO_DEVICE), 107000);
}

TEST_F(AclMemory, InfoOfDdrAndHbmAreTheSameOnADdrDevice) {
  size_t free[2] = {}, total[2] = {};
  EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free[0], &total[0]));
  EXPECT_ACL_OK(aclrtGetMemInfo(ACL_DDR_MEM, &free[1], &total[1]));
  EXPECT_EQ(free[0], free[1]);
  EXPECT_EQ(total[0], total[1]);
  EXPECT_LT(free[0], total[0]);
  EXPECT_EQ(aclrtGetMemInfo(static_cast<aclrtMemAttr>(99), &free[0], &total[0]), 100000);
}

}  // namespace
}  // namespace npustream::acl_test
