#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include <acl/acl.h>

#include "base/status.h"
#include "runtime/serving/acl_session.h"
#include "runtime/serving/model_runner.h"

namespace npustream::serving {

// An OM on a device, in a context and with a stream of its own. To be made, used and destroyed on threads where
// MakeCurrent() was called; Load() does so for its own thread.
class LoadedModel {
 public:
  // kUnsupported for a model with more inputs than a picture and its batch size.
  static Result<std::unique_ptr<LoadedModel>> Load(const std::filesystem::path& om, int device_id);
  ~LoadedModel();
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

  Status MakeCurrent() const;

  const ModelInfo& info() const { return info_; }
  uint32_t id() const { return id_; }
  aclrtStream stream() const { return stream_; }
  // Index and bytes of the extra input that carries the batch size; nothing for a model with a fixed batch.
  struct BatchInput {
    size_t index = 0;
    size_t bytes = 0;
  };
  const std::optional<BatchInput>& batch_input() const { return batch_input_; }

 private:
  LoadedModel() = default;
  Status Open(const std::filesystem::path& om, int device_id);
  Status Describe();

  std::shared_ptr<AclSession> session_;
  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
  uint32_t id_ = 0;
  bool loaded_ = false;
  ModelInfo info_;
  std::optional<BatchInput> batch_input_;
};

}  // namespace npustream::serving
