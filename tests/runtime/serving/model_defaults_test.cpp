#include "runtime/serving/model_defaults.h"

#include <gtest/gtest.h>

namespace npustream::serving {
namespace {

using Shapes = std::vector<std::vector<int64_t>>;

// Output shapes of public models with COCO's 80 classes.
struct CocoCase {
  const char* decoder;
  Shapes outputs;
};

TEST(ModelDefaults, KnowEightyClassesByTheShapesOfPublicModels) {
  const CocoCase cases[] = {
      {"yolox", {{1, 3549, 85}}},
      {"yolov5", {{1, 25200, 85}}},
      {"yolov8", {{1, 84, 8400}}},
      {"fastestdet", {{1, 85, 22, 22}}},
      {"nanodet", {{1, 1600, 80}, {1, 400, 80}, {1, 100, 80}, {1, 1600, 32}, {1, 400, 32}, {1, 100, 32}}},
      {"nanodet", {{1, 2125, 112}}},
      {"ssd", {{1, 3000, 81}, {1, 3000, 4}}},
      {"centernet", {{1, 80, 128, 128}, {1, 2, 128, 128}}},
  };
  for (const CocoCase& coco : cases) {
    EXPECT_TRUE(FitsClassCount(coco.decoder, coco.outputs, 80)) << coco.decoder;
    EXPECT_FALSE(FitsClassCount(coco.decoder, coco.outputs, 7)) << coco.decoder;
    EXPECT_EQ(DefaultLabels(coco.decoder, coco.outputs).size(), 80u) << coco.decoder;
  }
}

TEST(ModelDefaults, FacesAndUnknownDecoders) {
  EXPECT_EQ(DefaultLabels("yunet", Shapes{{1, 1600, 1}}), (std::vector<std::string>{"face"}));
  EXPECT_TRUE(DefaultLabels("", Shapes{{1, 80}}).empty());
  EXPECT_TRUE(DefaultLabels("special", Shapes{{1, 80}}).empty());
  EXPECT_TRUE(FitsClassCount("special", Shapes{{1, 5}}, 99));
}

TEST(ModelDefaults, AnOpenDimensionMayBeAnything) { EXPECT_TRUE(FitsClassCount("yolox", Shapes{{1, 100, -1}}, 33)); }

TEST(ModelDefaults, NoDecoderIsNoError) {
  const auto plain = DefaultDescription("");
  ASSERT_TRUE(plain.ok());
  EXPECT_TRUE(plain->decoder.type.empty());
  EXPECT_EQ(DefaultDescription("none").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace npustream::serving
