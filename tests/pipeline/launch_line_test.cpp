#include "pipeline/graph/launch_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/config/records_path.h"
#include "pipeline/graph/missing_element.h"

namespace npustream::pipeline {
namespace {

ModelConfig Day() {
  ModelConfig model;
  model.name = "day";
  model.request.model = "coco-day";
  return model;
}

CameraConfig File(const std::string& path) {
  CameraConfig camera;
  camera.name = "gate";
  camera.location = camera.location_as_written = path;
  return camera;
}

TEST(LaunchLine, DescribesAFile) {
  EXPECT_EQ(
      DescribeCamera(File("clips/gate.mp4"), Day(), "out.jsonl", PipelineEnd::kMetaSink).ForShell(),
      "gst-launch-1.0 filesrc location=clips/gate.mp4 ! parsebin name=parser ! npuvdec name=decoder camera-id=gate ! "
      "npudetect name=detector model=coco-day batch-size=8 queue-size=64 ! npumetasink location=out.jsonl");
}

TEST(LaunchLine, EndsInAnAppSinkOfThisProcess) {
  const std::string line = DescribeCamera(File("a.mp4"), Day(), "", PipelineEnd::kDownload).ForParser();
  EXPECT_THAT(line, testing::HasSubstr("! npudownload ! appsink name=records sync=false"));
}

TEST(LaunchLine, HandsOverWhatTheCameraOverrides) {
  CameraConfig camera = File("a.mp4");
  camera.threshold = 0.25;
  camera.interval = 5;
  camera.region = Region{0.5, 0, 0.5, 1};
  camera.realtime = true;
  ModelConfig model = Day();
  model.batch_timeout_ms = 30;
  model.request.decoder = "yolox";
  model.queue_policy = serving::QueuePolicy::kFail;
  camera.priority = -3;
  camera.weight = 2.5;
  camera.deadline_ms = 40;
  const std::string line = DescribeCamera(camera, model, "", PipelineEnd::kAppSink).ForParser();
  EXPECT_THAT(line, testing::HasSubstr("parsebin name=parser ! identity name=pace sync=true ! npuvdec"));
  EXPECT_THAT(line, testing::HasSubstr("decoder=yolox batch-size=8 batch-timeout-ms=30 queue-size=64 queue-policy=fail priority=-3 "
                                       "weight=2.5 deadline-ms=40 threshold=0.25 "
                                       "inference-interval=5 inference-region=0.5,0,0.5,1"));
}

TEST(LaunchLine, QuotesForTheParserAndForTheShell) {
  CameraConfig camera = File("it's \"a\\b\".mp4");
  EXPECT_THAT(DescribeCamera(camera, Day(), "", PipelineEnd::kAppSink).ForParser(),
              testing::StartsWith("filesrc location=\"it's \\\"a\\\\b\\\".mp4\" !"));
  EXPECT_THAT(DescribeCamera(camera, Day(), "", PipelineEnd::kMetaSink).ForShell(),
              testing::StartsWith("gst-launch-1.0 filesrc 'location=it'\\''s \"a\\b\".mp4' !"));
}

TEST(LaunchLine, LeavesSecretsToTheShell) {
  CameraConfig camera = File("rtsp://user:secret@host/1");
  camera.kind = SourceKind::kUri;
  camera.location_as_written = "rtsp://user:${PASSWORD}@host/1";
  const std::string line = DescribeCamera(camera, Day(), "", PipelineEnd::kMetaSink).ForShell();
  EXPECT_THAT(line,
              testing::StartsWith("gst-launch-1.0 rtspsrc \"location=rtsp://user:${PASSWORD}@host/1\" protocols=tcp"));
  EXPECT_THAT(line, testing::Not(testing::HasSubstr("secret")));
  EXPECT_THAT(DescribeCamera(camera, Day(), "", PipelineEnd::kAppSink).ForParser(), testing::HasSubstr("secret"));
}

TEST(LaunchLine, LeavesOtherDollarsAlone) {
  CameraConfig camera = File("rtsp://u:pa$$w@h/1");
  camera.kind = SourceKind::kUri;
  camera.location_as_written = "rtsp://${USER}:pa$$w@h/1";
  EXPECT_THAT(DescribeCamera(camera, Day(), "", PipelineEnd::kMetaSink).ForShell(),
              testing::HasSubstr("\"location=rtsp://${USER}:pa\\$\\$w@h/1\""));
}

TEST(CameraScript, MakesTheFolderAndSaysWhatALaunchLineCannotExpress) {
  RunConfig config;
  config.threads = 3;
  config.cameras = {File("a.mp4"), File("b.mp4")};
  config.models = {Day()};
  for (CameraConfig& camera : config.cameras) camera.model = "day";
  config.cameras[0].loop = true;
  config.outputs.records = "my out/all.jsonl";
  config.outputs.video = "all.mp4";
  EXPECT_THAT(CameraScript(config, config.cameras[0]),
              testing::MatchesRegex("# gate\n# records: [^\n]*\n# loop: [^\n]*\n# video: [^\n]*\nmkdir -p 'my out'\n"
                                    "NPUSTREAM_THREADS=3 gst-launch-1.0 [^\n]*\n"));
  config.outputs = {};
  config.threads = 0;
  EXPECT_THAT(CameraScript(config, config.cameras[1]), testing::StartsWith("# gate\ngst-launch-1.0 "));
}

TEST(RecordsPath, KeepsCamerasApartInPipelinesOfTheirOwn) {
  RunConfig config;
  config.cameras = {File("a.mp4"), File("b.mp4")};
  config.cameras[1].name = "yard";
  config.outputs.records = "out/all.jsonl";
  EXPECT_EQ(RecordsPath(config, config.cameras[1]), "out/all.jsonl");
  EXPECT_EQ(SeparateRecordsPath(config, config.cameras[1]), "out/all.yard.jsonl");
  config.outputs.records = "out/{camera}.jsonl";
  EXPECT_EQ(SeparateRecordsPath(config, config.cameras[1]), "out/yard.jsonl");
  config.outputs.records = "{camera}/{camera}.jsonl";
  EXPECT_EQ(RecordsPath(config, config.cameras[1]), "yard/yard.jsonl");
  config.outputs.records = "-";
  EXPECT_EQ(SeparateRecordsPath(config, config.cameras[1]), "-");
}

TEST(MissingElement, NamesTheDebianPackage) {
  EXPECT_THAT(HowToGetElement("qtdemux"), testing::HasSubstr("Debian package gstreamer1.0-plugins-good"));
  EXPECT_THAT(HowToGetElement("npuvdec"), testing::HasSubstr("GST_PLUGIN_PATH"));
}

}  // namespace
}  // namespace npustream::pipeline
