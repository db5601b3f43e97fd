#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "npu_sim/om/om_model.h"

namespace npustream::om {

// Bytes of the parts of an OM file.
struct OmSizes {
  uint64_t file_bytes = 0, header_bytes = 0, metadata_bytes = 0, weight_bytes = 0;
  uint32_t node_count = 0;  // fused nodes of the (largest) plan
};

// An OM whose every index, offset, size and shape has been checked. Immutable and thread-safe.
// Errors: kNotFound or kIoError from the file system; kUnsupported for another format version; kCorruptData for
// anything that is no OM (ONNX, GGUF, text … are named), is truncated, or contradicts itself, with what and where.
class OmFile {
 public:
  static Result<std::unique_ptr<OmFile>> Open(const std::filesystem::path& path);      // maps the file
  static Result<std::unique_ptr<OmFile>> FromBytes(std::span<const std::byte> bytes);  // keeps a copy
  ~OmFile();

  const OmInfo& info() const;
  const OmSizes& sizes() const;
  double parse_ms() const;  // how long opening and verifying took

  size_t plan_count() const;
  int64_t plan_batch(size_t plan) const;
  bool plan_is_per_image(size_t plan) const;
  // The plan that runs `gear`; plan_count() when `gear` is not one of info().gears.
  size_t PlanForGear(int64_t gear) const;
  // The portable graph; its constants are copied out of the file.
  Result<Graph> LoadGraph(size_t plan) const;
  // The stored lowerings. Their constants point into the file: they live as long as this object.
  const std::vector<NativePlan>& natives(size_t plan) const;

 private:
  struct Impl;
  explicit OmFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npustream::om
