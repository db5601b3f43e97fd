// Every file of configs/models is loaded here.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/sha256.h"
#include "runtime/serving/model_catalog.h"
#include "runtime/serving/model_description.h"
#include "runtime/serving/model_store.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_data.h"

namespace npustream::serving {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(NPUSTREAM_SOURCE_DIR) / "configs" / "models";

std::vector<fs::path> FilesWith(const std::string& extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  return files;
}

std::string Sha256Of(const fs::path& path) {
  const auto file = MappedFile::Open(path);
  return file.ok() ? Sha256Hex(file->bytes()) : "";
}

TEST(ConfiguredModels, EveryDescriptionLoads) {
  const auto descriptions = FilesWith(".yaml");
  ASSERT_GE(descriptions.size(), 6u);
  for (const fs::path& path : descriptions) {
    const auto model = LoadModelDescription(path);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->name, path.stem().string()) << "it is found by its file's name";
    EXPECT_FALSE(model->licence.empty()) << path;
    EXPECT_FALSE(model->labels.empty()) << path;
    EXPECT_EQ(model->sha256.size(), 64u) << path;
    EXPECT_TRUE(fs::exists(model->file) || !model->source_url.empty()) << path << " cannot be had";
  }
}

TEST(ConfiguredModels, EveryModelFileHasADescriptionWithItsSha256) {
  std::map<std::string, std::string> described;
  for (const fs::path& path : FilesWith(".yaml")) {
    const auto model = LoadModelDescription(path);
    ASSERT_TRUE(model.ok());
    described[model->file.filename().string()] = model->sha256;
  }
  const auto models = FilesWith(".onnx");
  ASSERT_EQ(models.size(), 2u);
  for (const fs::path& path : models) EXPECT_EQ(described[path.filename().string()], Sha256Of(path)) << path;
}

TEST(ConfiguredModels, NothingElseLiesThere) {
  const std::set<std::string> known{".yaml", ".onnx", ".labels"};
  const std::set<std::string> others{"NOTICE", "README.md", "licences", "tools"};
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    EXPECT_TRUE(known.contains(entry.path().extension()) || others.contains(entry.path().filename())) << entry.path();
  }
  for (const char* text : {"NOTICE", "licences/Apache-2.0.txt", "licences/MIT-human-models.txt"}) {
    EXPECT_TRUE(ReadTextFile(kFolder / text).ok()) << text;
  }
}

TEST(ConfiguredModels, EveryLabelListLoads) {
  const auto lists = FilesWith(".labels");
  ASSERT_EQ(lists.size(), 1u);
  for (const fs::path& path : lists) EXPECT_TRUE(LoadLabels(path).ok()) << path;
}

TEST(ConfiguredModels, CocoLabelsAreThoseOfTheReferenceRecords) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "reference/yolox_nano_416.coco_val128.jsonl");
  const auto labels = LoadLabels(kFolder / "coco.labels");
  ASSERT_TRUE(labels.ok());
  ASSERT_EQ(labels->size(), 80u);
  std::ifstream lines(path);
  std::set<size_t> seen;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    for (const auto& object : record["objects"]) {
      const size_t id = object["label_id"].get<size_t>();
      EXPECT_EQ(labels->at(id), object["label"].get<std::string>());
      seen.insert(id);
    }
  }
  EXPECT_GT(seen.size(), 70u);
}

TEST(ConfiguredModels, PublicModelsAreFoundUnderTheNamesOfTheTestData) {
  NPUSTREAM_TEST_DATA_OR_SKIP(models, "models");
  const testing_support::ScopedEnvironment path("NPUSTREAM_MODEL_PATH", models.string());
  size_t found = 0;
  for (const ModelListing& listing : ListModels()) {
    ASSERT_TRUE(listing.status.ok()) << listing.status.message();
    if (listing.file.empty()) continue;
    EXPECT_EQ(Sha256Of(listing.file), listing.model.sha256) << listing.name;
    ++found;
  }
  EXPECT_GE(found, 6u);  // two embedded, yolox-nano, nanodet-m, fastestdet, yunet
}

// With the real compiler: names, sizes, class counts and decoders fit the files.
TEST(ConfiguredModels, EveryModelWhoseFileIsHereCompiles) {
  const testing_support::ScopedEnvironment path("NPUSTREAM_MODEL_PATH",
                                                (testing_support::TestDataFolder() / "models").string());
  const testing_support::ScopedEnvironment cache("NPUSTREAM_CACHE", NPUSTREAM_BINARY_DIR "/tests/cache");
  size_t compiled = 0;
  for (const ModelListing& listing : ListModels()) {
    if (listing.file.empty()) continue;
    ModelRequest request;
    request.model = listing.name;
    const auto resolved = ResolveModel(request);
    ASSERT_TRUE(resolved.ok()) << resolved.status().message();
    EXPECT_TRUE(fs::is_regular_file(resolved->om));
    ++compiled;
  }
  EXPECT_GE(compiled, 2u);
}

// The keys of the complete example stand in the table of the README, and the table has no others.
TEST(ConfiguredModels, ReadmeDocumentsEveryKey) {
  const auto readme = ReadTextFile(kFolder / "README.md");
  ASSERT_TRUE(readme.ok());
  std::set<std::string> documented;
  const std::regex row(R"(\n\| `([a-z0-9-]+)`)");
  for (std::sregex_iterator it(readme->begin(), readme->end(), row), end; it != end; ++it) documented.insert((*it)[1]);
  const std::set<std::string> keys{"classes", "color-order", "decoder",        "file", "fit",       "input-size",
                                   "labels",  "licence",     "max-detections", "mean", "name",      "nms",
                                   "pad",     "sha256",      "source-url",     "std",  "threshold", "version"};
  EXPECT_EQ(documented, keys);
}

}  // namespace
}  // namespace npustream::serving
