// Cameras that speak RTSP, as `npustream run` sees them. The server is GStreamer's, on the loopback interface.
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/e2e/summary.h"
#include "tests/support/rtsp_server.h"
#include "tests/support/run_program.h"
#include "tests/support/tcp_port.h"
#include "tests/support/temporary_folder.h"

namespace npustream::e2e {
namespace {

using testing_support::RtspServer;
using testing_support::RunShell;
using testing_support::TcpPort;
using testing_support::TemporaryFolder;

constexpr int kFrames = 25;
constexpr int kEndless = -1;

std::string Chain(const std::string& codec, int frames) {
  return "videotestsrc is-live=true pattern=ball num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,format=I420,width=320,height=240,framerate=25/1 ! x" + codec + "enc tune=zerolatency key-int-max=10 ! rtph" +
         codec + "pay name=pay0 config-interval=1";
}

class Rtsp : public testing::Test {
 protected:
  // Runs the cameras (name → URI) and reads what they left behind.
  void Run(const std::map<std::string, std::string>& cameras) {
    std::ofstream yaml(folder_ / "cameras.yaml");
    yaml << "cameras:\n";
    for (const auto& [name, uri] : cameras) yaml << "  " << name << ": {uri: '" << uri << "'}\n";
    yaml << "outputs: {records: records.jsonl}\n";
    yaml.close();
    const auto run = RunShell("cd '" + folder_.path().string() + "' && echo $$ > pid && "
                              "exec npustream run -c cameras.yaml --summary-json summary.json");
    exit_code_ = run.exit_code;
    output_ = run.output;
    summary_ = ReadJson(folder_ / "summary.json");
    for (const auto& record : ReadJsonLines(folder_ / "records.jsonl")) {
      records_[record["camera_id"].get<std::string>()].push_back(record);
    }
  }
  // Ctrl-C. Only while Run runs, and its cameras have started.
  void Interrupt() {
    pid_t pid = 0;
    std::ifstream(folder_ / "pid") >> pid;
    ASSERT_GT(pid, 0);
    kill(pid, SIGINT);
  }

  // The failure of a camera, which is one sentence on the terminal and the same in the summary.
  std::string FailureOf(const std::string& camera) const {
    const std::string sentence = summary_["cameras"][camera].value("error", "");
    const std::string line = "npustream: camera " + camera + ": " + sentence + "\n";
    const size_t at = output_.find(line);
    EXPECT_NE(at, std::string::npos) << output_;
    EXPECT_EQ(output_.find("camera " + camera + ":", at + line.size()), std::string::npos) << output_;
    return sentence;
  }
  void ExpectNowhere(const std::string& secret) const {
    EXPECT_EQ(output_.find(secret), std::string::npos) << output_;
    for (const char* file : {"summary.json", "records.jsonl"}) {
      EXPECT_EQ(ReadTextFile(folder_ / file)->find(secret), std::string::npos) << file;
    }
  }
  void ExpectWhole(const std::string& camera, int frames) const {
    const auto& figures = summary_["cameras"][camera];
    EXPECT_FALSE(figures.contains("error")) << figures;
    EXPECT_EQ(figures["frames_in"], frames);
    EXPECT_EQ(figures["records_out"].get<int64_t>() + TotalDropped(figures), frames) << figures;
    ExpectRecordsInOrder(camera);
  }
  void ExpectRecordsInOrder(const std::string& camera) const {
    ASSERT_TRUE(records_.contains(camera)) << output_;
    const auto& records = records_.at(camera);
    EXPECT_EQ(summary_["cameras"][camera]["records_out"], records.size());
    for (size_t i = 1; i < records.size(); ++i) {
      // A jitter buffer that catches up may give two pictures one time.
      EXPECT_GE(records[i]["pts_ns"], records[i - 1]["pts_ns"]);
      EXPECT_GT(records[i]["frame_id"], records[i - 1]["frame_id"]);
    }
  }

  TemporaryFolder folder_;
  int exit_code_ = -1;
  std::string output_;
  nlohmann::json summary_;
  std::map<std::string, std::vector<nlohmann::json>> records_;
};

TEST_F(Rtsp, H264AndH265ArriveAndEndWithTheStream) {
  RtspServer open, closed("bob", "s3cret");
  open.Serve("/h264", Chain("264", kFrames));
  open.Serve("/h265", Chain("265", kFrames));
  closed.Serve("/h264", Chain("264", kFrames));
  Run({{"gate", open.Uri("/h264")}, {"yard", open.Uri("/h265")}, {"door", closed.Uri("/h264", "bob:s3cret")}});
  EXPECT_EQ(exit_code_, 0) << output_;
  for (const char* camera : {"gate", "yard", "door"}) ExpectWhole(camera, kFrames);
  ExpectNowhere("s3cret");
}

TEST_F(Rtsp, WhatCannotBeOpenedIsOneSentenceWithoutPassword) {
  RtspServer open, closed("bob", "s3cret");
  const TcpPort refused;
  open.Serve("/h264", Chain("264", kFrames));
  closed.Serve("/h264", Chain("264", kFrames));
  open.Serve("/sound", "audiotestsrc is-live=true num-buffers=20 ! mulawenc ! rtppcmupay name=pay0");
  setenv("NPUSTREAM_TEST_PASSWORD", "fr0m-env", 1);
  Run({{"good", open.Uri("/h264")},
       {"path", open.Uri("/nothing", "me:hush")},
       {"sound", open.Uri("/sound", "me:hush")},
       {"refused", "rtsp://me:hush@" + refused.Host() + "/x"},
       {"slash", "rtsp://me:hush/hush@" + refused.Host() + "/x"},
       {"password", closed.Uri("/h264", "bob:hush")},
       {"nobody", closed.Uri("/h264")},
       {"query", open.Uri("/nothing?password=${NPUSTREAM_TEST_PASSWORD}")}});
  EXPECT_EQ(exit_code_, 1) << output_;
  ExpectWhole("good", kFrames);
  EXPECT_EQ(FailureOf("path"), open.Uri("/nothing", "me:***") + ": the server knows no stream of this path");
  EXPECT_EQ(FailureOf("sound"), open.Uri("/sound", "me:***") + " has no video in a format that can be decoded");
  EXPECT_EQ(FailureOf("refused"), "rtsp://me:***@" + refused.Host() + "/x cannot be opened: " + refused.Host() +
                                      ": Connection refused");
  EXPECT_THAT(FailureOf("slash"), testing::StartsWith("rtsp://me:***@127.0.0.1:"));
  EXPECT_EQ(FailureOf("password"), closed.Uri("/h264", "bob:***") + ": the server refuses this user and password");
  EXPECT_EQ(FailureOf("nobody"), closed.Uri("/h264") + ": the server refuses this user and password");
  EXPECT_THAT(FailureOf("query"), testing::HasSubstr("${NPUSTREAM_TEST_PASSWORD}"));
  ExpectNowhere("hush");
  ExpectNowhere("fr0m-env");
}

TEST_F(Rtsp, ACameraWhoseConnectionIsLostHasFailedAndTheOthersGoOn) {
  RtspServer steady, broken;
  steady.Serve("/h264", Chain("264", kFrames));
  broken.Serve("/h264", Chain("264", kEndless), [&](int frame) {
    if (frame == 10) broken.HangUp();
  });
  Run({{"gate", steady.Uri("/h264")}, {"yard", broken.Uri("/h264")}});
  EXPECT_EQ(exit_code_, 1) << output_;
  ExpectWhole("gate", kFrames);
  EXPECT_EQ(FailureOf("yard"), broken.Uri("/h264") + ": the connection broke off");
  const auto& yard = summary_["cameras"]["yard"];
  EXPECT_GT(yard["frames_in"], 0);
  EXPECT_EQ(yard["records_out"].get<int64_t>() + TotalDropped(yard), yard["frames_in"]) << yard;
  ExpectRecordsInOrder("yard");
}

TEST_F(Rtsp, AnInterruptEndsCamerasThatHaveNoEnd) {
  RtspServer server;
  TcpPort mute;
  mute.Listen();
  std::thread waiter([&] { mute.WaitForRequest(); });
  server.Serve("/h264", Chain("264", kEndless), [&, asked = false](int frame) mutable {
    if (frame < 20 || std::exchange(asked, true)) return;
    waiter.join();
    Interrupt();
  });
  Run({{"gate", server.Uri("/h264")}, {"mute", "rtsp://" + mute.Host() + "/x"}});
  EXPECT_EQ(exit_code_, 0) << output_;
  const auto& gate = summary_["cameras"]["gate"];
  EXPECT_EQ(gate["records_out"].get<int64_t>() + TotalDropped(gate), gate["frames_in"]) << gate;
  EXPECT_EQ(summary_["cameras"]["mute"]["frames_in"], 0);
  ExpectRecordsInOrder("gate");
}

}  // namespace
}  // namespace npustream::e2e
