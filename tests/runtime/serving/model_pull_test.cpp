#include "runtime/serving/model_pull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/sha256.h"
#include "tests/runtime/serving/tiny_http_server.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/temporary_folder.h"

namespace npustream::serving {
namespace {

using ::testing::HasSubstr;
using testing_support::ScopedEnvironment;

class ModelPullTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("described/net.yaml", "name: net\nfile: net.onnx\ndecoder: {type: yolox}\nsource-url: " + url_ +
                                    "\nsha256: " + Sha256Hex(std::as_bytes(std::span(content_))) + "\n");
  }
  void Write(const std::string& name, const std::string& content) {
    ASSERT_TRUE(WriteFileAtomically(folder_ / name, content).ok());
  }
  std::string Read(const std::filesystem::path& path) { return ReadTextFile(path).ok() ? *ReadTextFile(path) : ""; }
  bool Exists(const std::string& name) { return std::filesystem::exists(folder_ / name); }
  // Files in the folder into which models are pulled.
  size_t FilesInTarget() {
    std::error_code ignored;
    const auto files = std::filesystem::directory_iterator(folder_ / "data/npustream/models", ignored);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  const std::string content_ = std::string(300'000, 'm') + "odel";
  testing_support::TemporaryFolder folder_;
  TinyHttpServer server_;
  const std::string url_ = server_.Url("/some/path/upstream-name.onnx");
  ScopedEnvironment path_{"NPUSTREAM_MODEL_PATH", (folder_ / "described").string()};
  ScopedEnvironment data_{"XDG_DATA_HOME", (folder_ / "data").string()};
  ScopedEnvironment mirror_{"NPUSTREAM_MODEL_MIRROR", nullptr};
};

TEST_F(ModelPullTest, BringsTheFileFromItsSource) {
  server_.Serve("/some/path/upstream-name.onnx", content_);
  uint64_t last = 0, total = 0;
  PullOptions options;
  options.progress = [&](uint64_t now, uint64_t all) { last = now, total = all; };
  const auto pulled = PullModel("net", options);
  ASSERT_TRUE(pulled.ok()) << pulled.status().message();
  EXPECT_FALSE(pulled->was_there);
  EXPECT_EQ(pulled->file, folder_ / "described/net.onnx") << "the first folder that can be written";
  EXPECT_EQ(Read(pulled->file), content_);
  EXPECT_EQ(last, content_.size());
  EXPECT_EQ(total, content_.size());

  const auto again = PullModel("net");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->was_there);
  EXPECT_EQ(server_.requests(), 1);
}

TEST_F(ModelPullTest, GoesToTheUsersFolderWithoutAPath) {
  Write("data/npustream/models/net.yaml", Read(folder_ / "described/net.yaml"));
  const ScopedEnvironment path("NPUSTREAM_MODEL_PATH", nullptr);
  server_.Serve("/some/path/upstream-name.onnx", content_);
  const auto pulled = PullModel("net");
  ASSERT_TRUE(pulled.ok()) << pulled.status().message();
  EXPECT_EQ(pulled->file, folder_ / "data/npustream/models/net.onnx");
}

TEST_F(ModelPullTest, AMirrorFolderComesFirst) {
  Write("mirror/net.onnx", content_);
  const ScopedEnvironment mirror("NPUSTREAM_MODEL_MIRROR", (folder_ / "mirror").string());
  const auto pulled = PullModel("net");
  ASSERT_TRUE(pulled.ok()) << pulled.status().message();
  EXPECT_EQ(Read(pulled->file), content_);
  EXPECT_EQ(server_.requests(), 0);
}

TEST_F(ModelPullTest, AMirrorMayBeAnAddress) {
  server_.Serve("/m/net.onnx", content_);
  const ScopedEnvironment mirror("NPUSTREAM_MODEL_MIRROR", server_.Url("/m/"));
  EXPECT_TRUE(PullModel("net").ok());
}

TEST_F(ModelPullTest, AnotherContentIsRefusedAndNotWritten) {
  server_.Serve("/some/path/upstream-name.onnx", content_ + "?");
  const auto pulled = PullModel("net");
  ASSERT_FALSE(pulled.ok());
  EXPECT_EQ(pulled.status().code(), StatusCode::kCorruptData);
  EXPECT_THAT(pulled.status().message(), HasSubstr("nothing was written"));
  EXPECT_FALSE(Exists("described/net.onnx"));
  EXPECT_EQ(FilesInTarget(), 0u);
}

TEST_F(ModelPullTest, AnAddressThatDoesNotExist) {
  const auto pulled = PullModel("net");
  ASSERT_FALSE(pulled.ok());
  EXPECT_EQ(pulled.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(pulled.status().message(), HasSubstr(url_));
  EXPECT_FALSE(Exists("described/net.onnx"));
}

TEST_F(ModelPullTest, ATransferThatBreaksOffLeavesNothing) {
  server_.ServeCutShort("/some/path/upstream-name.onnx", content_, 1000);
  const auto pulled = PullModel("net");
  ASSERT_FALSE(pulled.ok());
  EXPECT_EQ(pulled.status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(Exists("described/net.onnx"));
}

TEST_F(ModelPullTest, AServerThatIsAway) {
  const ScopedEnvironment mirror("NPUSTREAM_MODEL_MIRROR", "http://127.0.0.1:1");
  EXPECT_EQ(PullModel("net").status().code(), StatusCode::kUnavailable);
}

TEST_F(ModelPullTest, UnknownNamesAndMirrorFiles) {
  EXPECT_EQ(PullModel("nobody").status().code(), StatusCode::kNotFound);
  const ScopedEnvironment mirror("NPUSTREAM_MODEL_MIRROR", (folder_ / "empty").string());
  EXPECT_EQ(PullModel("net").status().code(), StatusCode::kNotFound);
}

TEST_F(ModelPullTest, WithoutASha256NothingIsPulled) {
  Write("described/loose.yaml", "name: loose\nfile: l.onnx\ndecoder: {type: yolox}\nsource-url: " + url_ + "\n");
  EXPECT_EQ(PullModel("loose").status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace npustream::serving
