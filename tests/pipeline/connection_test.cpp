#include "pipeline/camera/connection.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include <gst/gst.h>
#include <gtest/gtest.h>

namespace npustream::pipeline {
namespace {

// A port of this machine which only its owner knows; nobody answers until it listens.
class Port {
 public:
  Port() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    number_ = ntohs(address.sin_port);
  }
  ~Port() { close(fd_); }
  void Listen() const { EXPECT_EQ(listen(fd_, 1), 0); }
  std::string Host() const { return "127.0.0.1:" + std::to_string(number_); }

 private:
  int fd_;
  int number_ = 0;
};

class WhyNotReachableTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }
};

TEST_F(WhyNotReachableTest, SaysThatNobodyAnswersAndNeverThePassword) {
  const Port port;
  EXPECT_EQ(WhyNotReachable("rtsp://user:secret@" + port.Host() + "/1"), port.Host() + ": Connection refused");
  EXPECT_EQ(WhyNotReachable("http://" + port.Host() + "/film.mp4"), port.Host() + ": Connection refused");
}

TEST_F(WhyNotReachableTest, IsEmptyWhenSomebodyAnswers) {
  const Port port;
  port.Listen();
  EXPECT_EQ(WhyNotReachable("http://" + port.Host() + "/film.mp4"), "");
}

// RFC 6761 keeps .invalid from ever being a name.
TEST_F(WhyNotReachableTest, NamesAHostThatIsNotKnown) {
  EXPECT_EQ(WhyNotReachable("rtsp://camera.invalid/1").rfind("camera.invalid: ", 0), 0u);
}

TEST_F(WhyNotReachableTest, IsEmptyForWhatIsNoNetworkAddress) {
  EXPECT_EQ(WhyNotReachable("v4l2:///dev/video0"), "");
  EXPECT_EQ(WhyNotReachable("not a uri"), "");
  EXPECT_EQ(WhyNotReachable(""), "");
}

}  // namespace
}  // namespace npustream::pipeline
