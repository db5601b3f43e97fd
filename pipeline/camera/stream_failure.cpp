#include "pipeline/camera/stream_failure.h"

namespace npustream::pipeline {

std::optional<std::string> RtspFailure(const GError& error) {
  if (error.domain != GST_RESOURCE_ERROR) return std::nullopt;
  switch (error.code) {
    case GST_RESOURCE_ERROR_OPEN_READ:
    case GST_RESOURCE_ERROR_OPEN_WRITE:
    case GST_RESOURCE_ERROR_OPEN_READ_WRITE:
      return "no connection; there is no such host, or nothing answers at its port";
    case GST_RESOURCE_ERROR_NOT_FOUND: return "the server knows no stream of this path";
    case GST_RESOURCE_ERROR_NOT_AUTHORIZED: return "the server refuses this user and password";
    case GST_RESOURCE_ERROR_READ:
    case GST_RESOURCE_ERROR_WRITE: return "the connection broke off";
    default: return std::nullopt;
  }
}

bool IsBrokenOff(const GError& warning) {
  return warning.domain == GST_RESOURCE_ERROR && warning.code == GST_RESOURCE_ERROR_READ;
}

}  // namespace npustream::pipeline
