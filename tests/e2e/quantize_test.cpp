// What quantising a model costs in average precision: calibrated on a quarter of the pictures, scored on the others.
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/e2e/summary.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_data.h"

namespace npustream::e2e {
namespace {

namespace fs = std::filesystem;
using testing_support::RunShell;
using testing_support::TemporaryFolder;

constexpr double kMostPersonApLost = 0.010, kMostMapLost = 0.015;

// Links every fourth picture into calibration/, the others into scored/, and the labels of the scored ones into labels/.
void SplitPictures(const fs::path& coco, const fs::path& folder) {
  for (const char* name : {"calibration", "scored", "labels"}) fs::create_directory(folder / name);
  std::set<fs::path> pictures;
  for (const auto& entry : fs::directory_iterator(coco / "images")) pictures.insert(entry.path());
  size_t index = 0;
  for (const fs::path& picture : pictures) {
    const bool calibrates = index++ % 4 == 0;
    fs::create_symlink(picture, folder / (calibrates ? "calibration" : "scored") / picture.filename());
    const fs::path label = coco / "labels" / picture.filename().replace_extension(".txt");
    if (!calibrates && fs::exists(label)) fs::create_symlink(label, folder / "labels" / label.filename());
  }
}

// The model's description with the OM in place of its file.
fs::path DescribeOm(const std::string& model, const fs::path& om, const fs::path& folder) {
  const fs::path models = fs::path(NPUSTREAM_SOURCE_DIR) / "configs/models";
  fs::copy_file(models / "coco.labels", folder / "coco.labels");
  std::istringstream lines(*ReadTextFile(models / (model + ".yaml")));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("sha256:")) continue;
    text += (line.starts_with("file:") ? "file: " + om.string() : line) + "\n";
  }
  const fs::path path = folder / "quantised.yaml";
  EXPECT_TRUE(WriteFileAtomically(path, std::string_view(text)).ok());
  return path;
}

class Quantize : public testing::TestWithParam<const char*> {
 protected:
  static std::string Environment() {
    return "NPUSTREAM_MODEL_PATH='" + (testing_support::TestDataFolder() / "models").string() + "' ";
  }
  static nlohmann::json Score(const std::string& model, const fs::path& folder, const fs::path& scorer) {
    const std::string records = (folder / "records.jsonl").string();
    const auto run = RunShell(Environment() + "npustream detect --model '" + model + "' --input '" +
                              (folder / "scored").string() + "' --output '" + records + "' --threshold 0.01");
    EXPECT_EQ(run.exit_code, 0) << run.output;
    const auto scored = RunShell("/usr/bin/python3 '" + scorer.string() + "' '" + records + "' '" +
                                 (folder / "labels").string() + "' | tail -1");
    return nlohmann::json::parse(scored.output, nullptr, false);
  }
};

TEST_P(Quantize, CostsLittlePrecision) {
  const std::string model = GetParam();
  NPUSTREAM_TEST_DATA_OR_SKIP(coco, "images/coco_val128");
  NPUSTREAM_TEST_DATA_OR_SKIP(scorer, "../tools/eval_detections.py");
  const TemporaryFolder temporary;
  const fs::path& folder = temporary.path();
  SplitPictures(coco, folder);
  const fs::path om = folder / "quantised.om", report = folder / "report.json";
  const auto run = RunShell(Environment() + "npustream quantize " + model + " --images '" +
                            (folder / "calibration").string() + "' -o '" + om.string() + "' --report '" +
                            report.string() + "'");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto layers = nlohmann::json::parse(*ReadTextFile(report));
  EXPECT_EQ(layers["samples"], 32);
  EXPECT_GE(layers["integer_layers"].get<double>(), 0.8 * static_cast<double>(layers["layers"].size()));

  const nlohmann::json real = Score(model, folder, scorer);
  const nlohmann::json integers = Score(DescribeOm(model, om, folder).string(), folder, scorer);
  ASSERT_TRUE(real.is_object() && integers.is_object());
  EXPECT_GE(integers["person_AP"].get<double>(), real["person_AP"].get<double>() - kMostPersonApLost);
  EXPECT_GE(integers["mAP"].get<double>(), real["mAP"].get<double>() - kMostMapLost);
}

TEST(QuantizeCommand, WhatIsNoPictureEndsWithASentence) {
  const TemporaryFolder folder;
  const fs::path noise = folder / "noise";
  ASSERT_TRUE(WriteFileAtomically(noise, std::string_view("neither a picture nor a film")).ok());
  for (const std::string& images : {noise.string(), std::string("/dev/null")}) {
    const auto run = RunShell("timeout 60 npustream quantize coco-day --images '" + images + "' -o '" +
                              (folder / "quantised.om").string() + "'");
    EXPECT_EQ(run.exit_code, 1) << images << ": " << run.output;
    EXPECT_NE(run.output.find("npustream: "), std::string::npos) << run.output;
    EXPECT_FALSE(fs::exists(folder / "quantised.om"));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Quantize, testing::Values("yolox-nano", "nanodet-m", "fastestdet", "coco-day"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace npustream::e2e
