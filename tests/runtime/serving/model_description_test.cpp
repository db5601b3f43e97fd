#include "runtime/serving/model_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/support/temporary_folder.h"

namespace npustream::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kComplete = R"(name: my-model_2.1
version: "7"
file: sub/net.onnx
input-size: {width: 640, height: 384}
color-order: rgb
mean: [1, 2.5, 3]
std: 58
fit: letterbox-center
pad: 7
decoder:
  type: yolov5
  strides: [8, 16]
  anchors: [10, 13, 16, 30]
  scale: 2.5
  outputs:
    boxes: out0
threshold: 0.25
nms:
  iou: 0.45
  agnostic: true
max-detections: 50
classes: 2
labels: [cat, dog]
licence: MIT
source-url: https://example.org/net.onnx
sha256: 695E750A5D5754BB5A8D5325643B59282191A7E7A564E435A415FD3C578EAB14
)";

class ModelDescriptionTest : public ::testing::Test {
 protected:
  Result<ModelDescription> Load(const std::string& yaml) {
    EXPECT_TRUE(WriteFileAtomically(path_, yaml).ok());
    return LoadModelDescription(path_);
  }

  testing_support::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "m.yaml";
};

TEST_F(ModelDescriptionTest, ReadsEveryKey) {
  const auto model = Load(kComplete);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->name, "my-model_2.1");
  EXPECT_EQ(model->version, "7");
  EXPECT_EQ(model->file, folder_ / "sub/net.onnx");
  EXPECT_EQ(model->input_width, 640);
  EXPECT_EQ(model->input_height, 384);
  EXPECT_EQ(model->color_order, ColorOrder::kRgb);
  EXPECT_THAT(model->mean, ElementsAre(1.f, 2.5f, 3.f));
  EXPECT_THAT(model->std, ElementsAre(58.f, 58.f, 58.f));
  EXPECT_EQ(model->fit, FitMode::kLetterboxCenter);
  EXPECT_EQ(model->pad_value, 7);
  EXPECT_EQ(model->decoder.type, "yolov5");
  EXPECT_THAT(model->decoder.numbers.at("strides"), ElementsAre(8, 16));
  EXPECT_THAT(model->decoder.numbers.at("anchors"), ElementsAre(10, 13, 16, 30));
  EXPECT_THAT(model->decoder.numbers.at("scale"), ElementsAre(2.5));
  EXPECT_EQ(model->decoder.numbers.size(), 3u);
  EXPECT_EQ(model->decoder.names, (std::map<std::string, std::string>{{"boxes", "out0"}}));
  EXPECT_FLOAT_EQ(model->threshold, 0.25f);
  EXPECT_FLOAT_EQ(model->nms_iou, 0.45f);
  EXPECT_TRUE(model->nms_agnostic);
  EXPECT_EQ(model->max_detections, 50);
  EXPECT_THAT(model->labels, ElementsAre("cat", "dog"));
  EXPECT_EQ(model->licence, "MIT");
  EXPECT_EQ(model->source_url, "https://example.org/net.onnx");
  EXPECT_EQ(model->sha256, "695e750a5d5754bb5a8d5325643b59282191a7e7a564e435a415fd3c578eab14");
}

TEST_F(ModelDescriptionTest, LabelsComeFromAFileBesideTheDescription) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "names.txt",
                                  "\xEF\xBB\xBF"
                                  "one two\r\nthree\r\n\r\n\n")
                  .ok());
  const auto model = Load("name: a\nfile: a.onnx\ndecoder: {type: yolox}\nclasses: 2\nlabels: names.txt\n");
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(model->labels, ElementsAre("one two", "three"));
}

struct BadCase {
  const char* name;
  const char* yaml;
  const char* message;  // after "m.yaml"
};

void PrintTo(const BadCase& bad, std::ostream* out) { *out << bad.name; }

class BadDescription : public ModelDescriptionTest, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadDescription, IsRefusedNamingFileLineAndKey) {
  const auto model = Load(GetParam().yaml);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), StartsWith(path_.string() + GetParam().message));
}

#define HEAD "name: a\nfile: a.onnx\ndecoder: {type: yolox}\n"

INSTANTIATE_TEST_SUITE_P(
    Table, BadDescription,
    ::testing::Values(
        BadCase{"Empty", "", ": a mapping of keys"}, BadCase{"Text", "just words", ":1: a mapping of keys"},
        BadCase{"List", "- a\n- b\n", ":1: a mapping of keys"},
        BadCase{"Syntax", "name: [a\nfile: b\n", ":2: not valid YAML: "},
        BadCase{"ColonTwice", "name: a: b\n", ":1: not valid YAML: "},
        BadCase{"NoName", "file: a.onnx\ndecoder: {type: x}\n", ":1: name: is missing"},
        BadCase{"NoFile", "name: a\ndecoder: {type: x}\n", ":1: file: is missing"},
        BadCase{"NoDecoder", "name: a\nfile: b\n", ":1: decoder: is missing"},
        BadCase{"NoDecoderType", "name: a\nfile: b\ndecoder: {strides: [8]}\n", ":3: decoder.type: is missing"},
        BadCase{"DecoderIsText", "name: a\nfile: b\ndecoder: yolox\n", ":3: decoder: must be a mapping"},
        BadCase{"DecoderNumber", "name: a\nfile: b\ndecoder: {type: yolox, strides: [8, big]}\n",
                ":3: decoder.strides: must be a number or a list of numbers"},
        BadCase{"UnknownKey", HEAD "colour: red\n", ":4: colour: is not a known key; known are "},
        BadCase{"NearlyKnownKey", HEAD "license: MIT\n", ":4: license: is not a known key; did you mean 'licence'?"},
        BadCase{"UnknownNmsKey", HEAD "nms: {iuo: 0.5}\n", ":4: nms.iuo: is not a known key; did you mean 'iou'?"},
        BadCase{"Twice", HEAD "pad: 1\npad: 2\n", ":5: pad: is given twice"},
        BadCase{"BinaryName", "name: \x01\x02\nfile: b\ndecoder: {type: x}\n", ":1: has the control character 0x01"},
        BadCase{"NameWithSlash", "name: ../a\nfile: b\ndecoder: {type: x}\n", ":1: name: may have letters"},
        BadCase{"Order", HEAD "color-order: rbg\n", ":4: color-order: must be one of rgb, bgr"},
        BadCase{"Fit", HEAD "fit: crop\n", ":4: fit: must be one of stretch, letterbox, letterbox-center"},
        BadCase{"PadTooLarge", HEAD "pad: 256\n", ":4: pad: must be a whole number from 0 to 255"},
        BadCase{"PadFraction", HEAD "pad: 1.5\n", ":4: pad: must be a whole number from 0 to 255"},
        BadCase{"Threshold", HEAD "threshold: 40\n", ":4: threshold: must be a number from 0 to 1"},
        BadCase{"ThresholdNan", HEAD "threshold: nan\n", ":4: threshold: must be a number from 0 to 1"},
        BadCase{"ThresholdTail", HEAD "threshold: 0.5x\n", ":4: threshold: must be a number from 0 to 1"},
        BadCase{"MeanCount", HEAD "mean: [1, 2]\n", ":4: mean: must be one or three numbers from 0 to 255"},
        BadCase{"MeanRange", HEAD "mean: -1\n", ":4: mean: must be one or three numbers from 0 to 255"},
        BadCase{"StdZero", HEAD "std: [1, 0, 1]\n", ":4: std: must be one or three numbers from 0.001 to 10000"},
        BadCase{"StdEmpty", HEAD "std: []\n", ":4: std: must be a number or a list of numbers"},
        BadCase{"Sha", HEAD "sha256: 123\n", ":4: sha256: must have 64 hexadecimal digits"},
        BadCase{"Url", HEAD "source-url: ftp://x\n", ":4: source-url: must begin with"},
        BadCase{"HalfASize", HEAD "input-size: {width: 640}\n", ":4: input-size: needs width and height"},
        BadCase{"LabelCount", HEAD "classes: 3\nlabels: [a, b]\n", ":5: labels: has 2 names, but 'classes' says 3"},
        BadCase{"LabelIsMap", HEAD "labels: [a, {b: c}]\n", ":4: labels: entry 2 must be a text"},
        BadCase{"LabelFile", HEAD "labels: none.txt\n", ":4: labels: "},
        BadCase{"Agnostic", HEAD "nms: {agnostic: maybe}\n", ":4: nms.agnostic: must be one of false, true"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(ModelDescriptionTest, AFileThatIsNotThereIsNotFound) {
  const auto model = LoadModelDescription(folder_ / "none.yaml");
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kNotFound);
}

TEST_F(ModelDescriptionTest, AModelGivenForADescriptionIsNotParsed) {
  const auto model = Load(std::string(2 << 20, 'x'));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), HasSubstr("too many for a YAML file"));
}

TEST_F(ModelDescriptionTest, AnEmptyLabelBetweenOthersIsRefused) {
  ASSERT_TRUE(WriteFileAtomically(folder_ / "l.txt", "a\n\nb\n").ok());
  const auto labels = LoadLabels(folder_ / "l.txt");
  ASSERT_FALSE(labels.ok());
  EXPECT_EQ(labels.status().message(), (folder_ / "l.txt").string() + ":2: a label is empty");
}

}  // namespace
}  // namespace npustream::serving
