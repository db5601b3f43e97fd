#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"

namespace npustream::atc {

// Why a conversion failed: a code of the vendor's tool and a sentence.
struct Failure {
  std::string code;  // "E10001"
  std::string message;
};

// A value, or a failure.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : value_(std::move(value)) {}              // NOLINT: implicit by design
  Outcome(Failure failure) : failure_(std::move(failure)) {}  // NOLINT: implicit by design
  bool ok() const { return value_.has_value(); }
  T& value() { return *value_; }
  const T& value() const { return *value_; }
  const Failure& failure() const { return failure_; }

 private:
  std::optional<T> value_;
  Failure failure_;
};

// Nothing when all went well.
using Check = std::optional<Failure>;

// "Value [x] for parameter [--name] is invalid: reason" under code E10001, the tool's usual complaint.
Failure InvalidValue(const std::string& flag, const std::string& value, const std::string& reason,
                     const char* code = "E10001");
// The code for what a file system call reports.
Failure FileFailure(const Status& status);
// The code for what reading or compiling an ONNX model reports.
Failure ModelFailure(const Status& status);

}  // namespace npustream::atc
