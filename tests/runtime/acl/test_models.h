#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <acl/acl.h>

namespace npustream::acl_test {

// Small offline models, written to files in the test's temporary folder; the paths are given back.

// y = max(x + [0.5, −1, 2, 0], 0) for x [1, 4], compiled for `soc`.
std::string WriteAddRelu(const std::string& soc = "Ascend310P3");
// The same for x [−1, 4] with gears 1, 2 and 4.
std::string WriteDynamicAddRelu();
// y = max(x + bias, 0) for x [1, 1, h, w] and bias [1], with the image sizes, or the dims, 4x4, 1x2 and 2x1.
std::string WriteReluOfGears(bool by_image_size);
// A static AIPP for NV12 of 32x16 without colour conversion: (y, u, v − 3) · 0.5 as [1, 3, 16, 32].
std::string WriteAippModel();
// The same for NV12 of 16x32 and 8x64 (height, width), chosen at run time.
std::string WriteAippModelOfSizes();
// Any bytes under that name.
std::string WriteBytes(const std::string& name, const std::vector<char>& bytes);
std::vector<char> ReadBytes(const std::string& path);

// The inputs or outputs of a run in device memory of its own.
class DeviceDataset {
 public:
  explicit DeviceDataset(const std::vector<size_t>& bytes);
  ~DeviceDataset();
  DeviceDataset(const DeviceDataset&) = delete;
  DeviceDataset& operator=(const DeviceDataset&) = delete;

  aclmdlDataset* get() const { return dataset_; }
  void* memory(size_t index) const { return memory_[index]; }
  void Write(size_t index, const std::vector<float>& values) const;
  std::vector<float> Read(size_t index, size_t count) const;

 private:
  aclmdlDataset* dataset_;
  std::vector<void*> memory_;
};

}  // namespace npustream::acl_test
