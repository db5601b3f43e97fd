// Average precision of `npustream detect` against what ONNX Runtime reaches with the same models and pictures.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/e2e/summary.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_data.h"

namespace npustream::e2e {
namespace {

using testing_support::RunShell;
using testing_support::TemporaryFolder;

// person AP and mAP of ONNX Runtime 1.30 in fp32 on coco_val128: confidence ≥ 0.01, NMS 0.6.
struct Reference {
  const char* model;
  double person_ap;
  double map;
};
constexpr Reference kReferences[] = {
    {"yolox-nano", 0.3708, 0.3364},
    {"nanodet-m", 0.3159, 0.2483},
    {"fastestdet", 0.2374, 0.2067},
    {"coco-day", 0.372, 0.293},
};

struct Path {
  const char* picture_format;
  double tolerance;
};
constexpr Path kPaths[] = {{"nv12", 0.010}, {"rgb", 0.005}};

class Accuracy : public testing::TestWithParam<std::tuple<Reference, Path>> {};

// What the model finds with `flags`, and with variables set for the program; null when it cannot be scored.
nlohmann::json Score(const std::string& variables, const std::string& flags, const std::string& pictures,
                     const std::string& scorer) {
  const TemporaryFolder folder;
  const std::string output = (folder.path() / "out.jsonl").string();
  const std::string data = testing_support::TestDataFolder().string();
  const auto run = RunShell("NPUSTREAM_MODEL_PATH='" + data + "/models' " + variables + " npustream detect " + flags +
                            " --input '" + pictures + "' --output '" + output + "' --threshold 0.01");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  const auto scored = RunShell("/usr/bin/python3 '" + scorer + "' '" + output + "' '" + data +
                               "/images/coco_val128/labels' | tail -1");
  const auto score = nlohmann::json::parse(scored.output, nullptr, false);
  EXPECT_TRUE(score.is_object()) << scored.output;
  return score.is_object() ? score : nlohmann::json();
}

TEST_P(Accuracy, IsThatOfOnnxRuntime) {
  const auto& [reference, path] = GetParam();
  NPUSTREAM_TEST_DATA_OR_SKIP(pictures, "images/coco_val128/images");
  NPUSTREAM_TEST_DATA_OR_SKIP(scorer, "../tools/eval_detections.py");
  const auto score =
      Score("", std::string("--model ") + reference.model + " --picture-format " + path.picture_format, pictures, scorer);
  ASSERT_FALSE(score.is_null());
  EXPECT_NEAR(score["person_AP"].get<double>(), reference.person_ap, path.tolerance);
  EXPECT_NEAR(score["mAP"].get<double>(), reference.map, path.tolerance);
}

// On tiles whose instructions are done one by one, as this CPU may have none.
TEST(Bfloat16, CostsAtMostThreeThousandthsOfPrecision) {
  NPUSTREAM_TEST_DATA_OR_SKIP(pictures, "images/coco_val128/images");
  NPUSTREAM_TEST_DATA_OR_SKIP(scorer, "../tools/eval_detections.py");
  const auto fp32 = Score("", "--model yolox-nano", pictures, scorer);
  const auto bf16 = Score("NPUSTREAM_EMULATE_AMX=1", "--model yolox-nano --precision bf16", pictures, scorer);
  ASSERT_FALSE(fp32.is_null() || bf16.is_null());
  EXPECT_GE(bf16["mAP"].get<double>(), fp32["mAP"].get<double>() - 0.003);
}

INSTANTIATE_TEST_SUITE_P(Models, Accuracy, testing::Combine(testing::ValuesIn(kReferences), testing::ValuesIn(kPaths)),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param).model;
                           std::erase(name, '-');
                           return name + "_" + std::get<1>(info.param).picture_format;
                         });

}  // namespace
}  // namespace npustream::e2e
