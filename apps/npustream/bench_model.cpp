#include "apps/npustream/bench_model.h"

#include <omp.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <span>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "apps/npustream/calibrate.h"
#include "base/clock.h"
#include "npu_sim/compiler/compile.h"
#include "npu_sim/compiler/onnx/onnx_model.h"
#include "npu_sim/om/om_reader.h"
#include "npu_sim/om/om_writer.h"
#include "npu_sim/program/native_plans.h"

namespace npustream::apps {
namespace {

double ThreadCpuMs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

double WallMs() { return Clock::System().NowNs() * 1e-6; }

// Floats of 0 … 1 in a short cycle, other types zero: what peers are timed with as well.
void Fill(std::span<std::byte> bytes, om::DataType type) {
  if (type != om::DataType::kFloat32) return;
  auto* values = reinterpret_cast<float*>(bytes.data());
  for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) values[i] = static_cast<float>(i % 255) / 255.0f;
}

// How an ONNX model that is about to be compiled with `compile` is quantised.
Result<compiler::QuantizationScheme> Scheme(const ModelBenchOptions& options, const compiler::OnnxModel& model,
                                            const compiler::CompileOptions& compile) {
  if (!options.calibration.empty()) {
    CalibrationRequest request;
    request.model.model = options.model;
    request.model.gears = {1};
    request.images = options.calibration;
    NPUSTREAM_ASSIGN_OR_RETURN(Calibrated calibrated, Calibrate(request, "bench.om"));
    return std::move(calibrated.scheme);
  }
  compiler::CalibrationData data;
  for (const compiler::OnnxValue& input : model.graph.inputs) {
    size_t bytes = om::SizeOf(input.type);
    for (const compiler::OnnxDim& dim : input.dims) bytes *= static_cast<size_t>(std::max<int64_t>(dim.size, 1));
    Fill(data.inputs.emplace_back(bytes), input.type);
  }
  compiler::QuantizationOptions quantization;
  quantization.error_limit = std::numeric_limits<double>::infinity();
  return compiler::PlanQuantization(model, compile, data, quantization);
}

Result<std::unique_ptr<om::OmFile>> OpenOrCompile(const ModelBenchOptions& options) {
  if (options.model.extension() != ".onnx") return om::OmFile::Open(options.model);
  NPUSTREAM_ASSIGN_OR_RETURN(const compiler::OnnxModel model, compiler::ReadOnnxModel(options.model));
  compiler::CompileOptions compile;
  compile.model_name = options.model.stem();
  compile.soc = "Ascend310P3";
  if (options.precision == "bf16") compile.precision.type = om::DataType::kBFloat16, compile.precision.by_kernels = true;
  if (options.precision == "fp16") compile.precision.type = om::DataType::kFloat16;
  if (options.precision == "int8") {
    NPUSTREAM_ASSIGN_OR_RETURN(compiler::QuantizationScheme scheme, Scheme(options, model, compile));
    compile.quantization = std::make_shared<const compiler::QuantizationScheme>(std::move(scheme));
  }
  if (options.batch > 1) compile.gears = compiler::GearOptions::Batches({1, options.batch});
  NPUSTREAM_ASSIGN_OR_RETURN(const om::OmModel compiled, compiler::Compile(model, compile));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Bytes bytes, om::WriteOm(compiled));
  return om::OmFile::FromBytes(bytes);
}

// Buffers of a whole batch with addresses as Program wants them.
struct Buffers {
  std::vector<std::vector<std::byte>> storage;
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
};

Buffers MakeBuffers(const program::Program& program, size_t gear) {
  Buffers buffers;
  const om::OmInfo& info = program.info();
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    Fill(buffers.storage.emplace_back(program.InputBytes(i, gear)), info.inputs[i].type);
    buffers.inputs.push_back(buffers.storage.back().data());
  }
  for (size_t i = 0; i < info.outputs.size(); ++i) {
    buffers.outputs.push_back(buffers.storage.emplace_back(program.OutputBytes(i, gear)).data());
  }
  return buffers;
}

// One batch, its parts taken by `threads` threads in turn; adds the processor time of all of them to `cpu_ms`.
Status RunBatch(const program::Program& program, const Buffers& buffers, size_t gear, int threads, double& cpu_ms) {
  const int parts = program.PartCount(gear);
  std::atomic<int> next{0};
  std::vector<Status> outcomes(static_cast<size_t>(threads));
  std::vector<double> cpu(static_cast<size_t>(threads));
  const auto work = [&](int core) {
    omp_set_num_threads(1);
    const double begin = ThreadCpuMs();
    for (int part = next++; part < parts && outcomes[core].ok(); part = next++) {
      outcomes[core] = program.RunPart(gear, part, core, buffers.inputs, buffers.outputs);
    }
    cpu[core] = ThreadCpuMs() - begin;
  };
  std::vector<std::thread> others;
  for (int core = 1; core < threads; ++core) others.emplace_back(work, core);
  work(0);
  for (std::thread& thread : others) thread.join();
  cpu_ms = 0;
  for (const double used : cpu) cpu_ms += used;
  for (const Status& outcome : outcomes) NPUSTREAM_RETURN_IF_ERROR(outcome);
  return {};
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Axis 0 of the first input.
int64_t BatchOf(const om::Gear& gear) {
  return gear.inputs.empty() || gear.inputs[0].empty() ? 1 : gear.inputs[0][0];
}

// The gear that the options name; without any, the first one, which is the smallest batch.
Result<size_t> FindGear(const om::OmInfo& info, const ModelBenchOptions& options) {
  for (size_t i = 0; i < info.gears.size(); ++i) {
    const bool is_named = fmt::format("{}", fmt::join(info.gears[i].values, ",")) == options.gear;
    const bool has_batch = options.batch <= 0 || BatchOf(info.gears[i]) == options.batch;
    if (options.gear.empty() ? has_batch : is_named) return i;
  }
  const std::string missing =
      options.gear.empty() ? fmt::format("batch size {}", options.batch) : fmt::format("gear {}", options.gear);
  return Status(StatusCode::kInvalidArgument, fmt::format("{} has no {}", options.model.string(), missing));
}

}  // namespace

Result<ModelBenchResult> BenchModel(const ModelBenchOptions& options) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::unique_ptr<om::OmFile> file, OpenOrCompile(options));
  NPUSTREAM_ASSIGN_OR_RETURN(const size_t gear, FindGear(file->info(), options));
  NPUSTREAM_ASSIGN_OR_RETURN(const program::NativePlans plans, program::NativePlans::Of(*file));
  NPUSTREAM_ASSIGN_OR_RETURN(const std::unique_ptr<program::Program> program,
                             program::Program::Load(*file, plans, options.threads));
  const Buffers buffers = MakeBuffers(*program, gear);

  ModelBenchResult result;
  result.batch = BatchOf(file->info().gears[gear]);
  result.load = program->load_times();
  const om::NativePlan& plan = plans[file->info().gears[gear].plan];
  result.pool_bytes = plan.arena_bytes;
  result.pool_lower_bound_bytes = plan.arena_lower_bound;
  std::vector<double> wall, cpu;
  const double begin = WallMs();
  do {
    double cpu_ms = 0;
    const double start = WallMs();
    NPUSTREAM_RETURN_IF_ERROR(RunBatch(*program, buffers, gear, options.threads, cpu_ms));
    wall.push_back(WallMs() - start);
    cpu.push_back(cpu_ms);
  } while (wall.size() < 4 || WallMs() - begin < options.seconds * 1e3);
  result.first_ms = wall.front();
  result.median_ms = Median({wall.begin() + 1, wall.end()});
  result.cpu_ms = Median({cpu.begin() + 1, cpu.end()});
  return result;
}

std::string ToJson(const ModelBenchOptions& options, const ModelBenchResult& result) {
  return nlohmann::ordered_json{
      {"model", options.model.string()},
      {"precision", options.model.extension() == ".onnx" ? options.precision : "compiled"},
      {"batch", result.batch},
      {"threads", options.threads},
      {"load_ms",
       {{"parse", result.load.parse_ms},
        {"plan", result.load.plan_ms},
        {"transfer", result.load.transfer_ms},
        {"register", result.load.register_ms}}},
      {"first_ms", result.first_ms},
      {"median_ms", result.median_ms},
      {"cpu_ms", result.cpu_ms},
      {"pool_bytes", result.pool_bytes},
      {"pool_lower_bound_bytes", result.pool_lower_bound_bytes},
  }.dump();
}

}  // namespace npustream::apps
