#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace npustream::testing_support {

// A port of the loopback interface that is taken: connections are refused, or accepted and never answered once it
// listens.
class TcpPort {
 public:
  TcpPort() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    number_ = ntohs(address.sin_port);
  }
  ~TcpPort() {
    if (connection_ >= 0) close(connection_);
    close(socket_);
  }
  TcpPort(const TcpPort&) = delete;
  TcpPort& operator=(const TcpPort&) = delete;

  // "127.0.0.1:PORT", as it stands in a URI.
  std::string Host() const { return "127.0.0.1:" + std::to_string(number_); }
  void Listen() { EXPECT_EQ(listen(socket_, 1), 0); }
  // While it listens: waits until somebody has connected and said something.
  void WaitForRequest() {
    connection_ = accept(socket_, nullptr, nullptr);
    char byte;
    EXPECT_EQ(recv(connection_, &byte, 1, 0), 1);
  }

 private:
  const int socket_;
  int connection_ = -1;
  uint16_t number_ = 0;
};

}  // namespace npustream::testing_support
