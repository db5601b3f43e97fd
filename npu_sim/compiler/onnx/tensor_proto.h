#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "base/file.h"
#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// The files beside a model that hold its constants: each is mapped once, however many constants it holds.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Result<std::span<const std::byte>> Bytes(const std::string& file);

 private:
  std::filesystem::path folder_;
  std::map<std::string, MappedFile> files_;
};

// A constant from a TensorProto in any of its encodings.
Result<om::Tensor> ReadTensorProto(const onnx::TensorProto& proto, ExternalFiles& files);

}  // namespace npustream::compiler
