// `npustream run` as a user calls it: every frame is accounted for, results depend on nothing but the input.
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/e2e/summary.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_data.h"

namespace npustream::e2e {
namespace {

using testing_support::RunShell;
using testing_support::TemporaryFolder;

// A YAML file for `count` cameras on one clip.
std::string CamerasYaml(int count, const std::string& clip, const std::string& records,
                        const std::string& model = "coco-day") {
  std::string yaml = "models:\n  day:\n    description: " + model + "\n    batch-size: 8\ncameras:\n";
  for (int i = 0; i < count; ++i) {
    yaml += "  cam" + std::to_string(i) + ":\n    uri: " + clip + "\n    model: day\n";
  }
  return yaml + "outputs:\n  records: " + records + "\n";
}

nlohmann::json RunCameras(const TemporaryFolder& folder, const std::string& yaml) {
  const auto config = folder.path() / "cameras.yaml";
  const auto summary = folder.path() / "summary.json";
  std::ofstream(config) << yaml;
  const auto run = RunShell("NPUSTREAM_MODEL_PATH='" + (testing_support::TestDataFolder() / "models").string() +
                            "' npustream run -c '" + config.string() + "' --summary-json '" + summary.string() + "'");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return ReadJson(summary);
}

// A clip of moving balls in H.264, so that the tests run where no footage is.
std::string MakeClip(const TemporaryFolder& folder, int frames) {
  const std::string clip = (folder.path() / "clip.mp4").string();
  const auto run = RunShell("gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=" + std::to_string(frames) +
                            " ! video/x-raw,width=320,height=240,framerate=25/1 ! x264enc tune=zerolatency ! h264parse ! "
                            "mp4mux ! filesink location='" + clip + "'");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return clip;
}

class CameraCount : public testing::TestWithParam<int> {};

TEST_P(CameraCount, EveryFrameIsARecordOrACountedDrop) {
  const int kFrames = GetParam() == 16 ? 12 : 40;
  const TemporaryFolder folder;
  const std::string records = (folder.path() / "records.jsonl").string();
  const auto summary = RunCameras(folder, CamerasYaml(GetParam(), MakeClip(folder, kFrames), records));
  ASSERT_EQ(summary["cameras"].size(), static_cast<size_t>(GetParam()));
  for (const auto& [name, camera] : summary["cameras"].items()) {
    EXPECT_EQ(camera["frames_in"], kFrames) << name;
    EXPECT_EQ(camera["records_out"], kFrames) << name;
    EXPECT_EQ(TotalDropped(camera), 0) << name;
  }
  EXPECT_EQ(ReadJsonLines(records).size(), static_cast<size_t>(kFrames * GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Cameras, CameraCount, testing::Values(1, 4, 16));

TEST(Cameras, FourCamerasOfRealFootageLoseNothing) {
  NPUSTREAM_TEST_DATA_OR_SKIP(clip, "videos/vtest.avi");
  NPUSTREAM_TEST_DATA_OR_SKIP(model, "models/fastestdet_352.onnx");
  const TemporaryFolder folder;
  const std::string records = (folder.path() / "records.jsonl").string();
  const auto summary = RunCameras(folder, CamerasYaml(4, clip.string(), records, "fastestdet"));
  for (const auto& [name, camera] : summary["cameras"].items()) {
    EXPECT_EQ(camera["frames_in"], 795) << name;
    EXPECT_EQ(camera["records_out"].get<int64_t>() + TotalDropped(camera), 795) << name;
    EXPECT_EQ(TotalDropped(camera), 0) << name;
  }
}

// An MP4 with B-frames starts its PTS late and takes that back by an edit list: ffprobe shows 0, 40, 80, … ms.
TEST(Detect, TimesStartAtTheFirstPicture) {
  const TemporaryFolder folder;
  const std::string at = folder.path().string();
  const auto run = RunShell("cd '" + at + "' && gst-launch-1.0 -q videotestsrc num-buffers=20 ! "
                            "video/x-raw,width=320,height=240,framerate=25/1 ! x264enc bframes=2 ! h264parse ! mp4mux ! "
                            "filesink location=clip.mp4 && npustream detect --model coco-day --input clip.mp4 --output out.jsonl");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto records = ReadJsonLines(folder.path() / "out.jsonl");
  ASSERT_EQ(records.size(), 20u);
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(records[i]["pts_ns"], 40'000'000 * i);
}

TEST(Detect, RecordsDoNotDependOnTheBatchOrTheRun) {
  NPUSTREAM_TEST_DATA_OR_SKIP(pictures, "images/coco_val128/images");
  const TemporaryFolder folder;
  std::string content[3];
  const char* batches[3] = {"1", "8", "8"};
  for (int i = 0; i < 3; ++i) {
    const auto output = folder.path() / ("out" + std::to_string(i) + ".jsonl");
    const auto run = RunShell("npustream detect --model coco-day --input '" + pictures.string() + "' --output '" +
                              output.string() + "' --batch " + batches[i]);
    ASSERT_EQ(run.exit_code, 0) << run.output;
    content[i] = *ReadTextFile(output);
  }
  EXPECT_FALSE(content[0].empty());
  EXPECT_TRUE(content[0] == content[1]) << "batch 1 and 8 differ";
  EXPECT_TRUE(content[1] == content[2]) << "two runs differ";
}

// Ctrl-C in the middle of the third pass at the earliest.
TEST(Cameras, AClipThatIsLoopedGoesOnUntilItIsStopped) {
  const TemporaryFolder folder;
  MakeClip(folder, 10);
  std::ofstream(folder / "cameras.yaml") << "cameras: {gate: {file: clip.mp4, loop: true}}\noutputs: {records: '-'}\n";
  const auto run = RunShell("cd '" + folder.path().string() + "' && { npustream run -c cameras.yaml --summary-json summary.json "
                            "> records.jsonl & } && until [ $(wc -l < records.jsonl) -gt 20 ]; do kill -0 $! || exit 3; done; "
                            "kill -INT $!; wait $!");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto records = ReadJsonLines(folder / "records.jsonl");
  ASSERT_GT(records.size(), 20u);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i]["frame_id"], i);
    EXPECT_EQ(records[i]["pts_ns"], 40'000'000 * i);
  }
  const auto gate = ReadJson(folder / "summary.json")["cameras"]["gate"];
  EXPECT_EQ(gate["records_out"], records.size());
  EXPECT_EQ(gate["records_out"].get<int64_t>() + TotalDropped(gate), gate["frames_in"]) << gate;
}

// Where no folder is yet.
TEST(Cameras, PrintedPipelinesRunAsTheyAre) {
  const TemporaryFolder folder;
  MakeClip(folder, 10);
  std::ofstream(folder / "cameras.yaml") << "threads: 2\ncameras:\n  gate: {file: clip.mp4, loop: true}\n  yard: {file: clip.mp4, interval: 2}\n"
                                            "outputs: {records: 'my out/all.jsonl', video: all.mp4}\n";
  const auto run = RunShell("cd '" + folder.path().string() + "' && npustream check -c cameras.yaml --print-pipeline > script && sh -e script");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(ReadJsonLines(folder / "my out" / "all.gate.jsonl").size(), 10u);
  EXPECT_EQ(ReadJsonLines(folder / "my out" / "all.yard.jsonl").size(), 5u);
}

TEST(Cameras, ACameraThatDoesNotOpenLeavesTheOthersAlone) {
  const TemporaryFolder folder;
  const std::string clip = MakeClip(folder, 10);
  const auto config = folder.path() / "cameras.yaml";
  const auto summary = folder.path() / "summary.json";
  std::ofstream(config) << "models:\n  day:\n    description: coco-day\ncameras:\n  good:\n    uri: " << clip
                        << "\n    model: day\n  bad:\n    uri: " << (folder.path() / "absent.mp4").string()
                        << "\n    model: day\n  text:\n    uri: " << config.string() << "\n    model: day\n";
  const auto run = RunShell("npustream run -c '" + config.string() + "' --summary-json '" + summary.string() + "'");
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_NE(run.output.find("absent.mp4"), std::string::npos) << run.output;
  EXPECT_EQ(ReadJson(summary)["cameras"]["good"]["records_out"], 10);
}

}  // namespace
}  // namespace npustream::e2e
