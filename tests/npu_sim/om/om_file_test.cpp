#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "npu_sim/om/file_header.h"
#include "npu_sim/om/om_reader.h"
#include "npu_sim/om/om_verify.h"
#include "npu_sim/om/om_writer.h"
#include "npu_sim/program/lowering.h"
#include "npu_sim/program/program.h"
#include "tests/npu_sim/support/graph_builder.h"

namespace npustream::om {
namespace {

using ::testing::HasSubstr;

// A small convolutional model with everything that a file can hold.
OmModel MakeModel() {
  GraphBuilder b;
  const TensorId x = b.Input({1, 3, 8, 8});
  const TensorId y = b.Node("Conv", {x, b.Random({20, 3, 3, 3}, 1), b.Random({20}, 2)}, {1, 20, 8, 8},
                            {{"strides", std::vector<int64_t>{1, 1}},
                             {"dilations", std::vector<int64_t>{1, 1}},
                             {"group", int64_t{1}},
                             {"pads", std::vector<int64_t>{1, 1, 1, 1}},
                             {"activation", std::string("Silu")}});
  const TensorId z = b.Node("Concat", {y, x}, {1, 23, 8, 8}, {{"axis", int64_t{1}}});
  const TensorId flat = b.Node("Reshape", {z}, {1, 23 * 64});
  b.Output(b.Node("Gemm", {flat, b.Random({23 * 64, 5}, 3)}, {1, 5}, {{"alpha", 1.0f}}));
  OmModel model;
  model.info = {"0.1.0",
                "Ascend310P3",
                "small",
                "atc --model=small.onnx",
                {{"images", DataType::kFloat32, {-1, 3, 8, 8}, Format::kNchw}},
                {{"scores", DataType::kFloat32, {-1, 5}, Format::kNd}},
                {1, 2, 4},
                true,
                {}};
  AippConfig aipp;
  aipp.src_image_size_w = aipp.src_image_size_h = 8;
  aipp.min_chn = {1.5f, 2.5f, 3.5f, 0};
  model.info.aipp = {aipp};
  model.plans.push_back({1, true, b.graph(), {*program::Lower(b.graph())}});
  return model;
}

Bytes Written() {
  auto bytes = WriteOm(MakeModel());
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return *bytes;
}

TEST(OmFileTest, KeepsAllThatWasWritten) {
  const OmModel model = MakeModel();
  auto file = OmFile::FromBytes(*WriteOm(model));
  ASSERT_TRUE(file.ok()) << file.status().message();
  const OmInfo& info = (*file)->info();
  EXPECT_EQ(info.toolkit_version, "0.1.0");
  EXPECT_EQ(info.soc, "Ascend310P3");
  EXPECT_EQ(info.name, "small");
  EXPECT_EQ(info.command_line, "atc --model=small.onnx");
  EXPECT_EQ(info.gears, (std::vector<int64_t>{1, 2, 4}));
  ASSERT_EQ(info.inputs.size(), 1u);
  EXPECT_EQ(info.inputs[0].name, "images");
  EXPECT_EQ(info.inputs[0].dims, (Dims{-1, 3, 8, 8}));
  EXPECT_EQ(info.inputs[0].format, Format::kNchw);
  ASSERT_EQ(info.aipp.size(), 1u);
  EXPECT_EQ(info.aipp[0].min_chn[1], 2.5f);
  EXPECT_EQ(info.aipp[0].matrix, model.info.aipp[0].matrix);
  EXPECT_EQ((*file)->sizes().node_count, 4u);

  auto graph = (*file)->LoadGraph(0);
  ASSERT_TRUE(graph.ok());
  ASSERT_EQ(graph->tensors.size(), model.plans[0].graph.tensors.size());
  for (size_t i = 0; i < graph->tensors.size(); ++i) {
    const Tensor &read = graph->tensors[i], &written = model.plans[0].graph.tensors[i];
    EXPECT_EQ(read.name, written.name);
    EXPECT_EQ(read.dims, written.dims);
    ASSERT_EQ(read.is_constant(), written.is_constant());
    if (read.is_constant()) {
      EXPECT_EQ(*read.constant, *written.constant);
    }
  }
  EXPECT_EQ(graph->nodes[0].attributes, model.plans[0].graph.nodes[0].attributes);
  ASSERT_EQ((*file)->natives(0).size(), 1u);
  const NativePlan &read = (*file)->natives(0)[0], &written = model.plans[0].natives[0];
  EXPECT_EQ(read.isa, written.isa);
  EXPECT_EQ(read.engine, written.engine);
  EXPECT_EQ(read.steps.size(), written.steps.size());
  EXPECT_EQ(read.arena_bytes, written.arena_bytes);
}

TEST(OmFileTest, SameModelGivesTheSameBytes) { EXPECT_EQ(Written(), Written()); }

TEST(OmFileTest, WeightsAreAlignedAndStoredOnce) {
  OmModel model = MakeModel();
  const size_t once = WriteOm(model)->size();
  model.plans[0].per_image = false;
  model.info.gears = {1, 2};
  model.plans.push_back(model.plans[0]);
  model.plans[1].batch = 2;
  // The graphs are the same in both plans: their ports do not follow the batch.
  model.info.inputs[0].dims[0] = model.info.outputs[0].dims[0] = 1;
  auto twice = WriteOm(model);
  ASSERT_TRUE(twice.ok()) << twice.status().message();
  EXPECT_LT(twice->size(), once + once / 2);
  FileHeader header;
  std::memcpy(&header, twice->data(), sizeof(header));
  EXPECT_EQ(header.weight_offset % 64, 0u);
}

struct Foreign {
  const char* start;
  size_t size;
  const char* expected;
};

TEST(OmFileTest, ConstantsThatAreHalvesAreStoredAsHalvesAndNoOthers) {
  const auto stored = [](float last) {
    std::vector<float> values(4096);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = std::ldexp(static_cast<float>(i % 2048), static_cast<int>(i / 2048) - 24);
    values[1] = -0.0f, values.back() = last;
    Bytes bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    OmModel model = MakeModel();
    const auto constant = std::make_shared<const Bytes>(std::move(bytes));
    model.plans[0].graph.tensors.push_back({"long", DataType::kFloat32, {4096}, constant});
    const Bytes file = WriteOm(model).value();
    const auto om = OmFile::FromBytes(file);
    EXPECT_TRUE(om.ok()) << om.status().message();
    EXPECT_EQ(*(*om)->LoadGraph(0).value().tensors.back().constant, *constant);
    return file.size();
  };
  // 2047 · 2^-23 has the 11 digits of a half, 65504 is the greatest, and a third is none.
  const size_t halves = stored(65504), floats = stored(1.0f / 3);
  EXPECT_EQ(floats - halves, 4096u * 2);
  EXPECT_EQ(stored(65536), floats);
  EXPECT_EQ(stored(std::ldexp(1.0f, -25)), floats);
}

TEST(OmFileTest, NamesForeignFiles) {
  const Foreign cases[] = {
      {"", 0, "empty"},
      {"GGUF\3\0\0\0", 8, "GGUF"},
      {"\x08\x07\x12\x07pytorch", 11, "ONNX"},
      {"hello world, this is text\n", 26, "text"},
      {"\x7f"
       "ELF\2\1\1",
       7, "ELF"},
      {"PK\3\4xxxx", 8, "ZIP"},
      {"\0\0\0\0", 4, "unknown kind"},
  };
  for (const Foreign& c : cases) {
    const auto file = OmFile::FromBytes(std::as_bytes(std::span(c.start, c.size)));
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.status().code(), StatusCode::kCorruptData);
    EXPECT_THAT(file.status().message(), HasSubstr("not an OM file"));
    EXPECT_THAT(file.status().message(), HasSubstr(c.expected));
  }
}

TEST(OmFileTest, MissingFileIsNotFoundAndNamed) {
  const auto file = OmFile::Open("/nonexistent/model.om");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(file.status().message(), HasSubstr("/nonexistent/model.om"));
}

TEST(OmFileTest, EveryTruncationIsAnError) {
  const Bytes bytes = Written();
  for (size_t size = 0; size < bytes.size(); size += size < 4096 ? 1 : 997) {
    const auto file = OmFile::FromBytes(std::span(bytes).first(size));
    ASSERT_FALSE(file.ok()) << size;
    EXPECT_EQ(file.status().code(), StatusCode::kCorruptData);
  }
}

TEST(OmFileTest, TrailingBytesAndAlterationsAreErrors) {
  Bytes bytes = Written();
  for (size_t at = 4; at < bytes.size(); at += 61) {
    Bytes altered = bytes;
    altered[at] ^= std::byte{0x10};
    EXPECT_FALSE(OmFile::FromBytes(altered).ok()) << at;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(OmFile::FromBytes(bytes).ok());
}

TEST(OmFileTest, OtherLayoutVersionAsksForConversion) {
  Bytes bytes = Written();
  bytes[3] = std::byte{9};
  const auto file = OmFile::FromBytes(bytes);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(file.status().message(), HasSubstr("atc"));
}

// Alters the metadata, mends the checksum, and goes on for as long as no error comes: nothing may crash.
TEST(OmFileTest, DamageWithARightChecksumNeverCrashes) {
  const Bytes bytes = Written();
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::mt19937 random(7);
  int rejected = 0, ran = 0;
  for (int round = 0; round < 1500; ++round) {
    Bytes altered = bytes;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      const size_t at = header.metadata_offset + random() % header.metadata_bytes;
      altered[at] = static_cast<std::byte>(random() % 4 == 0 ? 0xff : random());
    }
    const uint64_t checksum = FileChecksum(header, std::span<const std::byte>(altered).subspan(sizeof(FileHeader)));
    std::memcpy(altered.data() + offsetof(FileHeader, checksum), &checksum, sizeof(checksum));
    const auto file = OmFile::FromBytes(altered);
    // What claims to be huge is not loaded: that would be a test of memory.
    if (!file.ok() || (!(*file)->natives(0).empty() && (*file)->natives(0)[0].arena_bytes > 1 << 26)) {
      ++rejected;
      continue;
    }
    const auto loaded = program::Program::Load(**file, 1);
    if (!loaded.ok() || (*loaded)->InputBytes(0, 1) > 1 << 20 || (*loaded)->OutputBytes(0, 1) > 1 << 20) continue;
    const Bytes input((*loaded)->InputBytes(0, 1) + 64);
    Bytes output((*loaded)->OutputBytes(0, 1) + 64);
    const std::byte* const in[] = {input.data()};
    std::byte* const out[] = {output.data()};
    static_cast<void>((*loaded)->RunPart((*loaded)->gears()[0], 0, 0, in, out));
    ++ran;
  }
  EXPECT_GT(rejected, 100);
  EXPECT_GT(ran, 100);
}

// Callers allocate by what the ports show: a file whose gears say more images than its fixed ports hold would be run
// beyond the end of their buffers.
TEST(OmWriterTest, PortsHoldEveryGear) {
  OmModel model = MakeModel();
  model.info.dynamic_batch = false;
  for (PortInfo* port : {&model.info.inputs[0], &model.info.outputs[0]}) port->dims[0] = 4;
  model.info.gears = {4};
  EXPECT_TRUE(WriteOm(model).ok());
  model.info.gears = {8};
  EXPECT_FALSE(WriteOm(model).ok());
  model.info.gears = {1, 4};
  EXPECT_FALSE(WriteOm(model).ok());
  model = MakeModel();
  model.info.dynamic_batch = false;  // and yet −1 is shown
  EXPECT_FALSE(WriteOm(model).ok());
}

TEST(OmWriterTest, RefusesWhatTheReaderWould) {
  OmModel model = MakeModel();
  model.plans[0].graph.nodes[0].inputs[0] = 99;
  auto bytes = WriteOm(model);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(bytes.status().message(), HasSubstr("tensor 99"));

  model = MakeModel();
  model.plans[0].natives[0].values[0].offset = uint64_t{1} << 40;
  EXPECT_FALSE(WriteOm(model).ok());

  model = MakeModel();
  model.info.gears = {4, 2};
  EXPECT_FALSE(WriteOm(model).ok());
}

// A graph that hands on one quantised tensor of two channels.
Status VerifyQuantised(DataType type, Quantization quantization, int64_t channels = 2) {
  GraphBuilder b;
  b.Output(b.Quantized(b.Input({1, channels, 4, 4}, type), std::move(quantization)));
  return VerifyGraph(b.graph(), {std::nullopt});
}

TEST(OmVerifyTest, TakesQuantisationsThatCanBeComputedWith) {
  EXPECT_TRUE(VerifyQuantised(DataType::kUInt8, {{0.5f}, {255}, 0}).ok());
  EXPECT_TRUE(VerifyQuantised(DataType::kInt8, {{0.5f, 2.0f}, {-128, 127}, 1}).ok());
  EXPECT_TRUE(VerifyQuantised(DataType::kInt16, {{0.5f}, {-32768}, 0}).ok());
  EXPECT_TRUE(VerifyQuantised(DataType::kUInt16, {{0.5f}, {65535}, 0}).ok());
  EXPECT_TRUE(VerifyQuantised(DataType::kInt32, {{0.5f}, {0}, 0}).ok());
}

TEST(OmVerifyTest, RefusesQuantisationsThatCannotBeComputedWith) {
  struct Case {
    const char* what;
    DataType type;
    Quantization quantization;
    int64_t channels = 2;
  };
  const float infinity = std::numeric_limits<float>::infinity();
  const Case cases[] = {
      {"zero point above uint8", DataType::kUInt8, {{1.0f}, {256}, 0}},
      {"zero point below uint8", DataType::kUInt8, {{1.0f}, {-1}, 0}},
      {"zero point above int8", DataType::kInt8, {{1.0f}, {128}, 0}},
      {"zero point below int8", DataType::kInt8, {{1.0f}, {-129}, 0}},
      {"zero point above int16", DataType::kInt16, {{1.0f}, {32768}, 0}},
      {"zero point below uint16", DataType::kUInt16, {{1.0f}, {-1}, 0}},
      {"second zero point above uint8", DataType::kUInt8, {{1.0f, 1.0f}, {0, 256}, 1}},
      {"scale of zero", DataType::kUInt8, {{0.0f}, {0}, 0}},
      {"negative scale", DataType::kUInt8, {{-1.0f}, {0}, 0}},
      {"infinite scale", DataType::kUInt8, {{infinity}, {0}, 0}},
      {"scale that is no number", DataType::kUInt8, {{std::numeric_limits<float>::quiet_NaN()}, {0}, 0}},
      {"no scale for no channels", DataType::kUInt8, {{}, {}, 1}, 0},
      {"fewer zero points than scales", DataType::kUInt8, {{1.0f, 1.0f}, {0}, 1}},
      {"more scales than channels", DataType::kUInt8, {{1.0f, 1.0f, 1.0f}, {0, 0, 0}, 1}},
      {"axis beyond the rank", DataType::kUInt8, {{1.0f, 1.0f}, {0, 0}, 4}},
      {"real numbers", DataType::kFloat32, {{1.0f}, {0}, 0}},
  };
  for (const Case& c : cases) {
    const Status status = VerifyQuantised(c.type, c.quantization, c.channels);
    EXPECT_EQ(status.code(), StatusCode::kCorruptData) << c.what;
    EXPECT_THAT(status.message(), HasSubstr("impossible quantisation")) << c.what;
  }
}

}  // namespace
}  // namespace npustream::om
