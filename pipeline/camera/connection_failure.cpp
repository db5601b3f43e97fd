#include "pipeline/camera/connection_failure.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/unique_handle.h"
#include "pipeline/camera/gst_handles.h"

namespace npustream::pipeline {
namespace {

constexpr int kPatienceMs = 2000;

using UniqueUri = UniqueHandle<GstUri, gst_uri_unref>;
using UniqueAddresses = UniqueHandle<addrinfo, freeaddrinfo>;

int UsualPort(std::string_view scheme) {
  if (scheme == "http") return 80;
  if (scheme == "https") return 443;
  if (scheme == "rtsp" || scheme == "rtspt") return 554;
  if (scheme == "rtsps") return 322;
  if (scheme == "rtmp") return 1935;
  return 0;
}

// 0, or the system's error number.
int Connect(const addrinfo& address) {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol);
  if (fd < 0) return errno;
  int error = connect(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd waiting{fd, POLLOUT, 0};
    socklen_t size = sizeof error;
    if (poll(&waiting, 1, kPatienceMs) != 1) {
      error = ETIMEDOUT;
    } else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
      error = errno;
    }
  }
  close(fd);
  return error;
}

}  // namespace

std::string WhyNotReachable(const std::string& text) {
  const UniqueUri uri(gst_uri_from_string(text.c_str()));
  const gchar* host = uri == nullptr ? nullptr : gst_uri_get_host(uri.get());
  const gchar* scheme = uri == nullptr ? nullptr : gst_uri_get_scheme(uri.get());
  if (host == nullptr || scheme == nullptr) return "";
  const int usual = UsualPort(scheme);
  if (usual == 0) return "";
  const guint given = gst_uri_get_port(uri.get());
  const std::string port = std::to_string(given == GST_URI_NO_PORT ? static_cast<guint>(usual) : given);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  const int unknown = getaddrinfo(host, port.c_str(), &hints, &raw);
  if (unknown != 0) return fmt::format("{}: {}", host, gai_strerror(unknown));
  const UniqueAddresses addresses(raw);
  int error = 0;
  for (const addrinfo* address = raw; address != nullptr; address = address->ai_next) {
    error = Connect(*address);
    if (error == 0) return "";
  }
  return fmt::format("{}:{}: {}", host, port, std::strerror(error));
}

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

bool IsSilence(GstMessage& message) {
  return GST_MESSAGE_TYPE(&message) == GST_MESSAGE_ELEMENT && gst_message_has_name(&message, "GstRTSPSrcTimeout");
}

}  // namespace npustream::pipeline
