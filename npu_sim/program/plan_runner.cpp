#include "npu_sim/program/plan_runner.h"

#include <time.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace npustream::program {
namespace {

bool Profiling() {
  static const bool wanted = std::getenv("NPUSTREAM_PROFILE_STEPS") != nullptr;
  return wanted;
}

// The thread's own CPU time, so that a busy machine does not show. Profiles are taken with one core; several would
// share the counter.
double ThreadSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Status Corrupt(const om::NativeStep& step, std::string_view what) {
  return Status(StatusCode::kCorruptData, fmt::format("step '{}' ({}): {}", step.name, step.op, what));
}

// Denormal numbers count as zero while a plan runs: they say nothing in an inference, but cost an x86 core more than a
// hundred cycles each. Accelerators know none either. Dead channels decay into them, or an input is full of them.
class FlushDenormals {
 public:
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushResults | kReadAsZero); }
  ~FlushDenormals() { _mm_setcsr(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  static constexpr unsigned kFlushResults = 0x8000, kReadAsZero = 0x0040;  // bits of MXCSR
  unsigned before_;
};

kernels::TensorInfo InfoOf(const om::NativePlan& plan, int32_t id) {
  kernels::TensorInfo info;
  if (id == om::kNoTensor) {
    info.absent = true;
    return info;
  }
  const om::NativeValue& value = plan.values[id];
  info.type = value.type;
  info.dims = value.dims;
  info.layout = value.layout;
  info.is_constant = value.place == om::Place::kConstant;
  info.quantization = value.quantization.get();
  if (info.is_constant) info.constant = plan.constants[value.index].bytes;
  return info;
}

// The step as its kernel sees it, checked. `node` keeps what the problem points to.
Result<kernels::Problem> MakeProblem(const om::NativePlan& plan, const om::NativeStep& step, om::Node& node,
                                     const kernels::Kernel& kernel) {
  node.name = step.name;
  node.op = step.op;
  node.attributes = step.attributes;
  kernels::Problem problem;
  problem.node = &node;
  problem.isa = kernels::RunningIsa();
  problem.scratch_bytes = step.scratch < 0 ? 0 : plan.buffers[step.scratch].bytes;
  for (const int32_t id : step.inputs) problem.inputs.push_back(InfoOf(plan, id));
  for (const int32_t id : step.outputs) problem.outputs.push_back(InfoOf(plan, id));
  const om::Layout blocked = kernels::BlockedLayout(problem.isa);
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const kernels::TensorInfo& tensor : *tensors) {
      if (tensor.layout == om::Layout::kPlain) continue;
      const bool bytes = tensor.type == om::DataType::kUInt8;
      if (tensor.layout != blocked && !(bytes && tensor.layout == om::Layout::kBlocked4))
        return Corrupt(step, "a layout of another instruction set");
      if (!bytes && tensor.type != om::DataType::kFloat32)
        return Corrupt(step, "a blocked tensor that is neither float32 nor uint8");
    }
  }
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const kernels::TensorInfo& input = problem.inputs[i];
    if (input.is_constant && !kernel.PacksInput(i) && input.constant.size() != input.Bytes())
      return Corrupt(step, "a constant has another size than its shape");
  }
  if (const Status fits = kernels::CheckProblem(kernel, problem); !fits.ok()) return Corrupt(step, fits.message());
  return problem;
}

class NoExecutor final : public kernels::Executor {
 public:
  Status Run(const kernels::Arguments&) override { return {}; }
};

// Where all results are empty there is nothing to compute: kernels are spared loops over the other dims.
Result<std::unique_ptr<kernels::Executor>> PrepareStep(const kernels::Kernel& kernel,
                                                       const kernels::Problem& problem) {
  const bool empty = std::all_of(problem.outputs.begin(), problem.outputs.end(),
                                 [](const kernels::TensorInfo& output) { return output.Bytes() == 0; });
  if (empty) return std::unique_ptr<kernels::Executor>(std::make_unique<NoExecutor>());
  return kernel.Prepare(problem);
}

}  // namespace

Result<std::unique_ptr<PlanRunner>> PlanRunner::Create(const om::NativePlan& plan,
                                                       std::vector<const std::byte*> constants,
                                                       const std::vector<std::byte*>& arenas) {
  std::unique_ptr<PlanRunner> runner(new PlanRunner());
  for (std::byte* arena : arenas) {
    runner->patches_.clear();
    NPUSTREAM_RETURN_IF_ERROR(runner->Bind(plan, constants, arena, runner->cores_.emplace_back()));
  }
  for (const om::NativeStep& step : plan.steps) {
    std::string shape =
        step.outputs.empty() ? "" : fmt::format("{}", fmt::join(plan.values[step.outputs[0]].dims, "x"));
    runner->step_names_.push_back(
        fmt::format("{:<18} {:<32} {:<18} {}", step.op, step.implementation, shape, step.name));
  }
  return runner;
}

Status PlanRunner::Bind(const om::NativePlan& plan, const std::vector<const std::byte*>& constants, std::byte* arena,
                        Core& core) {
  for (const om::NativeStep& step : plan.steps) {
    const kernels::Kernel* kernel = kernels::FindKernel(step.op);
    if (!kernel) return Corrupt(step, "there is no such kernel");
    om::Node node;
    NPUSTREAM_ASSIGN_OR_RETURN(const kernels::Problem problem, MakeProblem(plan, step, node, *kernel));
    auto executor = PrepareStep(*kernel, problem);
    if (!executor.ok()) return Corrupt(step, executor.status().message());
    core.executors.push_back(std::move(*executor));
    core.steps.push_back({core.inputs.size(), core.outputs.size(),
                          step.scratch < 0 ? nullptr : arena + plan.buffers[step.scratch].offset});
    const auto address = [&](int32_t id, size_t slot, bool output_slot) -> std::byte* {
      if (id == om::kNoTensor) return nullptr;
      const om::NativeValue& value = plan.values[id];
      if (value.place == om::Place::kBuffer) return arena + plan.buffers[value.index].offset + value.offset;
      if (value.place == om::Place::kConstant) return const_cast<std::byte*>(constants[value.index]);
      patches_.push_back({slot, output_slot, value.place == om::Place::kOutput, value.index, value.offset});
      return nullptr;
    };
    for (const int32_t id : step.inputs) core.inputs.push_back(address(id, core.inputs.size(), false));
    for (const int32_t id : step.outputs) core.outputs.push_back(address(id, core.outputs.size(), true));
  }
  core.seconds.resize(plan.steps.size());
  return {};
}

PlanRunner::~PlanRunner() {
  if (Profiling() && runs_ > 0) PrintProfile();
}

Status PlanRunner::Run(int core_index, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs) {
  Core& core = cores_[core_index];
  const FlushDenormals flush;
  for (const Patch& patch : patches_) {
    const std::byte* base = patch.from_output ? outputs[patch.port] : inputs[patch.port];
    if (patch.to_output_slot) {
      core.outputs[patch.slot] = const_cast<std::byte*>(base) + patch.offset;
    } else {
      core.inputs[patch.slot] = base + patch.offset;
    }
  }
  if (Profiling()) return RunProfiled(core);
  for (size_t i = 0; i < core.executors.size(); ++i) {
    const StepSlots& step = core.steps[i];
    NPUSTREAM_RETURN_IF_ERROR(core.executors[i]->Run(
        {core.inputs.data() + step.first_input, core.outputs.data() + step.first_output, step.scratch}));
  }
  return {};
}

Status PlanRunner::RunProfiled(Core& core) {
  ++runs_;
  for (size_t i = 0; i < core.executors.size(); ++i) {
    const StepSlots& step = core.steps[i];
    const double start = ThreadSeconds();
    NPUSTREAM_RETURN_IF_ERROR(core.executors[i]->Run(
        {core.inputs.data() + step.first_input, core.outputs.data() + step.first_output, step.scratch}));
    core.seconds[i] += ThreadSeconds() - start;
  }
  return {};
}

void PlanRunner::PrintProfile() const {
  double total = 0;
  for (size_t i = 0; i < step_names_.size(); ++i) {
    double seconds = 0;
    for (const Core& core : cores_) seconds += core.seconds[i];
    total += seconds;
    fmt::print(stderr, "{:9.2f} us  {}\n", seconds * 1e6 / static_cast<double>(runs_), step_names_[i]);
  }
  fmt::print(stderr, "{:9.2f} us  a run, {} steps, {} runs\n", total * 1e6 / static_cast<double>(runs_),
             step_names_.size(), runs_);
}

}  // namespace npustream::program
