#include "elements/postprocess/npu_postprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace npustream::elements {
namespace {

serving::ModelDescription Description() {
  serving::ModelDescription description;
  description.decoder.type = "yolov5";
  description.labels = {"person", "car"};
  description.threshold = 0.5f;
  description.nms_iou = 0.5f;
  return description;
}

// 13·13 + 7·7 + 4·4 cells of 8, 16 and 32 pixels.
constexpr int64_t kRows = 234;

// The first rows of centre x, centre y, width, height, objectness, person, car on an input of 100x100.
std::vector<Detection> Process(std::vector<float> rows, const PictureTransform& transform) {
  rows.resize(kRows * 7);
  const serving::ModelDescription description = Description();
  const std::vector<OutputShape> outputs{{"output", {1, kRows, 7}}};
  auto made = Postprocessor::Create(description, outputs, 100, 100, OptionsOf(description));
  EXPECT_TRUE(made.ok()) << made.status().message();
  const float* tensor = rows.data();
  return (*made)->Process({&tensor, 1}, transform);
}

// A frame of 400x200 scaled by 1/4 onto the upper half of the input.
PictureTransform Letterbox() {
  PictureTransform transform;
  transform.source = {0, 0, 400, 200};
  transform.pasted = {0, 0, 100, 50};
  transform.frame_width = 400;
  transform.frame_height = 200;
  return transform;
}

TEST(Postprocessor, BringsBoxesBackToTheFrameBestFirst) {
  const std::vector<Detection> found = Process({50, 25, 20, 10, 0.8f, 1, 0,  //
                                                51, 25, 20, 10, 0.7f, 1, 0,  // overlaps the first
                                                20, 20, 10, 10, 0.9f, 0, 1},
                                               Letterbox());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].label_id, 1);
  EXPECT_FLOAT_EQ(found[0].box.x_min, 60);
  EXPECT_FLOAT_EQ(found[0].box.y_max, 100);
  EXPECT_FLOAT_EQ(found[1].box.x_min, 160);
  EXPECT_FLOAT_EQ(found[1].box.x_max, 240);
  EXPECT_FLOAT_EQ(found[1].box.y_min, 80);
}

TEST(Postprocessor, ClipsAtTheFrameAndDropsWhatLiesInThePadding) {
  const std::vector<Detection> found = Process({95, 45, 20, 20, 0.9f, 1, 0,  //
                                                50, 80, 20, 20, 0.8f, 1, 0},
                                               Letterbox());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FLOAT_EQ(found[0].box.x_max, 400);
  EXPECT_FLOAT_EQ(found[0].box.y_max, 200);
  EXPECT_FLOAT_EQ(found[0].box.x_min, 340);
}

TEST(Postprocessor, RefusesOptionsOutOfRange) {
  const std::vector<OutputShape> outputs{{"output", {1, kRows, 7}}};
  PostprocessOptions options = OptionsOf(Description());
  options.threshold = 1.5f;
  EXPECT_THAT(Postprocessor::Create(Description(), outputs, 100, 100, options).status().message(),
              testing::HasSubstr("threshold is 1.5"));
  options = OptionsOf(Description());
  options.nms.max_detections = 0;
  EXPECT_FALSE(Postprocessor::Create(Description(), outputs, 100, 100, options).ok());
}

}  // namespace
}  // namespace npustream::elements
