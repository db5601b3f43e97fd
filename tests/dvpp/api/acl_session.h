#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#ifndef ENABLE_DVPP_INTERFACE
#define ENABLE_DVPP_INTERFACE
#endif
#include <acl/acl.h>
#include <acl/ops/acl_dvpp.h>
#include <gtest/gtest.h>

namespace npustream::dvpp {

// AscendCL initialised with device 0 for the calling thread, as a program does it.
class AclTest : public testing::Test {
 protected:
  void SetUp() override {
    const aclError initialised = aclInit(nullptr);
    ASSERT_TRUE(initialised == ACL_SUCCESS || initialised == ACL_ERROR_REPEAT_INITIALIZE);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS); }
};

// Device memory with a content, freed at the end.
class DeviceBytes {
 public:
  explicit DeviceBytes(size_t size) : size_(size) { EXPECT_EQ(acldvppMalloc(&data_, size), ACL_SUCCESS); }
  explicit DeviceBytes(const std::vector<uint8_t>& content) : DeviceBytes(content.size()) {
    EXPECT_EQ(aclrtMemcpy(data_, size_, content.data(), size_, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  ~DeviceBytes() { EXPECT_EQ(acldvppFree(data_), ACL_SUCCESS); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  void* data() const { return data_; }
  uint32_t size() const { return static_cast<uint32_t>(size_); }
  std::vector<uint8_t> Download() const {
    std::vector<uint8_t> host(size_);
    EXPECT_EQ(aclrtMemcpy(host.data(), size_, data_, size_, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return host;
  }

 private:
  void* data_ = nullptr;
  const size_t size_;
};

// The thread that loops aclrtProcessReport.
class ReportThread {
 public:
  ReportThread() {
    thread_ = std::thread([this] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      while (!stop_) (void)aclrtProcessReport(5);
      (void)aclrtResetDevice(0);
    });
  }
  ~ReportThread() {
    stop_ = true;
    thread_.join();
  }
  uint64_t id() { return static_cast<uint64_t>(thread_.native_handle()); }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace npustream::dvpp
