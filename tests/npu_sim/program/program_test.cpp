#include "npu_sim/program/program.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "npu_sim/kernels/isa.h"
#include "npu_sim/om/om_reader.h"
#include "npu_sim/om/om_writer.h"
#include "npu_sim/program/lowering.h"
#include "npu_sim/program/native_plans.h"
#include "tests/npu_sim/support/graph_builder.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::program {
namespace {

// A graph of one input and one output as a model of one image.
om::OmModel ModelOf(const om::Graph& graph) {
  const auto port = [&](const char* name, om::TensorId id) {
    const om::Dims& dims = graph.tensors[static_cast<size_t>(id)].dims;
    return om::PortInfo{name, om::DataType::kFloat32, dims, dims.size() == 4 ? om::Format::kNchw : om::Format::kNd};
  };
  om::OmModel model;
  model.info = {"0.1.0", "Ascend310P3", "m", "", {port("x", graph.inputs[0])}, {port("y", graph.outputs[0])}, {1},
                false, {}};
  model.plans.push_back({1, true, graph, {*Lower(graph)}});
  return model;
}

using om::GraphBuilder;
using om::TensorId;

// A little of everything that a detector has, per image with gears 1, 2, 4.
om::OmModel MakeModel(bool native) {
  GraphBuilder b;
  const TensorId x = b.Input({1, 3, 32, 32});
  const std::vector<int64_t> ones = {1, 1, 1, 1}, two = {2, 2};
  TensorId y = b.Node("Conv", {x, b.Random({24, 3, 3, 3}, 1), b.Random({24}, 2)}, {1, 24, 16, 16},
                      {{"strides", two}, {"pads", ones}, {"activation", std::string("Silu")}});
  const TensorId d = b.Node("Conv", {y, b.Random({24, 1, 3, 3}, 3)}, {1, 24, 16, 16},
                            {{"group", int64_t{24}}, {"pads", ones}, {"activation", std::string("Relu")}});
  y = b.Node("Add", {y, d}, {1, 24, 16, 16});
  const TensorId pooled = b.Node("MaxPool", {y}, {1, 24, 8, 8}, {{"kernel_shape", two}, {"strides", two}});
  const TensorId up = b.Node("Resize", {pooled}, {1, 24, 16, 16},
                             {{"scales", std::vector<float>{1, 1, 2, 2}},
                              {"mode", std::string("nearest")},
                              {"coordinate_transformation_mode", std::string("asymmetric")},
                              {"nearest_mode", std::string("floor")}});
  const TensorId joined = b.Node("Concat", {y, up}, {1, 48, 16, 16}, {{"axis", int64_t{1}}});
  const TensorId heads =
      b.Node("Conv", {joined, b.Random({7, 48, 1, 1}, 4)}, {1, 7, 16, 16}, {{"activation", std::string("Sigmoid")}});
  const TensorId last = b.Node("Transpose", {b.Node("Reshape", {heads}, {1, 7, 256})}, {1, 256, 7},
                               {{"perm", std::vector<int64_t>{0, 2, 1}}});
  const TensorId mean = b.Node("Reshape", {b.Node("GlobalAveragePool", {joined}, {1, 48, 1, 1})}, {1, 48});
  const TensorId classes =
      b.Node("Softmax", {b.Node("Gemm", {mean, b.Random({48, 10}, 5), b.Random({10}, 6)}, {1, 10})}, {1, 10},
             {{"axis", int64_t{-1}}});
  b.Output(last).Output(classes);
  om::OmModel model;
  model.info = {"0.1.0",
                "Ascend310P3",
                "m",
                "",
                {{"x", om::DataType::kFloat32, {-1, 3, 32, 32}, om::Format::kNchw}},
                {{"boxes", om::DataType::kFloat32, {-1, 256, 7}, om::Format::kNd},
                 {"classes", om::DataType::kFloat32, {-1, 10}, om::Format::kNd}},
                {1, 2, 4},
                true,
                {}};
  model.plans.push_back({1, true, b.graph(), {}});
  if (native) model.plans[0].natives.push_back(*Lower(b.graph()));
  return model;
}

std::unique_ptr<om::OmFile> MakeFile(bool native = true) {
  auto file = om::OmFile::FromBytes(*om::WriteOm(MakeModel(native)));
  EXPECT_TRUE(file.ok()) << file.status().message();
  return std::move(*file);
}

// Runs a batch, part i on core i % cores.
std::vector<float> RunBatch(const Program& program, int64_t gear, int cores, const std::vector<float>& input) {
  std::vector<float> boxes(program.OutputBytes(0, gear) / 4), classes(program.OutputBytes(1, gear) / 4);
  const std::byte* const in[] = {reinterpret_cast<const std::byte*>(input.data())};
  std::byte* const out[] = {reinterpret_cast<std::byte*>(boxes.data()), reinterpret_cast<std::byte*>(classes.data())};
  for (int part = 0; part < program.PartCount(gear); ++part)
    EXPECT_TRUE(program.RunPart(gear, part, part % cores, in, out).ok());
  boxes.insert(boxes.end(), classes.begin(), classes.end());
  return boxes;
}

TEST(ProgramTest, DescribesItself) {
  const auto file = MakeFile();
  const auto program = Program::Load(*file, 2);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ((*program)->gears(), (std::vector<int64_t>{1, 2, 4}));
  EXPECT_EQ((*program)->InputBytes(0, 1), 3u * 32 * 32 * 4);
  EXPECT_EQ((*program)->InputBytes(0, 4), 4u * 3 * 32 * 32 * 4);
  EXPECT_EQ((*program)->OutputBytes(1, 2), 2u * 10 * 4);
  EXPECT_EQ((*program)->PartCount(4), 4);
}

TEST(ProgramTest, NeitherBatchNorCoreChangesABit) {
  const auto file = MakeFile();
  const auto program = Program::Load(*file, 2);
  ASSERT_TRUE(program.ok());
  const size_t image = 3 * 32 * 32;
  const auto input = GraphBuilder::RandomFloats(4 * image, 1);
  const auto all = RunBatch(**program, 4, 2, input);
  for (size_t i = 0; i < 4; ++i) {
    const auto one = RunBatch(**program, 1, 1,
                              std::vector<float>(input.begin() + static_cast<long>(i * image),
                                                 input.begin() + static_cast<long>((i + 1) * image)));
    EXPECT_EQ(std::memcmp(one.data(), all.data() + i * 256 * 7, 256 * 7 * 4), 0) << i;
    EXPECT_EQ(std::memcmp(one.data() + 256 * 7, all.data() + 4 * 256 * 7 + i * 10, 40), 0) << i;
  }
  EXPECT_EQ(all, RunBatch(**program, 4, 1, input));
}

TEST(ProgramTest, StoredAndNewLoweringAgree) {
  const auto stored = MakeFile(true), portable = MakeFile(false);
  const auto a = Program::Load(*stored, 1), b = Program::Load(*portable, 1);
  ASSERT_TRUE(a.ok() && b.ok());
  const auto input = GraphBuilder::RandomFloats(3 * 32 * 32, 2);
  EXPECT_EQ(RunBatch(**a, 1, 1, input), RunBatch(**b, 1, 1, input));
}

// Packed weights of every kind: float32 and bfloat16, bytes, dense and depthwise, with few channels and many.
om::OmModel MakePackedModel() {
  GraphBuilder b;
  const std::vector<int64_t> ones = {1, 1, 1, 1};
  const std::string bf16 = "bfloat16";
  const om::Quantization bytes = {{0.02f}, {120}};
  const auto int8s = [](size_t count, unsigned seed) {
    std::vector<int8_t> values;
    for (const float value : GraphBuilder::RandomFloats(count, seed))
      values.push_back(static_cast<int8_t>(std::lround(value * 127)));
    return values;
  };
  const auto quantized = [&](const char* op, std::vector<TensorId> inputs, om::Attributes attributes) {
    return b.Quantized(b.Node(op, std::move(inputs), {1, 24, 16, 16}, std::move(attributes), om::DataType::kUInt8), bytes);
  };
  const TensorId x = b.Input({1, 3, 16, 16});
  TensorId y = b.Node("Conv", {x, b.Random({24, 3, 3, 3}, 1), b.Random({24}, 2)}, {1, 24, 16, 16},
                      {{"pads", ones}, {"activation", std::string("Silu")}});
  y = b.Node("Conv", {y, b.Random({24, 1, 5, 5}, 3)}, {1, 24, 16, 16},
             {{"group", int64_t{24}}, {"pads", std::vector<int64_t>{2, 2, 2, 2}}});
  y = b.Node("Conv", {y, b.Random({24, 24, 3, 3}, 4)}, {1, 24, 16, 16}, {{"pads", ones}, {"compute_type", bf16}});
  y = quantized("Quantize", {y}, {});
  y = quantized("Conv",
                {y, b.Int8s({24, 24, 3, 3}, int8s(24 * 24 * 9, 5), {{0.004f}, {0}}), b.Random({24}, 6)}, {{"pads", ones}});
  y = quantized("Conv", {y, b.Int8s({24, 1, 3, 3}, int8s(24 * 9, 7), {{0.01f}, {0}})},
                {{"group", int64_t{24}}, {"pads", ones}});
  y = b.Node("Dequantize", {y}, {1, 24, 16, 16});
  const TensorId mean = b.Node("Reshape", {b.Node("GlobalAveragePool", {y}, {1, 24, 1, 1})}, {1, 24});
  b.Output(b.Node("Gemm", {mean, b.Random({24, 10}, 8), b.Random({10}, 9)}, {1, 10}));
  om::OmModel model = ModelOf(b.graph());
  for (const kernels::Isa isa : kernels::kAllIsas) {
    auto plan = Lower(b.graph(), isa);
    if (isa != kernels::RunningIsa() && plan.ok()) model.plans[0].natives.push_back(std::move(*plan));
  }
  return model;
}

std::vector<float> RunFile(const om::OmFile& file) {
  const auto program = Program::Load(file, 1);
  EXPECT_TRUE(program.ok()) << program.status().message();
  const auto input = GraphBuilder::RandomFloats(3 * 16 * 16, 10);
  std::vector<float> output(10);
  const std::byte* const in[] = {reinterpret_cast<const std::byte*>(input.data())};
  std::byte* const out[] = {reinterpret_cast<std::byte*>(output.data())};
  EXPECT_TRUE((*program)->RunPart(1, 0, 0, in, out).ok());
  return output;
}

constexpr const char* kPackedElsewhere = "NPUSTREAM_TEST_PACKED_OM";

// Run by the next test on other instruction sets than its own: the results of weights that were packed there, here, and
// never.
TEST(ProgramTest, RunsWhatAnotherCpuPacked) {
  const char* path = std::getenv(kPackedElsewhere);
  if (path == nullptr) GTEST_SKIP() << "no file from another CPU";
  const auto file = om::OmFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  om::OmModel model = MakePackedModel();
  const auto here = om::OmFile::FromBytes(*om::WriteOm(model));
  ASSERT_TRUE(here.ok());
  const om::NativePlan *packed_there = StoredPlan(**file, 0), *packed_here = StoredPlan(**here, 0);
  ASSERT_NE(packed_here, nullptr);
  // Convolutions of old CPUs run on oneDNN, which packs on the spot only.
  EXPECT_TRUE(packed_there != nullptr || kernels::RunningIsa() == kernels::Isa::kBaseline);
  for (size_t i = 0; packed_there != nullptr && i < packed_here->constants.size(); ++i) {
    ASSERT_TRUE(std::ranges::equal(packed_there->constants[i].bytes, packed_here->constants[i].bytes)) << i;
  }
  const auto expected = RunFile(**here);
  EXPECT_EQ(RunFile(**file), expected);
  model.plans[0].natives.clear();
  const auto portable = om::OmFile::FromBytes(*om::WriteOm(model));
  EXPECT_EQ(RunFile(**portable), expected);
}

TEST(ProgramTest, PacksForEveryCpu) {
  const om::OmModel model = MakePackedModel();
  EXPECT_EQ(model.plans[0].natives.size(),
            kernels::kAllIsas.size() - (kernels::RunningIsa() == kernels::Isa::kBaseline ? 0 : 1));
  const testing_support::TemporaryFolder folder;
  const auto path = folder.path() / "packed.om";
  ASSERT_TRUE(WriteFileAtomically(path, std::span<const std::byte>(*om::WriteOm(model))).ok());
  for (const char* cpu : {"ONEDNN_MAX_CPU_ISA=SSE41", "ONEDNN_MAX_CPU_ISA=AVX2", "ONEDNN_MAX_CPU_ISA=AVX512_CORE",
                          "ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI", "NPUSTREAM_EMULATE_AMX=1"}) {
    const auto run = testing_support::RunShell(
        fmt::format("unset ONEDNN_MAX_CPU_ISA NPUSTREAM_EMULATE_AMX; {}={} {} npu_sim_tests --gtest_filter=*.RunsWhatAnotherCpuPacked",
                    kPackedElsewhere, path.string(), cpu));
    EXPECT_EQ(run.exit_code, 0) << cpu << '\n' << run.output;
    EXPECT_NE(run.output.find("[  PASSED  ] 1 test"), std::string::npos) << run.output;
  }
}

// Weights of other kernels, or another oneDNN, are not what this one's steps read.
TEST(ProgramTest, WeightsOfAnotherRevisionAreNotRead) {
  om::OmModel model = MakePackedModel();
  const auto now = om::OmFile::FromBytes(*om::WriteOm(model));
  for (om::NativePlan& plan : model.plans[0].natives) {
    plan.engine = "npustream kernels 1";
    for (om::Blob& blob : plan.constants) blob = om::MakeBlob(om::Bytes(blob.bytes.size()));
  }
  const auto before = om::OmFile::FromBytes(*om::WriteOm(model));
  ASSERT_TRUE(now.ok() && before.ok());
  EXPECT_NE(StoredPlan(**now, 0), nullptr);
  EXPECT_EQ(StoredPlan(**before, 0), nullptr);
  EXPECT_EQ(RunFile(**before), RunFile(**now));
}

TEST(ProgramTest, RunsInLentMemory) {
  const auto file = MakeFile();
  const auto needs = Program::Query(*file, 2);
  ASSERT_TRUE(needs.ok());
  std::vector<std::byte> block(needs->weight_bytes + needs->work_bytes + 128);
  auto* start = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(block.data()) + 63) / 64 * 64);
  ProgramMemory memory{{start, needs->weight_bytes}, {start + needs->weight_bytes, needs->work_bytes}, false};
  const auto own = Program::Load(*file, 1), lent = Program::Load(*file, 2, memory);
  ASSERT_TRUE(own.ok() && lent.ok()) << lent.status().message();
  // A second program that shares the weights.
  std::vector<std::byte> work(needs->work_bytes + 64);
  auto* aligned = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(work.data()) + 63) / 64 * 64);
  const auto shared = Program::Load(*file, 2, {memory.weights, {aligned, needs->work_bytes}, true});
  ASSERT_TRUE(shared.ok());
  const auto input = GraphBuilder::RandomFloats(3 * 32 * 32, 3);
  EXPECT_EQ(RunBatch(**own, 1, 1, input), RunBatch(**lent, 1, 1, input));
  EXPECT_EQ(RunBatch(**own, 1, 1, input), RunBatch(**shared, 1, 1, input));
  memory.work = memory.work.first(memory.work.size() - 1);
  EXPECT_EQ(Program::Load(*file, 2, memory).status().code(), StatusCode::kInvalidArgument);
}

TEST(ProgramTest, DenormalNumbersCountAsZeroDuringARunOnly) {
  GraphBuilder b;
  const TensorId x = b.Input({1, 4});
  b.Output(b.Node("Mul", {x, b.Floats({1}, {0.1f})}, {1, 4}));
  const auto file = om::OmFile::FromBytes(*om::WriteOm(ModelOf(b.graph())));
  ASSERT_TRUE(file.ok());
  const auto program = Program::Load(**file, 1);
  ASSERT_TRUE(program.ok());
  // The product of the first falls below the smallest normal number, 2^-126; the second already lies there.
  const std::vector<float> input = {0x1p-126f, 0x1p-130f, 1, 0};
  std::vector<float> output(4, -1);
  const std::byte* const in[] = {reinterpret_cast<const std::byte*>(input.data())};
  std::byte* const out[] = {reinterpret_cast<std::byte*>(output.data())};
  ASSERT_TRUE((*program)->RunPart(1, 0, 0, in, out).ok());
  EXPECT_EQ(output, (std::vector<float>{0, 0, 0.1f, 0}));
  volatile float small = 0x1p-126f;
  const float on_host = small * 0.1f;
  EXPECT_GT(on_host, 0);  // the thread is the caller's own again
}

TEST(ProgramTest, ARunAllocatesNothing) {
  if (!testing_support::AllocationsAreCounted()) GTEST_SKIP() << "the sanitizer has its own malloc";
  if (kernels::RunningIsa() == kernels::Isa::kBaseline)
    GTEST_SKIP() << "convolutions run on oneDNN, which keeps books on the heap";
  omp_set_num_threads(1);
  GraphBuilder b;
  // Without Gemm: oneDNN keeps books on the heap while it executes.
  const TensorId x = b.Input({1, 3, 32, 32});
  const TensorId y = b.Node("Conv", {x, b.Random({24, 3, 3, 3}, 1)}, {1, 24, 32, 32},
                            {{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"activation", std::string("Silu")}});
  const TensorId s =
      b.Node("Sigmoid", {b.Node("Conv", {y, b.Random({85, 24, 1, 1}, 2)}, {1, 85, 32, 32})}, {1, 85, 32, 32});
  b.Output(b.Node("Transpose", {b.Node("Reshape", {s}, {1, 85, 1024})}, {1, 1024, 85},
                  {{"perm", std::vector<int64_t>{0, 2, 1}}}));
  const auto file = om::OmFile::FromBytes(*om::WriteOm(ModelOf(b.graph())));
  ASSERT_TRUE(file.ok());
  const auto program = Program::Load(**file, 1);
  ASSERT_TRUE(program.ok());
  const std::vector<float> input(3 * 32 * 32, 0.5f);
  std::vector<float> output(1024 * 85);
  const std::byte* const in[] = {reinterpret_cast<const std::byte*>(input.data())};
  std::byte* const out[] = {reinterpret_cast<std::byte*>(output.data())};
  ASSERT_TRUE((*program)->RunPart(1, 0, 0, in, out).ok());
  const uint64_t before = testing_support::AllocationCount();
  ASSERT_TRUE((*program)->RunPart(1, 0, 0, in, out).ok());
  EXPECT_EQ(testing_support::AllocationCount(), before);
}

}  // namespace
}  // namespace npustream::program
