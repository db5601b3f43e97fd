#include "tests/runtime/serving/tiny_http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string_view>

#include <gtest/gtest.h>

namespace npustream::serving {
namespace {

void SendAll(int connection, std::string_view data) {
  while (!data.empty()) {
    const ssize_t sent = send(connection, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    data.remove_prefix(static_cast<size_t>(sent));
  }
}

}  // namespace

TinyHttpServer::TinyHttpServer() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listener_, 8), 0);
  EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

TinyHttpServer::~TinyHttpServer() {
  shutdown(listener_, SHUT_RDWR);  // wakes accept
  thread_.join();
  close(listener_);
}

std::string TinyHttpServer::Url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

void TinyHttpServer::ServeCutShort(const std::string& path, const std::string& body, size_t sent_bytes) {
  MutexLock lock(mutex_);
  answers_[path] = {body, sent_bytes};
}

void TinyHttpServer::Run() {
  while (true) {
    const int connection = accept(listener_, nullptr, nullptr);
    if (connection < 0) return;
    AnswerOne(connection);
    close(connection);
  }
}

void TinyHttpServer::AnswerOne(int connection) {
  std::string request;
  char chunk[1024];
  while (request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t count = recv(connection, chunk, sizeof(chunk), 0);
    if (count <= 0) return;
    request.append(chunk, static_cast<size_t>(count));
  }
  ++requests_;
  const size_t begin = request.find(' ') + 1;
  const std::string path = request.substr(begin, request.find(' ', begin) - begin);
  MutexLock lock(mutex_);
  const auto found = answers_.find(path);
  if (found == answers_.end()) {
    SendAll(connection, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return;
  }
  const Answer& answer = found->second;
  SendAll(connection,
          "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(answer.body.size()) + "\r\nConnection: close\r\n\r\n");
  SendAll(connection, std::string_view(answer.body).substr(0, answer.sent_bytes));
}

}  // namespace npustream::serving
