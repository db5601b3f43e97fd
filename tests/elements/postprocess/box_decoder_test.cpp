#include "elements/postprocess/box_decoder.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/elements/postprocess/decoder_test_support.h"

namespace npustream::elements {
namespace {

using testing_support::DecoderFixture;
using testing_support::ExpectBox;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(BoxDecoder, TheReferenceListsEveryDecoder) {
  for (const char* file : {"/docs/configuration.md", "/elements/postprocess/README.md"}) {
    const std::string text = *ReadTextFile(std::string(NPUSTREAM_SOURCE_DIR) + file);
    for (const std::string_view name : BoxDecoderNames()) {
      EXPECT_THAT(text, testing::HasSubstr("`" + std::string(name) + "`")) << file;
    }
  }
}

// 64x32 has 8·4 + 4·2 + 2·1 = 42 cells.
DecoderFixture Yolox() {
  DecoderFixture fixture{{"yolox", {}, {}}, {{"output", {1, 42, 7}}}, 64, 32, 2, nullptr, {}};
  fixture.Create();
  return fixture;
}

TEST(BoxDecoder, UnknownNameListsTheKnownOnes) {
  DecoderFixture fixture{{"yolo9000", {}, {}}, {{"output", {1, 42, 7}}}, 64, 32, 2, nullptr, {}};
  EXPECT_THAT(fixture.CreateError(), testing::AllOf(testing::HasSubstr("'yolo9000'"), testing::HasSubstr("nanodet")));
}

TEST(BoxDecoder, RefusesALabelListOfAnotherLength) {
  DecoderFixture fixture{{"yolox", {}, {}}, {{"output", {1, 42, 7}}}, 64, 32, 80, nullptr, {}};
  EXPECT_EQ(fixture.CreateError(), "decoder yolox: the model tells 2 classes apart, the label list has 80");
}

TEST(BoxDecoder, ErrorsShowTheOutputsOfTheModel) {
  DecoderFixture fixture{{"yolox", {}, {}}, {{"heads", {1, 85, 22, 22}}}, 64, 32, 0, nullptr, {}};
  EXPECT_EQ(fixture.CreateError(),
            "decoder yolox: needs one output [1, 42, 5 + classes], the model has heads [1, 85, 22, 22]");
}

TEST(BoxDecoder, RefusesNumbersAndRolesThatNobodyReads) {
  DecoderFixture stride{{"yolox", {{"stride", {8}}}, {}}, {{"output", {1, 42, 7}}}, 64, 32, 2, nullptr, {}};
  EXPECT_EQ(stride.CreateError(), "decoder yolox: takes no 'stride'; its numbers are strides");
  DecoderFixture role{{"centernet", {}, {{"heat", "a"}}}, {}, 64, 32, 2, nullptr, {}};
  EXPECT_EQ(role.CreateError(), "decoder centernet: takes no 'heat'; its output roles are heatmap, size, offset");
  DecoderFixture none{{"yolov8", {}, {{"boxes", "a"}}}, {}, 64, 32, 2, nullptr, {}};
  EXPECT_EQ(none.CreateError(), "decoder yolov8: takes no output roles, but 'boxes' is given");
  EXPECT_THAT(BoxDecoder::CheckDescription({}).message(), testing::HasSubstr("needs a decoder; known are centernet"));
}

// The outputs of YOLOX-Nano at 416, of YOLOv8 and YOLOv5 at 640 and of FastestDet at 352, as exported by their projects.
TEST(BoxDecoder, RefusesTheOutputsOfOtherDecoders) {
  const auto error = [](const std::string& type, std::vector<int64_t> dims, int size) {
    return DecoderFixture{{type, {}, {}}, {{"out", std::move(dims)}}, size, size, 0, nullptr, {}}.CreateError();
  };
  EXPECT_THAT(error("yolov8", {1, 3549, 85}, 416), testing::HasSubstr("81 classes, one off COCO's 80"));
  EXPECT_THAT(error("yolov8", {1, 25200, 85}, 640), testing::HasSubstr("N = 8400"));
  EXPECT_THAT(error("yolov8", {1, 300, 6}, 640), testing::HasSubstr("the model has out [1, 300, 6]"));
  EXPECT_THAT(error("yolov5", {1, 84, 8400}, 640), testing::HasSubstr("needs an output [1, N, 5 + classes]"));
  EXPECT_THAT(error("yolox", {1, 84, 8400}, 640), testing::HasSubstr("needs one output [1, 8400, 5 + classes]"));
  EXPECT_THAT(error("yolox", {1, 8400, 84}, 640), testing::HasSubstr("79 classes, one off COCO's 80"));
  EXPECT_THAT(error("fastestdet", {1, 84, 8400}, 640), testing::HasSubstr("needs one output [1, 5 + classes, 40, 40]"));
  EXPECT_THAT(error("fastestdet", {1, 85, 22, 22}, 640), testing::HasSubstr("[1, 5 + classes, 40, 40]"));
  EXPECT_EQ(error("fastestdet", {1, 85, 22, 22}, 352), "created");
  EXPECT_EQ(error("yolov8", {1, 84, 8400}, 640), "created");
  EXPECT_EQ(error("yolov8", {1, 84, 34000}, 1280), "created") << "strides 8 to 64";
  EXPECT_EQ(error("yolov5", {1, 25200, 85}, 640), "created");
  EXPECT_EQ(error("yolov5", {1, 3549, 85}, 416), "created") << "YOLOX with its decoding layer";
}

TEST(CenterNetDecoder, RefusesAGridOfOtherProportions) {
  DecoderFixture fixture{{"centernet", {}, {}}, {{"hm", {1, 3, 4, 4}}, {"wh", {1, 2, 4, 4}}}, 16, 8, 3, nullptr, {}};
  EXPECT_THAT(fixture.CreateError(), testing::HasSubstr("one grid of square cells over 16x8 pixels"));
}

TEST(YoloxDecoder, ReadsACellOfEachLevel) {
  DecoderFixture fixture = Yolox();
  // Level 0 (stride 8), cell x 3, y 2 → row 2·8+3 = 19: centre ((.5+3)·8, (.25+2)·8) = (28, 18), size 8·e^0.5, 8.
  float* cell = &fixture.tensors[0][19 * 7];
  cell[0] = 0.5f, cell[1] = 0.25f, cell[2] = 0.5f, cell[3] = 0, cell[4] = 0.8f, cell[5] = 0.1f, cell[6] = 0.5f;
  // Level 2 (stride 32), cell x 1, y 0 → row 32+8+1 = 41: centre (32, 0), size 32·2, 32.
  cell = &fixture.tensors[0][41 * 7];
  cell[2] = std::log(2.0f), cell[4] = 1, cell[5] = 0.9f;
  const std::vector<Detection> found = fixture.Decode(0.3f);
  ASSERT_EQ(found.size(), 2u);
  ExpectBox(found[0], {28 - 6.59488508f, 14, 28 + 6.59488508f, 22});
  EXPECT_FLOAT_EQ(found[0].confidence, 0.4f);
  EXPECT_EQ(found[0].label_id, 1);
  ExpectBox(found[1], {0, -16, 64, 16});
  EXPECT_EQ(found[1].label_id, 0);
}

TEST(YoloxDecoder, ThresholdIsInclusiveAndAppliesToTheProduct) {
  DecoderFixture fixture = Yolox();
  fixture.tensors[0][4] = 0.5f, fixture.tensors[0][5] = 0.5f;
  EXPECT_EQ(fixture.Decode(0.25f).size(), 1u);
  EXPECT_EQ(fixture.Decode(0.26f).size(), 0u);
}

TEST(YoloxDecoder, NotANumberNeverPasses) {
  DecoderFixture fixture = Yolox();
  const auto set = [&](int row, float log_width, float objectness, float score) {
    fixture.tensors[0][row * 7 + 2] = log_width;
    fixture.tensors[0][row * 7 + 4] = objectness;
    fixture.tensors[0][row * 7 + 5] = score;
  };
  set(0, 0, kNan, 0.9f);
  set(1, 0, 0.9f, kNan);  // class 1 has score 0
  set(2, 0, kInfinity, 0.9f);
  set(3, kNan, 0.9f, 0.9f);
  set(4, 1000, 0.9f, 0.9f);   // a width of infinity
  set(5, -1000, 0.9f, 0.9f);  // a width of nothing
  EXPECT_TRUE(fixture.Decode(0.1f).empty());
}

TEST(YoloV5Decoder, ReadsDecodedRows) {
  DecoderFixture fixture{
      {"yolov5", {}, {}}, {{"raw", {1, 3, 4, 8, 8}}, {"output0", {1, 126, 8}}}, 64, 32, 3, nullptr, {}};
  fixture.Create();
  const float row[8] = {10, 20, 4, 6, 0.5f, 0.2f, 0.9f, 0.9f};
  std::copy(row, row + 8, &fixture.tensors[1][8]);
  const std::vector<Detection> found = fixture.Decode(0.4f);
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], {8, 17, 12, 23});
  EXPECT_FLOAT_EQ(found[0].confidence, 0.45f);
  EXPECT_EQ(found[0].label_id, 1) << "the lower of two equal classes";
}

// One head of stride 8, 2x1 cells, two anchors, one class.
void CheckRawYoloV5(std::vector<int64_t> dims, bool channels_first) {
  DecoderFixture fixture{{"yolov5", {{"strides", {8}}, {"anchors", {10, 20, 30, 40}}}, {}},
                         {{"head", std::move(dims)}},
                         16,
                         8,
                         1,
                         nullptr,
                         {}};
  fixture.Create(-20);
  // Anchor 1, cell x 1, y 0: sigmoid(0) = 0.5 everywhere, so centre = (0.5 + 1, 0.5) · 8, size = the anchor.
  for (int channel = 0; channel < 6; ++channel) {
    const float value = channel < 4 ? 0.0f : 3.0f;
    fixture.tensors[0][channels_first ? (6 + channel) * 2 + 1 : (2 + 1) * 6 + channel] = value;
  }
  const std::vector<Detection> found = fixture.Decode(0.3f);
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], {12 - 15, 4 - 20, 12 + 15, 4 + 20});
  EXPECT_NEAR(found[0].confidence, 0.907396f, 1e-5);  // (1 / (1 + e^−3))²
}

TEST(YoloV5Decoder, ReadsRawHeadsWithChannelsLast) { CheckRawYoloV5({1, 2, 1, 2, 6}, false); }
TEST(YoloV5Decoder, ReadsRawHeadsWithChannelsFirst) { CheckRawYoloV5({1, 12, 1, 2}, true); }

TEST(YoloV8Decoder, ReadsBothLayouts) {
  for (const bool channels_first : {true, false}) {
    // 64x64 has 8·8 + 4·4 + 2·2 = 84 cells.
    const std::vector<int64_t> dims = channels_first ? std::vector<int64_t>{1, 6, 84} : std::vector<int64_t>{1, 84, 6};
    DecoderFixture fixture{{"yolov8", {}, {}}, {{"output0", dims}}, 64, 64, 2, nullptr, {}};
    fixture.Create();
    const float values[6] = {30, 40, 10, 20, 0.3f, 0.7f};
    for (int c = 0; c < 6; ++c) fixture.tensors[0][channels_first ? c * 84 + 3 : 3 * 6 + c] = values[c];
    const std::vector<Detection> found = fixture.Decode(0.5f);
    ASSERT_EQ(found.size(), 1u) << channels_first;
    ExpectBox(found[0], {25, 30, 35, 50});
    EXPECT_FLOAT_EQ(found[0].confidence, 0.7f);
    EXPECT_EQ(found[0].label_id, 1);
  }
}

TEST(YoloV8Decoder, ReadsMoreCellsThanATile) {
  DecoderFixture fixture{{"yolov8", {}, {}}, {{"output0", {1, 84, 8400}}}, 640, 640, 80, nullptr, {}};
  fixture.Create(0.001f);
  const int64_t cell = 8399;
  const float box[4] = {100, 100, 20, 20};
  for (int c = 0; c < 4; ++c) fixture.tensors[0][c * 8400 + cell] = box[c];
  fixture.tensors[0][(4 + 79) * 8400 + cell] = 0.6f;
  const std::vector<Detection> found = fixture.Decode(0.5f);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].label_id, 79);
  ExpectBox(found[0], {90, 90, 110, 110});
}

// Input 16x8: strides 8 (2x1) only; one class more than bins so that shapes tell roles.
DecoderFixture NanoDet(std::vector<OutputShape> outputs, int classes) {
  DecoderFixture fixture{{"nanodet", {{"strides", {8}}}, {}}, std::move(outputs), 16, 8, classes, nullptr, {}};
  return fixture;
}

TEST(NanoDetDecoder, TakesTheExpectationOfTheBins) {
  DecoderFixture fixture = NanoDet({{"reg", {1, 2, 12}}, {"cls", {1, 2, 2}}}, 2);
  fixture.Create();
  fixture.tensors[1][1 * 2 + 1] = 0.75f;  // cell 1, class 1
  // Bins 0, 1, 2 of cell 1: left all alike → 1; top only bin 2 → 2; right ln 3 on bin 0 → (1 + 2) / 5 = 0.6; bottom bin
  // 0.
  float* sides = &fixture.tensors[0][12];
  sides[3 + 2] = 100;
  sides[6] = std::log(3.0f);
  sides[9] = 100;
  const std::vector<Detection> found = fixture.Decode(0.5f);
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], {12 - 8, 4 - 16, 12 + 4.8f, 4});
  EXPECT_FLOAT_EQ(found[0].confidence, 0.75f);
  EXPECT_EQ(found[0].label_id, 1);
}

TEST(NanoDetDecoder, RolesComeFromTheNameWhenShapesAreAlike) {
  DecoderFixture fixture = NanoDet({{"dis_8", {1, 2, 8}}, {"cls_8", {1, 2, 8}}}, 8);
  fixture.Create();
  fixture.tensors[1][7] = 0.9f;
  const std::vector<Detection> found = fixture.Decode(0.5f);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].label_id, 7);
  ExpectBox(found[0], {0, 0, 8, 8});  // two alike bins: half a cell each way
}

TEST(NanoDetDecoder, RecognisesLogits) {
  DecoderFixture fixture = NanoDet({{"cls", {1, 2, 3}}, {"reg", {1, 2, 8}}}, 3);
  fixture.Create(-5);
  fixture.tensors[0][4] = 0.9f;  // sigmoid(0.9) = 0.710950
  const std::vector<Detection> found = fixture.Decode(0.7f);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].confidence, 0.710950f, 1e-5);
  EXPECT_TRUE(fixture.Decode(0.72f).empty());
}

TEST(NanoDetDecoder, ReadsTheJoinedOutputOfNanoDetPlus) {
  DecoderFixture fixture{{"nanodet", {{"strides", {8, 16}}, {"cell_offset", {0}}}, {}},
                         {{"output", {1, 3, 2 + 8}}},
                         16,
                         8,
                         2,
                         nullptr,
                         {}};
  fixture.Create();
  fixture.tensors[0][2 * 10 + 1] = 0.8f;         // the only cell of stride 16
  fixture.tensors[0][2 * 10 + 2 + 4 + 1] = 100;  // right: bin 1
  const std::vector<Detection> found = fixture.Decode(0.5f);
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], {-8, -8, 16, 8});
  EXPECT_EQ(found[0].label_id, 1);
}

TEST(FastestDetDecoder, WeighsObjectnessAndClass) {
  DecoderFixture fixture{{"fastestdet", {}, {}}, {{"758", {1, 7, 2, 4}}}, 64, 32, 2, nullptr, {}};
  fixture.Create();
  const int cell = 1 * 4 + 2;  // x 2, y 1 of 4x2
  const float values[7] = {0.5f, 0.0f, std::atanh(0.5f), 0.0f, std::log(3.0f), 0.2f, 0.8f};
  for (int c = 0; c < 7; ++c) fixture.tensors[0][c * 8 + cell] = values[c];
  const std::vector<Detection> found = fixture.Decode(0.6f);
  ASSERT_EQ(found.size(), 1u);
  // Centre (2/4·64, 1.5/2·32) = (32, 24), size (0.5·64, 0.75·32) = (32, 24).
  ExpectBox(found[0], {16, 12, 48, 36});
  EXPECT_NEAR(found[0].confidence, 0.603418f, 1e-5);  // 0.5^0.6 · 0.8^0.4
  EXPECT_EQ(found[0].label_id, 1);
  EXPECT_TRUE(fixture.Decode(0.61f).empty());
}

TEST(SsdDecoder, AppliesGivenPriorsAndVariances) {
  DecoderFixture fixture{
      {"ssd", {{"priors", {0.5, 0.5, 0.2, 0.4, 0.25, 0.5, 0.5, 0.5}}, {"variances", {0.1, 0.2}}}, {}},
      {{"scores", {1, 2, 3}}, {"boxes", {1, 2, 4}}},
      100,
      200,
      2,
      nullptr,
      {}};
  fixture.Create();
  const float scores[6] = {0.9f, 0.05f, 0.05f, 0.2f, 0.1f, 0.7f};  // background first
  std::copy(scores, scores + 6, fixture.tensors[0].begin());
  // Prior 1: centre (25 + 1·0.1·50, 100 − 2·0.1·100) = (30, 80), size (50·e^(0.2·ln 2/0.2)=100, 100).
  const float location[4] = {1, -2, std::log(2.0f) / 0.2f, 0};
  std::copy(location, location + 4, fixture.tensors[1].begin() + 4);
  const std::vector<Detection> found = fixture.Decode(0.5f);
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], {30 - 50, 80 - 50, 30 + 50, 80 + 50}, 2e-3f);
  EXPECT_EQ(found[0].label_id, 1);
  EXPECT_FLOAT_EQ(found[0].confidence, 0.7f);
}

TEST(SsdDecoder, GeneratesPriorsInOrder) {
  // Stride 50 on 100x50: 2 cells of square 20, square sqrt(20·80) = 40, 2:1 and 1:2 of 20.
  DecoderFixture fixture{
      {"ssd", {{"strides", {50}}, {"min_sizes", {20}}, {"max_sizes", {80}}, {"aspect_ratios", {4}}}, {}},
      {{"scores", {1, 8, 2}}, {"boxes", {1, 8, 4}}},
      100,
      50,
      1,
      nullptr,
      {}};
  fixture.Create();
  for (int row = 0; row < 8; ++row) fixture.tensors[0][row * 2 + 1] = 0.9f;
  const std::vector<Detection> found = fixture.Decode(0.5f);
  ASSERT_EQ(found.size(), 8u);
  ExpectBox(found[0], {15, 15, 35, 35});
  ExpectBox(found[1], {5, 5, 45, 45});
  ExpectBox(found[2], {5, 20, 45, 30});
  ExpectBox(found[3], {20, 5, 30, 45});
  ExpectBox(found[4], {65, 15, 85, 35});
}

TEST(SsdDecoder, ReadsCornersAndSoftmax) {
  DecoderFixture fixture{{"ssd", {{"corners", {1}}, {"softmax", {1}}, {"background", {-1}}}, {}},
                         {{"scores", {1, 1, 2}}, {"boxes", {1, 1, 4}}},
                         100,
                         50,
                         2,
                         nullptr,
                         {}};
  fixture.Create();
  fixture.tensors[0] = {std::log(3.0f), 0};
  fixture.tensors[1] = {0.1f, 0.2f, 0.5f, 0.6f};
  const std::vector<Detection> found = fixture.Decode(0.5f);
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], {10, 10, 50, 30});
  EXPECT_FLOAT_EQ(found[0].confidence, 0.75f);
  EXPECT_EQ(found[0].label_id, 0);
}

TEST(SsdDecoder, RefusesAnotherNumberOfPriors) {
  DecoderFixture fixture{{"ssd", {{"priors", {0.5, 0.5, 0.2, 0.4}}}, {}},
                         {{"scores", {1, 2, 3}}, {"boxes", {1, 2, 4}}},
                         100,
                         200,
                         2,
                         nullptr,
                         {}};
  EXPECT_THAT(fixture.CreateError(), testing::HasSubstr("1 rows, one per prior"));
}

TEST(YuNetDecoder, ReadsFacesWithLandmarks) {
  DecoderFixture fixture{{"yunet", {{"strides", {8}}}, {}},
                         {{"cls_8", {1, 2, 1}}, {"obj_8", {1, 2, 1}}, {"bbox_8", {1, 2, 4}}, {"kps_8", {1, 2, 10}}},
                         16,
                         8,
                         1,
                         nullptr,
                         {}};
  fixture.Create();
  fixture.tensors[0][1] = 0.5f, fixture.tensors[1][1] = 0.98f;  // sqrt(0.49) = 0.7
  const float box[4] = {0.5f, 0.5f, std::log(2.0f), 0};
  std::copy(box, box + 4, fixture.tensors[2].begin() + 4);
  fixture.tensors[3][10 + 8] = 0.25f, fixture.tensors[3][10 + 9] = 1.0f;
  const std::vector<Detection> found = fixture.Decode(0.6f);
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], {4, 0, 20, 8});
  EXPECT_NEAR(found[0].confidence, 0.7f, 1e-6);
  ASSERT_EQ(found[0].landmarks.size(), 5u);
  EXPECT_FLOAT_EQ(found[0].landmarks[0].x, 8);
  EXPECT_FLOAT_EQ(found[0].landmarks[4].x, 10);
  EXPECT_FLOAT_EQ(found[0].landmarks[4].y, 8);
}

TEST(CenterNetDecoder, TakesPeaksOnly) {
  DecoderFixture fixture{{"centernet", {}, {}},
                         {{"hm", {1, 3, 2, 4}}, {"wh", {1, 2, 2, 4}}, {"reg", {1, 2, 2, 4}}},
                         16,
                         8,
                         3,
                         nullptr,
                         {}};
  fixture.Create();
  std::vector<float>& heatmap = fixture.tensors[0];
  heatmap[8 + 1] = 0.8f;      // class 1, x 1, y 0
  heatmap[8 + 4 + 2] = 0.7f;  // its neighbour x 2, y 1
  heatmap[16 + 3] = 0.6f;     // class 2, x 3, y 0: another class does not matter
  for (int cell : {1, 3}) fixture.tensors[1][cell] = 2, fixture.tensors[1][8 + cell] = 1;
  fixture.tensors[2][1] = 0.25f, fixture.tensors[2][8 + 1] = 0.5f;
  const std::vector<Detection> found = fixture.Decode(0.5f);
  ASSERT_EQ(found.size(), 2u);
  ExpectBox(found[0], {5 - 4, 2 - 2, 5 + 4, 2 + 2});  // cells of 4 pixels: centre (1.25, 0.5), size (2, 1)
  EXPECT_EQ(found[0].label_id, 1);
  EXPECT_EQ(found[1].label_id, 2);
}

TEST(CenterNetDecoder, ReadsSideDistancesInPixels) {
  DecoderFixture fixture{{"centernet", {{"size_scale", {1}}}, {{"heatmap", "a"}, {"size", "b"}}},
                         {{"node:0:b", {1, 4, 1, 2}}, {"node:0:a", {1, 2, 1, 2}}},
                         16,
                         8,
                         2,
                         nullptr,
                         {}};
  fixture.Create();
  fixture.tensors[1][0] = 0.9f;
  for (int side = 0; side < 4; ++side) fixture.tensors[0][side * 2] = static_cast<float>(side + 1);
  const std::vector<Detection> found = fixture.Decode(0.5f);
  ASSERT_EQ(found.size(), 1u);
  ExpectBox(found[0], {4 - 1, 4 - 2, 4 + 3, 4 + 4});
}

}  // namespace
}  // namespace npustream::elements
