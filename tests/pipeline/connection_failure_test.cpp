#include "pipeline/camera/connection_failure.h"

#include <gst/gst.h>
#include <gtest/gtest.h>

#include "tests/support/tcp_port.h"

namespace npustream::pipeline {
namespace {

using testing_support::TcpPort;

class WhyNotReachableTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { gst_init(nullptr, nullptr); }
};

TEST_F(WhyNotReachableTest, SaysThatNobodyAnswersAndNeverThePassword) {
  const TcpPort port;
  EXPECT_EQ(WhyNotReachable("rtsp://user:secret@" + port.Host() + "/1"), port.Host() + ": Connection refused");
  EXPECT_EQ(WhyNotReachable("http://" + port.Host() + "/film.mp4"), port.Host() + ": Connection refused");
}

TEST_F(WhyNotReachableTest, IsEmptyWhenSomebodyAnswers) {
  TcpPort port;
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

// The message as rtspsrc's documentation describes it.
TEST_F(WhyNotReachableTest, SilenceIsToldFromOtherMessages) {
  GstMessage* silence = gst_message_new_element(nullptr, gst_structure_new_empty("GstRTSPSrcTimeout"));
  GstMessage* other = gst_message_new_element(nullptr, gst_structure_new_empty("GstNavigation"));
  GstMessage* end = gst_message_new_eos(nullptr);
  EXPECT_TRUE(IsSilence(*silence));
  EXPECT_FALSE(IsSilence(*other));
  EXPECT_FALSE(IsSilence(*end));
  for (GstMessage* message : {silence, other, end}) gst_message_unref(message);
}

}  // namespace
}  // namespace npustream::pipeline
