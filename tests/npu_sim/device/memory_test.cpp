#include "npu_sim/device/memory.h"

#include <cstring>

#include <gtest/gtest.h>

namespace npustream::device {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

std::unique_ptr<Memory> CardMemory(size_t bytes = 64 * kMiB) {
  auto memory = Memory::Create(bytes, HostAccess::kForbidden);
  EXPECT_TRUE(memory.ok());
  return std::move(memory).value();
}

TEST(DeviceMemoryDeathTest, TheHostFaultsWhenItReadsADeviceAddress) {
  const auto memory = CardMemory();
  auto* address = static_cast<volatile char*>(*memory->Allocate(64, PagePolicy::kHugeFirst));
  EXPECT_DEATH({ [[maybe_unused]] const char value = *address; }, "");
}

TEST(DeviceMemoryDeathTest, TheHostFaultsWhenItWritesADeviceAddress) {
  const auto memory = CardMemory();
  auto* address = static_cast<volatile char*>(*memory->Allocate(4 * kMiB, PagePolicy::kHugeFirst));
  EXPECT_DEATH({ address[2 * kMiB] = 1; }, "");
}

TEST(DeviceMemory, PagesLieAtAConstantOffsetAndKeepWhatIsWritten) {
  const auto memory = CardMemory();
  void* first = *memory->Allocate(100, PagePolicy::kHugeFirst);
  void* second = *memory->Allocate(3 * kMiB, PagePolicy::kHugeFirst);
  std::byte* first_host = *memory->Translate(first, 100);
  std::byte* second_host = *memory->Translate(second, 3 * kMiB);
  EXPECT_EQ(first_host - static_cast<std::byte*>(first), second_host - static_cast<std::byte*>(second));
  EXPECT_EQ(memory->ToDevice(second_host + 5), static_cast<std::byte*>(second) + 5);
  std::memset(second_host, 0x5a, 3 * kMiB);
  EXPECT_EQ(second_host[3 * kMiB - 1], std::byte{0x5a});
}

TEST(DeviceMemory, BlocksAre64ByteAlignedAndLargeOnesLieInGranulesOf2MiB) {
  const auto memory = CardMemory();
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{100}, kMiB}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*memory->Allocate(bytes, PagePolicy::kHugeFirst)) % 64, 0u);
  }
  const size_t free_before = memory->Info().free_bytes;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*memory->Allocate(kMiB + 1, PagePolicy::kHugeFirst)) % (2 * kMiB), 0u);
  EXPECT_EQ(free_before - memory->Info().free_bytes, 2 * kMiB);
}

TEST(DeviceMemory, HugeFirstFallsBackToNormalPagesAndHugeOnlyFails) {
  const auto memory = CardMemory(4 * kMiB);
  // Both granules are begun: 64 bytes at the low end, and one more than a granule at the high end.
  ASSERT_TRUE(memory->Allocate(64, PagePolicy::kNormalOnly).ok());
  ASSERT_TRUE(memory->Allocate(2 * kMiB, PagePolicy::kHugeOnly).ok());
  EXPECT_EQ(memory->Allocate(kMiB + kMiB / 2, PagePolicy::kHugeOnly).status().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(memory->Allocate(kMiB + kMiB / 2, PagePolicy::kHugeFirst).ok());
}

TEST(DeviceMemory, MoreThanThereIsSaysHowMuchIsFree) {
  const auto memory = CardMemory(4 * kMiB);
  const Status status = memory->Allocate(5 * kMiB, PagePolicy::kHugeFirst).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("4194304 of 4194304 bytes are free"), std::string::npos) << status.message();
}

TEST(DeviceMemory, TranslateRefusesWhatLeavesItsBlock) {
  const auto memory = CardMemory();
  auto* address = static_cast<std::byte*>(*memory->Allocate(128, PagePolicy::kHugeFirst));
  EXPECT_TRUE(memory->Translate(address + 64, 64).ok());
  EXPECT_EQ(memory->Translate(address + 64, 65).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(memory->Translate(address + 4096, 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(memory->Translate(&memory, 1).status().code(), StatusCode::kInvalidArgument);
}

TEST(DeviceMemory, AFreedBlockIsNeitherTranslatedNorFreedAgain) {
  const auto memory = CardMemory();
  void* address = *memory->Allocate(128, PagePolicy::kHugeFirst);
  EXPECT_TRUE(memory->Free(address).ok());
  EXPECT_FALSE(memory->Translate(address, 1).ok());
  EXPECT_FALSE(memory->Free(address).ok());
  EXPECT_EQ(memory->Info().free_bytes, memory->Info().total_bytes);
}

TEST(DeviceMemory, OnBoardsTheHostSeesTheSameAddress) {
  const std::unique_ptr<Memory> memory = Memory::Create(4 * kMiB, HostAccess::kAllowed).value();
  auto* address = static_cast<std::byte*>(*memory->Allocate(64, PagePolicy::kHugeFirst));
  EXPECT_EQ(*memory->Translate(address, 64), address);
  address[0] = std::byte{1};
  EXPECT_EQ(address[0], std::byte{1});
}

}  // namespace
}  // namespace npustream::device
