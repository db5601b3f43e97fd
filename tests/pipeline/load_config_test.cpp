#include "pipeline/config/load_config.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::pipeline {
namespace {

using testing_support::TemporaryFolder;

class LoadConfig : public testing::Test {
 protected:
  Result<RunConfig> Load(const std::string& yaml) {
    std::ofstream(file()) << yaml;
    return LoadRunConfig(file());
  }
  // Files that models name.
  void Touch(const std::string& name) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << "x\n";
  }
  std::filesystem::path file() const { return folder_.path() / "cameras.yaml"; }

  // The message without the file's name: "3: cameras.gate.uri: …".
  std::string ErrorOf(const std::string& yaml) {
    const auto config = Load(yaml);
    if (config.ok()) return "no error";
    EXPECT_EQ(config.status().code(), StatusCode::kInvalidArgument);
    const std::string message = config.status().message(), prefix = file().string() + ":";
    EXPECT_EQ(message.substr(0, prefix.size()), prefix);
    return message.substr(prefix.size());
  }

  TemporaryFolder folder_;
};

TEST_F(LoadConfig, ReadsEveryKey) {
  setenv("NPUSTREAM_TEST_SECRET", "pa$$:word", 1);
  Touch("nets/faces.onnx");
  Touch("nets/faces.labels");
  const auto config = Load(R"(
threads: 3
scheduling: {policy: fifo, turn-ms: 7, longest-wait-ms: 9}
models:
  day:
    description: coco-day
    batch-size: 4
    batch-timeout-ms: 20
    queue-size: 32
    queue-policy: drop-oldest
    weight: 2
    picture-format: rgb
    precision: bf16
  faces:
    file: nets/faces.onnx
    decoder: yunet
    labels: nets/faces.labels
    device: 1
defaults:
  model: day
  threshold: 0.3
cameras:
  gate:
    uri: rtsp://user:${NPUSTREAM_TEST_SECRET}@host/1
  yard:
    file: clips/yard.mp4
    model: faces
    threshold: 0.55
    interval: 3
    priority: 2
    weight: 0.5
    deadline-ms: 80
    loop: true
    realtime: true
    region: {x: 0.5, w: 0.25, h: 0.5}
    records: yard.jsonl
  pictures:
    dir: pictures
outputs:
  records: out/{camera}.jsonl
  video: out/all.mp4
)");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->threads, 3);
  EXPECT_EQ(config->scheduling.policy, serving::SchedulingPolicy::kFifo);
  EXPECT_EQ(config->scheduling.turn_ns, 7'000'000);
  EXPECT_EQ(config->scheduling.longest_wait_ns, 9'000'000);
  ASSERT_EQ(config->models.size(), 2u);
  const ModelConfig& day = config->models[0];
  EXPECT_EQ(day.name, "day");
  EXPECT_EQ(day.request.model, "coco-day");
  EXPECT_EQ(day.batch_size, 4);
  EXPECT_EQ(day.batch_timeout_ms, 20);
  EXPECT_EQ(day.queue_size, 32);
  EXPECT_EQ(day.weight, 2);
  EXPECT_EQ(day.queue_policy, serving::QueuePolicy::kDropOldest);
  EXPECT_EQ(day.request.picture_format, serving::PictureFormat::kRgb888);
  EXPECT_EQ(day.request.precision, "bf16");
  const ModelConfig& faces = config->models[1];
  EXPECT_EQ(faces.request.model, (folder_.path() / "nets/faces.onnx").string());
  EXPECT_EQ(faces.request.decoder, "yunet");
  EXPECT_EQ(faces.request.labels_file, folder_.path() / "nets/faces.labels");
  EXPECT_EQ(faces.device, 1);

  ASSERT_EQ(config->cameras.size(), 3u);
  const CameraConfig& gate = config->cameras[0];
  EXPECT_EQ(gate.kind, SourceKind::kUri);
  EXPECT_EQ(gate.location, "rtsp://user:pa$$:word@host/1");
  EXPECT_EQ(gate.location_as_written, "rtsp://user:${NPUSTREAM_TEST_SECRET}@host/1");
  EXPECT_EQ(gate.model, "day");
  EXPECT_EQ(gate.threshold, 0.3);
  EXPECT_TRUE(gate.live());
  const CameraConfig& yard = config->cameras[1];
  EXPECT_EQ(yard.kind, SourceKind::kFile);
  EXPECT_EQ(yard.location, (folder_.path() / "clips/yard.mp4").string());
  EXPECT_EQ(yard.model, "faces");
  EXPECT_EQ(yard.threshold, 0.55);
  EXPECT_EQ(yard.interval, 3);
  EXPECT_EQ(yard.priority, 2);
  EXPECT_EQ(yard.weight, 0.5);
  EXPECT_EQ(yard.deadline_ms, 80);
  EXPECT_TRUE(yard.loop && yard.realtime && yard.live());
  ASSERT_TRUE(yard.region.has_value());
  EXPECT_EQ(yard.region->x, 0.5);
  EXPECT_EQ(yard.region->y, 0);
  EXPECT_EQ(yard.region->w, 0.25);
  EXPECT_EQ(yard.records, "yard.jsonl");
  EXPECT_EQ(config->cameras[2].kind, SourceKind::kPictures);
  EXPECT_FALSE(config->cameras[2].live());
  EXPECT_EQ(config->outputs.records, "out/{camera}.jsonl");
  EXPECT_EQ(config->outputs.video, "out/all.mp4");
}

TEST_F(LoadConfig, OneModelNeedsNotBeNamedAndNoneMeansTheDaylightModel) {
  const auto one = Load("models:\n  night:\n    description: coco-night\ncameras:\n  a:\n    uri: a.mp4\n");
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_EQ(one->cameras[0].model, "night");
  const auto none = Load("cameras:\n  a:\n    uri: a.mp4\n");
  ASSERT_TRUE(none.ok()) << none.status().message();
  EXPECT_EQ(none->models[0].request.model, "coco-day");
}

TEST_F(LoadConfig, AFolderGivenAsUriHoldsPictures) {
  std::filesystem::create_directory(folder_.path() / "pictures");
  const auto config = Load("cameras:\n  a:\n    uri: " + (folder_.path() / "pictures").string() + "\n");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->cameras[0].kind, SourceKind::kPictures);
}

TEST_F(LoadConfig, ByteOrderMarksCarriageReturnsAndAliasesAreYaml) {
  const auto config = Load("\xEF\xBB\xBF" "cameras:\r\n  a: &a\r\n    uri: a.mp4\r\n  b: *a\r\n");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->cameras[1].name, "b");
  EXPECT_EQ(config->cameras[1].location, (folder_ / "a.mp4").string());
}

TEST_F(LoadConfig, TakesThePipeThatThereIs) {
  const auto run = testing_support::RunShell("cd '" + folder_.path().string() +
                                             "' && printf 'cameras: {a: {file: a.mp4}}' | npustream check -c /dev/stdin --print-pipeline");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, testing::HasSubstr("location=" + (folder_ / "a.mp4").string()));
}

TEST_F(LoadConfig, AnAbsentFileIsNotTheConfigurationsMistake) {
  const auto config = LoadRunConfig(folder_.path() / "absent.yaml");
  ASSERT_FALSE(config.ok());
  EXPECT_NE(config.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(config.status().message(), testing::HasSubstr("absent.yaml"));
}

struct Mistake {
  const char* name;
  const char* yaml;
  const char* message;  // begins so
};

class ConfigMistakes : public LoadConfig, public testing::WithParamInterface<Mistake> {};

TEST_P(ConfigMistakes, AreReportedWithLineAndKey) {
  Touch("a.onnx");
  Touch("a.om");
  EXPECT_THAT(ErrorOf(GetParam().yaml), testing::StartsWith(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, ConfigMistakes,
    testing::Values(
        Mistake{"Section", "camera:\n  a:\n    uri: a.mp4\n", "1: camera: is not a known key; did you mean 'cameras'?"},
        Mistake{"CameraKey", "cameras:\n  a:\n    uri: a.mp4\n    treshold: 0.5\n",
                "4: cameras.a.treshold: is not a known key; did you mean 'threshold'?"},
        Mistake{"SourceKey", "cameras:\n  a:\n    url: a.mp4\n",
                "3: cameras.a.url: is not a known key; did you mean 'uri'?"},
        Mistake{"UnknownDescription", "models:\n  m:\n    description: cocoday\ncameras:\n  a:\n    uri: a\n", "3: models.m.description: "},
        Mistake{"UnknownDecoder", "models:\n  m:\n    file: a.onnx\n    decoder: yolov9\ncameras:\n  a:\n    uri: a\n", "4: models.m.decoder: "},
        Mistake{"OnnxWithoutDecoder", "models:\n  m:\n    file: a.onnx\ncameras:\n  a:\n    uri: a\n", "3: models.m.file: a file needs a 'decoder'"},
        Mistake{"OmWithoutDecoder", "models:\n  m:\n    file: a.om\ncameras:\n  a:\n    uri: a\n", "3: models.m.file: a file needs"},
        Mistake{"NoHost", "cameras:\n  a:\n    uri: 'rtsp://'\n", "3: cameras.a.uri: names no host"},
        Mistake{"NoHostButAPort", "cameras:\n  a:\n    uri: 'rtsp://u:p@:554/x'\n", "3: cameras.a.uri: names no host"},
        Mistake{"PortThatIsNone", "cameras:\n  a:\n    uri: 'rtsp://host:99999/x'\n", "3: cameras.a.uri: has a port that is none"},
        Mistake{"PortOfLetters", "cameras:\n  a:\n    uri: 'http://[::1]:a/x'\n", "3: cameras.a.uri: has a port that is none"},
        Mistake{"AbsentModel", "models:\n  m:\n    file: b.onnx\n    decoder: yolox\ncameras:\n  a:\n    uri: a\n", "3: models.m.file: /"},
        Mistake{"FolderAsModel", "models:\n  m:\n    file: .\n    decoder: yolox\ncameras:\n  a:\n    uri: a\n", "3: models.m.file: /"},
        Mistake{"ModelOfAnotherKind", "models:\n  m:\n    decoder: yolox\n    file: cameras.yaml\ncameras:\n  a:\n    uri: a\n", "4: models.m.file: /"},
        Mistake{"AbsentDescription", "models:\n  m:\n    description: ./b.yaml\ncameras:\n  a:\n    uri: a\n", "3: models.m.description: /"},
        Mistake{"AbsentLabels", "models:\n  m:\n    description: coco-day\n    labels: b.labels\ncameras:\n  a:\n    uri: a\n",
                "4: models.m.labels: /"},
        Mistake{"DecoderOfADescription", "models:\n  m:\n    description: coco-day\n    decoder: yolox\ncameras:\n  a:\n    uri: a\n",
                "3: models.m.description: /"},
        Mistake{"Placeholder", "cameras:\n  a:\n    uri: a\noutputs:\n  records: out/{cam}.jsonl\n",
                "5: outputs.records: '{cam}' stands for nothing; known is {camera}"},
        Mistake{"PlaceholderOfACamera", "cameras:\n  a:\n    uri: a\n    records: '{camera}/{camera'\n",
                "4: cameras.a.records: '{camera' stands for nothing"},
        Mistake{"PlaceholderOfTheVideo", "cameras:\n  a:\n    uri: a\noutputs:\n  video: '{camera}.mp4'\n",
                "5: outputs.video: '{camera}' stands for nothing here"},
        Mistake{"DescriptionAndFile", "models:\n  m:\n    description: coco-day\n    file: a.onnx\ncameras:\n  a:\n    uri: a\n",
                "3: models.m.description: a model has either"},
        Mistake{"ModelKey", "models:\n  m:\n    description: coco-day\n    batchsize: 4\ncameras:\n  a:\n    uri: a\n",
                "4: models.m.batchsize: is not a known key; did you mean 'batch-size'?"},
        Mistake{"NoSource", "cameras:\n  a:\n    interval: 2\n", "3: cameras.a.uri: is missing"},
        Mistake{"TwoSources", "cameras:\n  a:\n    uri: a.mp4\n    file: b.mp4\n",
                "3: cameras.a.uri: a camera has only one"},
        Mistake{"UnknownModel",
                "models:\n  day:\n    description: coco-day\ncameras:\n  a:\n    uri: a\n    model: dya\n",
                "7: cameras.a.model: there is no model 'dya'; known are day"},
        Mistake{
            "NoModelAmongTwo",
            "models:\n  d:\n    description: coco-day\n  n:\n    description: coco-night\ncameras:\n  a:\n    uri: a\n",
            "8: cameras.a.model: is missing; known are d, n"},
        Mistake{"ModelWithoutFile", "models:\n  m:\n    batch-size: 4\ncameras:\n  a:\n    uri: a\n",
                "3: models.m.description: a model has either"},
        Mistake{"Threshold", "cameras:\n  a:\n    uri: a.mp4\n    threshold: 40\n",
                "4: cameras.a.threshold: must be a number from 0 to 1"},
        Mistake{"Interval", "cameras:\n  a:\n    uri: a.mp4\n    interval: 0\n",
                "4: cameras.a.interval: must be a whole number"},
        Mistake{"Region", "cameras:\n  a:\n    uri: a.mp4\n    region: {x: 0.5, w: 0.75}\n",
                "4: cameras.a.region: must lie within the frame"},
        Mistake{"Variable", "cameras:\n  a:\n    uri: rtsp://u:${NPUSTREAM_TEST_UNSET}@h/\n",
                "3: cameras.a.uri: the environment variable NPUSTREAM_TEST_UNSET is not set"},
        Mistake{"OpenVariable", "cameras:\n  a:\n    uri: rtsp://u:${NPU@h/\n",
                "3: cameras.a.uri: a '${' is not closed"},
        Mistake{"LoopOfALiveCamera", "cameras:\n  a:\n    uri: rtsp://h/\n    loop: true\n",
                "4: cameras.a.loop: is for files"},
        Mistake{"PaceOfPictures", "defaults:\n  realtime: true\ncameras:\n  a:\n    dir: pictures\n",
                "5: cameras.a.realtime: is for videos"},
        Mistake{"CameraName", "cameras:\n  a/b:\n    uri: a.mp4\n", "2: cameras.a/b: a camera's name is made of"},
        Mistake{"FolderAbove", "cameras:\n  ..:\n    uri: a.mp4\n", "2: cameras...: a camera's name is made of"},
        Mistake{"NoName", "cameras:\n  '':\n    uri: a.mp4\n", "2: cameras: a camera's name is made of"},
        Mistake{"NoCameras", "cameras:\n", "1: cameras: must be a mapping"},
        Mistake{"Twice", "cameras:\n  a:\n    uri: a.mp4\n  a:\n    uri: b.mp4\n", "4: cameras.a: is given twice"},
        Mistake{"Default", "defaults:\n  fps: 4\ncameras:\n  a:\n    uri: a\n", "2: defaults.fps: is not a known key"},
        Mistake{"Output", "cameras:\n  a:\n    uri: a\noutputs:\n  record: x\n",
                "5: outputs.record: is not a known key; did you mean 'records'?"},
        Mistake{"EmptyValue", "cameras:\n  a:\n    uri: a\n    interval:\n", "4: cameras.a.interval: must be a whole number"},
        Mistake{"Huge", "cameras:\n  a:\n    uri: a\n    interval: 99999999999999999999\n",
                "4: cameras.a.interval: must be a whole number"},
        Mistake{"Negative", "threads: -1\ncameras:\n  a:\n    uri: a\n", "1: threads: must be a whole number"},
        Mistake{"NotANumber", "cameras:\n  a:\n    uri: a\n    threshold: .nan\n", "4: cameras.a.threshold: must be a number"},
        Mistake{"Infinite", "cameras:\n  a:\n    uri: a\n    region: {x: 1e999}\n", "4: cameras.a.region.x: must be a number"},
        Mistake{"MergeKey", "cameras:\n  a: &a\n    uri: a\n  b:\n    <<: *a\n", "5: cameras.b.<<: is not a known key"},
        Mistake{"UnknownAlias", "cameras:\n  a: *b\n", "2: not valid YAML"},
        Mistake{"KeyThatIsAList", "cameras:\n  ? [a]\n  : {uri: a}\n", "2: cameras: a key must be a plain word"},
        Mistake{"Tab", "cameras:\n\ta:\n", "2: not valid YAML"},
        Mistake{"List", "- a\n", "1: a mapping of keys to values is expected"},
        Mistake{"Empty", "", " a mapping of keys to values is expected"},
        Mistake{"SecondDocument", "cameras:\n  a:\n    uri: a\n---\nthreads: 3\n", "5: a second document begins"},
        Mistake{"NotUtf8", "cameras:\n  a:\n    uri: \xE9\n", "3: is not text in UTF-8"},
        Mistake{"Utf16", "c\xFF\xFE", "1: is not text in UTF-8"},
        Mistake{"ControlCharacter", "cameras:\n  \x1B:\n", "2: has the control character 0x1B"},
        Mistake{"Syntax", "cameras:\n  a: [\n", "3: not valid YAML"}),
    [](const auto& info) { return std::string(info.param.name); });

// Every file of configs/ that holds cameras can be loaded.
TEST(ConfigFiles, AreValid) {
  unsetenv("NPUSTREAM_DEMO_CLIP");
  for (const auto& [name, cameras] :
       {std::pair{"cameras-1.yaml", 1u}, {"cameras-4.yaml", 4u}, {"cameras-16.yaml", 16u}, {"demo.yaml", 4u}}) {
    const auto config = LoadRunConfig(std::filesystem::path(NPUSTREAM_SOURCE_DIR) / "configs" / name);
    ASSERT_TRUE(config.ok()) << config.status().message();
    EXPECT_EQ(config->cameras.size(), cameras) << name;
  }
}

}  // namespace
}  // namespace npustream::pipeline
