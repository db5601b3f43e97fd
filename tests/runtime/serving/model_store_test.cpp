#include "runtime/serving/model_store.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/sha256.h"
#include "tests/runtime/serving/fake_atc.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/temporary_folder.h"

namespace npustream::serving {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::ScopedEnvironment;
using testing_support::TemporaryFolder;

class ModelStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { Write("net.onnx", "onnx bytes"); }

  std::filesystem::path Write(const std::string& name, const std::string& content) {
    EXPECT_TRUE(WriteFileAtomically(folder_ / name, content).ok());
    return folder_ / name;
  }

  ModelRequest Request(const std::string& model) {
    ModelRequest request;
    request.model = model;
    request.soc_version = "Ascend310P3";
    return request;
  }
  ModelRequest OnnxRequest() {
    ModelRequest request = Request(folder_ / "net.onnx");
    request.decoder = "yolox";
    return request;
  }

  TemporaryFolder folder_;
  FakeAtc atc_{folder_.path()};
  ScopedEnvironment program_{"NPUSTREAM_ATC", atc_.program.string()};
  ScopedEnvironment cache_{"NPUSTREAM_CACHE", (folder_ / "cache").string()};
  ScopedEnvironment path_{"NPUSTREAM_MODEL_PATH", (folder_ / "models").string()};
  ScopedEnvironment home_{"XDG_DATA_HOME", (folder_ / "data").string()};
};

TEST_F(ModelStoreTest, CompilesOnceAndThenTakesTheCache) {
  std::vector<std::string> news;
  ModelRequest request = OnnxRequest();
  request.notify = [&](const std::string& text) { news.push_back(text); };
  const auto first = ResolveModel(request);
  ASSERT_TRUE(first.ok()) << first.status().message();
  const auto second = ResolveModel(request);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(first->om, second->om);
  EXPECT_EQ(atc_.CallCount(), 1u);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_THAT(news[0], HasSubstr("(first use)"));
  EXPECT_THAT(first->om.string(), HasSubstr((folder_ / "cache").string()));
}

TEST_F(ModelStoreTest, ADamagedEntryIsMadeAgain) {
  const auto good = ResolveModel(OnnxRequest());
  ASSERT_TRUE(good.ok()) << good.status().message();
  const std::string content = *ReadTextFile(good->om);
  const auto damage = {+[](const std::filesystem::path& om) { std::filesystem::resize_file(om, 5); },
                       +[](const std::filesystem::path& om) { std::filesystem::resize_file(om, 0); },
                       +[](const std::filesystem::path& om) { EXPECT_TRUE(WriteFileAtomically(om, "another OM").ok()); },
                       +[](const std::filesystem::path& om) {
                         std::filesystem::remove(om);
                         std::filesystem::create_directory(om);
                       }};
  for (const auto& hurt : damage) {
    hurt(good->om);
    const auto again = ResolveModel(OnnxRequest());
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(*ReadTextFile(again->om), content);
  }
  EXPECT_EQ(atc_.CallCount(), 5u);
}

TEST_F(ModelStoreTest, TellsAtcShapeGearsChipAndAipp) {
  const auto model = ResolveModel(OnnxRequest());
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::string calls = atc_.Calls();
  EXPECT_THAT(calls, HasSubstr("--mode=0 --framework=5 --model=" + (folder_ / "net.onnx").string()));
  EXPECT_THAT(calls, HasSubstr("--input_shape=images:-1,3,416,416"));
  EXPECT_THAT(calls, HasSubstr("--dynamic_batch_size=1,2,4,8"));
  EXPECT_THAT(calls, HasSubstr("--soc_version=Ascend310P3"));
  const auto aipp = ReadTextFile(model->om);  // the fake compiler puts it there
  ASSERT_TRUE(aipp.ok());
  EXPECT_THAT(*aipp, HasSubstr("input_format: YUV420SP_U8\n  src_image_size_w: 416\n  src_image_size_h: 416"));
}

TEST_F(ModelStoreTest, DecoderDecidesThePreprocessingOfABareOnnx) {
  const auto model = ResolveModel(OnnxRequest());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->description.name, "net");
  EXPECT_EQ(model->description.file, folder_ / "net.onnx");
  EXPECT_EQ(model->description.decoder.type, "yolox");
  EXPECT_EQ(model->description.fit, FitMode::kLetterbox);
  EXPECT_EQ(model->description.color_order, ColorOrder::kBgr);
  ASSERT_EQ(model->description.labels.size(), 80u) << "85 channels are 80 classes";
  EXPECT_EQ(model->description.labels[0], "person");
  EXPECT_EQ(model->description.labels[79], "toothbrush");
}

TEST_F(ModelStoreTest, AnotherNumberOfClassesGetsNoLabels) {
  atc_.DescribeModel("images", {1, 3, 416, 416}, {{"out", {1, 3549, 8}}});
  const auto model = ResolveModel(OnnxRequest());
  ASSERT_TRUE(model.ok());
  EXPECT_TRUE(model->description.labels.empty());
}

TEST_F(ModelStoreTest, LabelsThatDoNotFitTheModelAreRefused) {
  ModelRequest request = OnnxRequest();
  request.labels_file = Write("two.txt", "cat\ndog\n");
  for (int i = 0; i < 2; ++i) {  // the second time the OM is in the cache
    const auto model = ResolveModel(request);
    ASSERT_FALSE(model.ok());
    EXPECT_THAT(model.status().message(),
                HasSubstr("2 labels do not fit decoder 'yolox' and the outputs out [1,3549,85]"));
  }
}

TEST_F(ModelStoreTest, OptionsAndContentMakeAnotherOm) {
  const auto plain = ResolveModel(OnnxRequest());
  ASSERT_TRUE(plain.ok());
  std::vector<ModelRequest> others(5, OnnxRequest());
  others[0].picture_format = PictureFormat::kRgb888;
  others[1].gears = {1, 2};
  others[2].decoder = "yolov5";
  others[3].precision = "fp16";
  others[4].soc_version = "Ascend910B1";
  for (const ModelRequest& request : others) {
    const auto other = ResolveModel(request);
    ASSERT_TRUE(other.ok()) << other.status().message();
    EXPECT_NE(other->om, plain->om);
  }
  Write("net.onnx", "other bytes");
  const auto changed = ResolveModel(OnnxRequest());
  ASSERT_TRUE(changed.ok());
  EXPECT_NE(changed->om, plain->om);
  EXPECT_EQ(atc_.CallCount(), 7u);
}

TEST_F(ModelStoreTest, ARebuiltCompilerCompilesAgain) {
  const auto before = ResolveModel(OnnxRequest());
  const auto script = ReadTextFile(atc_.program);
  ASSERT_TRUE(script.ok());
  Write("atc", *script + "# rebuilt\n");
  ASSERT_EQ(chmod(atc_.program.c_str(), 0755), 0);
  const auto after = ResolveModel(OnnxRequest());
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_NE(before->om, after->om);
}

TEST_F(ModelStoreTest, OneGearMakesAStaticModel) {
  ModelRequest request = OnnxRequest();
  request.gears = {1};
  ASSERT_TRUE(ResolveModel(request).ok());
  EXPECT_THAT(atc_.Calls(), HasSubstr("--input_shape=images:1,3,416,416"));
  EXPECT_THAT(atc_.Calls(), Not(HasSubstr("--dynamic_batch_size")));
}

TEST_F(ModelStoreTest, AnOnnxWithAFixedBatchKeepsIt) {
  atc_.DescribeModel("images", {4, 3, 416, 416}, {{"out", {4, 3549, 85}}});
  ASSERT_TRUE(ResolveModel(OnnxRequest()).ok());
  EXPECT_THAT(atc_.Calls(), HasSubstr("--input_shape=images:4,3,416,416"));
  EXPECT_THAT(atc_.Calls(), Not(HasSubstr("--dynamic_batch_size")));
}

TEST_F(ModelStoreTest, AnErrorOfAtcComesThroughAndLeavesNothing) {
  Write("broken", "");
  const auto model = ResolveModel(OnnxRequest());
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().message(), "atc cannot compile " + (folder_ / "net.onnx").string() +
                                          ": E13010: no parser for operator Foo (node bar)");
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache" / "om")) {
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
  }
  std::filesystem::remove(folder_ / "broken");
  EXPECT_TRUE(ResolveModel(OnnxRequest()).ok()) << "the next attempt starts afresh";
}

TEST_F(ModelStoreTest, WhoAsksAtTheSameTimeWaitsForOneCompilation) {
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] { good += ResolveModel(OnnxRequest()).ok(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 6);
  EXPECT_EQ(atc_.CallCount(), 1u);
}

TEST_F(ModelStoreTest, InputsThatAreNoPictureAreRefused) {
  atc_.DescribeModel("x", {1, 1, 28, 28}, {{"y", {1, 10}}});
  auto model = ResolveModel(OnnxRequest());
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), HasSubstr("input 'x' [1,1,28,28] is not a picture of shape N,3,H,W"));

  atc_.DescribeModel("x", {1, 3, -1, -1}, {{"y", {1, 10}}});
  model = ResolveModel(OnnxRequest());
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), HasSubstr("'input-size' in a description decides it"));

  atc_.DescribeModel("x", {1, 3, 35, 35}, {{"y", {1, 10}}});
  model = ResolveModel(OnnxRequest());
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), HasSubstr("odd size"));
}

TEST_F(ModelStoreTest, ADescriptionDecidesAnOpenSize) {
  atc_.DescribeModel("x", {-1, 3, -1, -1}, {{"y", {-1, 100, 85}}});
  Write("d.yaml", "name: d\nfile: net.onnx\ninput-size: {width: 64, height: 32}\ndecoder: {type: yolox}\n");
  const auto model = ResolveModel(Request(folder_ / "d.yaml"));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_THAT(atc_.Calls(), HasSubstr("--input_shape=x:-1,3,32,64"));
}

TEST_F(ModelStoreTest, NamesAreFoundAlongTheModelPath) {
  Write("models/my-net.yaml", "name: my-net\nfile: weights.onnx\ndecoder: {type: yolox}\n");
  auto model = ResolveModel(Request("my-net"));
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(model.status().message(), HasSubstr("its file weights.onnx is not in "));
  EXPECT_THAT(model.status().message(), HasSubstr("NPUSTREAM_MODEL_PATH"));
  EXPECT_THAT(model.status().message(), Not(HasSubstr("models pull"))) << "there is no source to pull from";

  Write("data/npustream/models/weights.onnx", "w");
  model = ResolveModel(Request("my-net"));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->description.file, folder_ / "data/npustream/models/weights.onnx");
}

TEST_F(ModelStoreTest, AnAbsentFileOfAPublicModelTellsHowToGetIt) {
  const auto model = ResolveModel(Request("yolox-tiny"));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), HasSubstr("get it with `npustream models pull yolox-tiny`"));
}

TEST_F(ModelStoreTest, AnUnknownNameListsTheKnownOnes) {
  const auto model = ResolveModel(Request("no-such"));
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(model.status().message(), HasSubstr("coco-day, coco-night, "));
}

TEST_F(ModelStoreTest, AFileWithAnotherSha256IsRefused) {
  const std::string right = "right";
  Write("d.yaml",
        "name: d\nfile: w.onnx\ndecoder: {type: yolox}\nsha256: " + Sha256Hex(std::as_bytes(std::span(right))) + "\n");
  Write("w.onnx", "wrong");
  EXPECT_EQ(ResolveModel(Request(folder_ / "d.yaml")).status().code(), StatusCode::kCorruptData);
  Write("w.onnx", right);
  EXPECT_TRUE(ResolveModel(Request(folder_ / "d.yaml")).ok());
}

TEST_F(ModelStoreTest, AnOmIsTakenAsItIs) {
  ModelRequest request = Request(Write("ready.om", "OM"));
  request.decoder = "nanodet";
  request.labels_file = Write("l.txt", "a\nb\n");
  const auto model = ResolveModel(request);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->om, folder_ / "ready.om");
  EXPECT_EQ(model->description.decoder.type, "nanodet");
  EXPECT_EQ(model->description.labels.size(), 2u);
  EXPECT_EQ(atc_.CallCount(), 0u);
}

TEST_F(ModelStoreTest, ForeignFilesAndWrongRequestsGetASentence) {
  EXPECT_THAT(ResolveModel(Request("")).status().message(), HasSubstr("no model is named"));
  EXPECT_THAT(ResolveModel(Request(folder_ / "none.onnx")).status().message(), HasSubstr("there is no such file"));
  EXPECT_THAT(ResolveModel(Request(Write("x.gguf", "GGUF"))).status().message(),
              HasSubstr("neither a description (.yaml), an OM (.om) nor an ONNX file (.onnx)"));
  ModelRequest request = OnnxRequest();
  request.decoder = "yolo9000";
  EXPECT_THAT(ResolveModel(request).status().message(), HasSubstr("known are centernet, fastestdet"));
  request = OnnxRequest();
  request.precision = "int3";
  EXPECT_THAT(ResolveModel(request).status().message(), HasSubstr("precision 'int3'"));
  request = OnnxRequest();
  request.gears = {0, 1};
  EXPECT_THAT(ResolveModel(request).status().message(), HasSubstr("a batch of 0 is empty"));
}

TEST_F(ModelStoreTest, ADescriptionsDecoderCannotBeOverruled) {
  Write("d.yaml", "name: d\nfile: net.onnx\ndecoder: {type: yolox}\n");
  ModelRequest request = Request(folder_ / "d.yaml");
  request.decoder = "yolov5";
  EXPECT_THAT(ResolveModel(request).status().message(), HasSubstr("says decoder 'yolox'; 'yolov5' can be chosen only"));
  request.decoder = "yolox";
  EXPECT_TRUE(ResolveModel(request).ok());
}

TEST_F(ModelStoreTest, ACompilerThatIsNotThereIsNamed) {
  const ScopedEnvironment program("NPUSTREAM_ATC", "/nonexistent/atc");
  EXPECT_THAT(ResolveModel(OnnxRequest()).status().message(), HasSubstr("NPUSTREAM_ATC names /nonexistent/atc"));
}

TEST_F(ModelStoreTest, ACacheThatCannotBeWrittenIsNamed) {
  Write("occupied", "a file where a folder should be");
  const ScopedEnvironment cache("NPUSTREAM_CACHE", (folder_ / "occupied").string());
  const auto model = ResolveModel(OnnxRequest());
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), HasSubstr("NPUSTREAM_CACHE may name"));
}

}  // namespace
}  // namespace npustream::serving
