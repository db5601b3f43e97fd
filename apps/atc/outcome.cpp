#include "apps/atc/outcome.h"

#include <fmt/format.h>

namespace npustream::atc {

Failure InvalidValue(const std::string& flag, const std::string& value, const std::string& reason, const char* code) {
  return {code, fmt::format("Value [{}] for parameter [--{}] is invalid. Reason: {}", value, flag, reason)};
}

Failure FileFailure(const Status& status) {
  switch (status.code()) {
    case StatusCode::kNotFound: return {"E13001", status.message()};
    case StatusCode::kCorruptData: return {"E13005", status.message()};
    default: return {"E13003", status.message()};
  }
}

Failure ModelFailure(const Status& status) {
  switch (status.code()) {
    case StatusCode::kNotFound: return {"E13001", status.message()};
    case StatusCode::kIoError: return {"E13003", status.message()};
    case StatusCode::kCorruptData: return {"E13005", status.message()};
    case StatusCode::kUnsupported: return {"E16002", status.message()};
    case StatusCode::kInvalidArgument: return {"E10001", status.message()};
    default: return {"E19999", status.message()};
  }
}

}  // namespace npustream::atc
