#include "npu_sim/device/device.h"

#include <gtest/gtest.h>

#include "base/thread_budget.h"

namespace npustream::device {
namespace {

TEST(Device, AnIdThatDoesNotExistIsNamed) {
  for (const int id : {-1, Device::Count()}) {
    const Status status = Device::Get(id).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(std::to_string(id)), std::string::npos);
  }
}

TEST(Device, IsOpenedOnceWithACoreForEveryThreadOfTheBudget) {
  Device* device = *Device::Get(0);
  EXPECT_EQ(device, *Device::Get(0));
  EXPECT_EQ(device->AiCoreCount(), ThreadBudget());
}

TEST(Device, HasThePlatformOfItsSoc) {
  const SocProfile soc = *FindSocProfile("Ascend310P3");
  EXPECT_EQ(soc.ai_cores, 8);
  EXPECT_EQ(soc.cube_mhz, 1060);
  EXPECT_EQ(soc.memory_bytes, 24'000'000'000u);
  EXPECT_EQ(soc.l2_bytes, 16'777'216u);
  EXPECT_EQ(soc.unified_buffer_bytes, 262'144u);
  EXPECT_EQ(FindSocProfile("310P3")->name, "Ascend310P3");
  EXPECT_NE(FindSocProfile("Ascend999").status().message().find("Ascend310B1"), std::string::npos);
}

TEST(Device, ItsMemoryIsNotLargerThanTheSocs) {
  Device* device = *Device::Get(0);
  EXPECT_GT(device->memory().Info().total_bytes, 0u);
  EXPECT_LE(device->memory().Info().total_bytes, device->soc().memory_bytes);
}

TEST(Device, OwnsTheAddressesOfItsMemoryOnly) {
  Device* device = *Device::Get(0);
  void* address = *device->memory().Allocate(64, PagePolicy::kHugeFirst);
  EXPECT_EQ(Device::Owning(address), device);
  EXPECT_EQ(Device::Owning(&address), nullptr);
  EXPECT_TRUE(device->memory().Free(address).ok());
}

TEST(Device, CountsCopiesByDirection) {
  Device* device = *Device::Get(0);
  const CopyCounters before = device->counters();
  device->CountCopy(CopyDirection::kHostToDevice, 3);
  device->CountCopy(CopyDirection::kDeviceToHost, 5);
  device->CountCopy(CopyDirection::kDeviceToDevice, 7);
  device->CountCopy(CopyDirection::kHostToDevice, 10);
  const CopyCounters after = device->counters();
  EXPECT_EQ(after.host_to_device - before.host_to_device, 13u);
  EXPECT_EQ(after.device_to_host - before.device_to_host, 5u);
  EXPECT_EQ(after.device_to_device - before.device_to_device, 7u);
}

TEST(Device, HasNoMoreThan2048Streams) {
  Device* device = *Device::Get(0);
  std::vector<std::unique_ptr<Stream>> streams;
  while (device->StreamCount() < Device::kMaxStreams) {
    auto stream = device->CreateStream();
    ASSERT_TRUE(stream.ok());
    streams.push_back(std::move(stream).value());
  }
  EXPECT_EQ(device->CreateStream().status().code(), StatusCode::kResourceExhausted);
  streams.pop_back();
  EXPECT_TRUE(device->CreateStream().ok());
}

}  // namespace
}  // namespace npustream::device
