#include "base/status.h"

#include "base/printable.h"

namespace npustream {

std::string_view ToString(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "ok";
    case StatusCode::kInvalidArgument: return "invalid argument";
    case StatusCode::kNotFound: return "not found";
    case StatusCode::kAlreadyExists: return "already exists";
    case StatusCode::kFailedPrecondition: return "failed precondition";
    case StatusCode::kUnsupported: return "unsupported";
    case StatusCode::kCorruptData: return "corrupt data";
    case StatusCode::kResourceExhausted: return "resource exhausted";
    case StatusCode::kTimeout: return "timeout";
    case StatusCode::kUnavailable: return "unavailable";
    case StatusCode::kIoError: return "I/O error";
    case StatusCode::kInternal: return "internal error";
  }
  return "unknown";
}

Status::Status(StatusCode code, std::string_view message, std::source_location where)
    : code_(code), message_(Printable(message)), where_(where) {
  assert(code != StatusCode::kOk);
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  std::string message(context);
  message += ": ";
  message += message_;
  return Status(code_, message, where_);
}

}  // namespace npustream
