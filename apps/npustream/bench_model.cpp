#include "apps/npustream/bench_model.h"

#include <omp.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

Result<std::unique_ptr<om::OmFile>> OpenOrCompile(const ModelBenchOptions& options) {
  if (options.model.extension() != ".onnx") return om::OmFile::Open(options.model);
  NPUSTREAM_ASSIGN_OR_RETURN(const compiler::OnnxModel model, compiler::ReadOnnxModel(options.model));
  compiler::CompileOptions compile;
  compile.model_name = options.model.stem();
  compile.soc = "Ascend310P3";
  if (options.bf16) compile.precision.type = om::DataType::kBFloat16, compile.precision.by_kernels = true;
  if (options.batch > 1) compile.gears = {1, options.batch};
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

// Floats of 0 … 1 in a short cycle, other types zero: what peers are timed with as well.
void Fill(std::vector<std::byte>& bytes, om::DataType type) {
  if (type != om::DataType::kFloat32) return;
  auto* values = reinterpret_cast<float*>(bytes.data());
  for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) values[i] = static_cast<float>(i % 255) / 255.0f;
}

Buffers MakeBuffers(const program::Program& program, int64_t gear) {
  Buffers buffers;
  for (size_t i = 0; i < program.inputs().size(); ++i) {
    Fill(buffers.storage.emplace_back(program.InputBytes(i, gear)), program.inputs()[i].type);
    buffers.inputs.push_back(buffers.storage.back().data());
  }
  for (size_t i = 0; i < program.outputs().size(); ++i) {
    buffers.outputs.push_back(buffers.storage.emplace_back(program.OutputBytes(i, gear)).data());
  }
  return buffers;
}

// One batch, its parts taken by `threads` threads in turn; adds the processor time of all of them to `cpu_ms`.
Status RunBatch(const program::Program& program, const Buffers& buffers, int64_t gear, int threads, double& cpu_ms) {
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

// One image where the model can, else the least that it takes.
int64_t UsualBatch(const om::OmFile& file) {
  if (file.PlanForGear(1) < file.plan_count() || file.info().gears.empty()) return 1;
  return file.info().gears.front();
}

}  // namespace

Result<ModelBenchResult> BenchModel(const ModelBenchOptions& options) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::unique_ptr<om::OmFile> file, OpenOrCompile(options));
  const int64_t batch = options.batch > 0 ? options.batch : UsualBatch(*file);
  const size_t plan = file->PlanForGear(batch);
  if (plan == file->plan_count()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} has no batch size {}", options.model.string(), batch));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const program::NativePlans plans, program::NativePlans::Of(*file));
  NPUSTREAM_ASSIGN_OR_RETURN(const std::unique_ptr<program::Program> program,
                             program::Program::Load(*file, plans, options.threads));
  const Buffers buffers = MakeBuffers(*program, batch);

  ModelBenchResult result;
  result.batch = batch;
  result.load = program->load_times();
  result.pool_bytes = plans[plan].arena_bytes;
  result.pool_lower_bound_bytes = plans[plan].arena_lower_bound;
  std::vector<double> wall, cpu;
  const double begin = WallMs();
  do {
    double cpu_ms = 0;
    const double start = WallMs();
    NPUSTREAM_RETURN_IF_ERROR(RunBatch(*program, buffers, batch, options.threads, cpu_ms));
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
      {"precision", "fp32"},
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
