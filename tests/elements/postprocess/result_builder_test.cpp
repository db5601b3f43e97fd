#include "elements/postprocess/result_builder.h"

#include <gtest/gtest.h>

namespace npustream::elements {
namespace {

using Classes = std::set<std::string>;

TEST(ParseClassList, SplitsAtCommasAndDropsBlanks) {
  EXPECT_EQ(ParseClassList("person, traffic light ,car"), (Classes{"person", "traffic light", "car"}));
  EXPECT_EQ(ParseClassList(""), Classes{});
  EXPECT_EQ(ParseClassList(" , ,"), Classes{});
}

// A runner for one anchor-free head of one cell, in YOLOv8's layout: 4 box values and two classes for one place.
class OneCellRunner : public serving::ModelRunner {
 public:
  OneCellRunner() {
    info_.picture_width = info_.picture_height = 32;
    info_.outputs.push_back({"output0", ACL_FLOAT, {1, 6, 21}, 6 * 21 * sizeof(float)});
  }
  const serving::ModelInfo& info() const override { return info_; }
  Status Submit(serving::InferenceRequest) override { return Status(StatusCode::kUnsupported, "not run here"); }
  serving::RunnerStats stats() const override { return {}; }
  serving::ModelInfo info_;
};

class Tensor : public serving::InferenceOutputs {
 public:
  std::span<const std::byte> tensor(size_t) const override { return std::as_bytes(std::span(values)); }
  std::vector<float> values = std::vector<float>(6 * 21);
};

ModelOutput Output() {
  auto binding = std::make_shared<ModelBinding>();
  binding->key = "one-cell";
  binding->description.name = "one-cell";
  binding->description.version = "3";
  binding->description.decoder.type = "yolov8";
  binding->description.labels = {"cat", "dog"};
  binding->description.threshold = 0.4f;
  auto runner = std::make_shared<OneCellRunner>();
  binding->runner = runner;
  auto tensor = std::make_shared<Tensor>();
  // Centre 16, 16, size 8 × 4, class 1 with 0.5 in the first of 21 places; the rest is zero.
  tensor->values[0 * 21] = 16;
  tensor->values[1 * 21] = 16;
  tensor->values[2 * 21] = 8;
  tensor->values[3 * 21] = 4;
  tensor->values[5 * 21] = 0.5f;
  ModelOutput output;
  output.tensors = tensor;
  output.model = binding;
  output.transform = {{0, 0, 64, 64}, {0, 0, 32, 32}, 64, 64};
  return output;
}

TEST(ResultBuilder, NamesObjectsAndModelAndScalesToTheFrame) {
  PostprocessOverrides overrides;
  overrides.profile = "day";
  ResultBuilder builder(overrides);
  const auto result = builder.Build(Output());
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->model_name, "one-cell");
  EXPECT_EQ(result->model_version, "3");
  EXPECT_EQ(result->profile, "day");
  EXPECT_EQ(result->frame_width, 64);
  ASSERT_EQ(result->objects.size(), 1u);
  EXPECT_EQ(result->objects[0].label, "dog");
  EXPECT_FLOAT_EQ(result->objects[0].detection.box.x_min, 24);
  EXPECT_FLOAT_EQ(result->objects[0].detection.box.x_max, 40);
  EXPECT_FLOAT_EQ(result->objects[0].detection.box.y_min, 28);
}

TEST(ResultBuilder, OverridesWinOverTheDescription) {
  PostprocessOverrides stricter;
  stricter.threshold = 0.6f;
  EXPECT_TRUE(ResultBuilder(stricter).Build(Output())->objects.empty());
  PostprocessOverrides cats;
  cats.object_classes = {"cat"};
  EXPECT_TRUE(ResultBuilder(cats).Build(Output())->objects.empty());
  PostprocessOverrides renamed;
  renamed.labels = {"a", "b"};
  EXPECT_EQ(ResultBuilder(renamed).Build(Output())->objects.at(0).label, "b");
}

TEST(ResultBuilder, RefusesAnOverrideOutOfRange) {
  PostprocessOverrides overrides;
  overrides.threshold = 1.5f;
  const auto result = ResultBuilder(overrides).Build(Output());
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("one-cell"), std::string::npos);
}

}  // namespace
}  // namespace npustream::elements
