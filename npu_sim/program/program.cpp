#include "npu_sim/program/program.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "npu_sim/om/om_reader.h"
#include "npu_sim/program/aligned_memory.h"
#include "npu_sim/program/native_plans.h"
#include "npu_sim/program/plan_runner.h"

namespace npustream::program {
namespace {

constexpr size_t kAlignment = 64;
size_t AlignUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Where each constant of each plan goes; plans of several gears share what they have in common.
class WeightMap {
 public:
  void Add(const om::NativePlan& plan) {
    auto& moves = moves_.emplace_back();
    for (const om::Blob& blob : plan.constants) {
      const auto [found, added] = known_.try_emplace({blob.bytes.data(), blob.bytes.size()}, bytes_);
      if (added) bytes_ += AlignUp(blob.bytes.size());
      moves.push_back({blob.bytes, found->second, added});
    }
  }

  size_t bytes() const { return bytes_; }

  // Moves those constants of a plan that no plan before it has.
  void Move(size_t plan, std::span<std::byte> memory) const {
    for (const Constant& constant : moves_[plan]) {
      if (constant.is_first && !constant.bytes.empty())
        std::memcpy(memory.data() + constant.offset, constant.bytes.data(), constant.bytes.size());
    }
  }

  std::vector<const std::byte*> Addresses(size_t plan, std::span<const std::byte> memory) const {
    std::vector<const std::byte*> addresses;
    for (const Constant& constant : moves_[plan]) addresses.push_back(memory.data() + constant.offset);
    return addresses;
  }

 private:
  struct Constant {
    std::span<const std::byte> bytes;
    size_t offset;
    bool is_first;
  };
  std::vector<std::vector<Constant>> moves_;
  std::map<std::pair<const std::byte*, size_t>, size_t> known_;
  size_t bytes_ = 0;
};

// One core's arena serves every gear.
size_t ArenaBytes(const NativePlans& plans) {
  size_t bytes = 0;
  for (const om::NativePlan* plan : plans) bytes = std::max<size_t>(bytes, plan->arena_bytes);
  return AlignUp(bytes);
}

// A port in one gear: its bytes, and how far apart those of two runs of the plan are (0: every run has all of it).
struct PortSlices {
  size_t bytes = 0, stride = 0;
};

// What a gear's runs are made of.
struct GearRuns {
  size_t plan = 0;
  int images = 1;
  std::vector<PortSlices> inputs, outputs;
};

std::vector<PortSlices> SlicesOf(const std::vector<om::Dims>& shapes, const om::Graph& graph,
                                 const std::vector<om::TensorId>& ids) {
  std::vector<PortSlices> slices;
  for (size_t i = 0; i < ids.size(); ++i) {
    const om::Tensor& tensor = graph.tensors[static_cast<size_t>(ids[i])];
    const size_t bytes = static_cast<size_t>(om::ElementCount(shapes[i])) * om::SizeOf(tensor.type);
    slices.push_back({bytes, shapes[i] == tensor.dims ? 0 : tensor.ByteSize()});
  }
  return slices;
}

std::vector<GearRuns> RunsOf(const om::OmFile& file) {
  std::vector<GearRuns> runs;
  for (const om::Gear& gear : file.info().gears) {
    const om::Graph& graph = file.Outline(gear.plan);
    runs.push_back({gear.plan, static_cast<int>(gear.images), SlicesOf(gear.inputs, graph, graph.inputs),
                    SlicesOf(gear.outputs, graph, graph.outputs)});
  }
  return runs;
}

}  // namespace

Result<AlignedMemory> AlignedMemory::Allocate(size_t bytes) {
  AlignedMemory memory;
  memory.size_ = AlignUp(std::max<size_t>(bytes, 1));
  // The system gives large blocks of zeros without a touch, but not aligned.
  memory.block_.reset(static_cast<std::byte*>(std::calloc(memory.size_ + kAlignment, 1)));
  if (!memory.block_) return Status(StatusCode::kResourceExhausted, fmt::format("no memory for {} bytes", bytes));
  const auto address = reinterpret_cast<uintptr_t>(memory.block_.get());
  memory.data_ = memory.block_.get() + (kAlignment - address % kAlignment);
  return memory;
}

class Program::Impl {
 public:
  om::OmInfo info;
  std::vector<GearRuns> gears;
  std::vector<LoadTimes> times;
  AlignedMemory own_weights, own_work;
  std::vector<std::unique_ptr<PlanRunner>> runners;

  Status Load(const om::OmFile& file, const NativePlans& plans, int cores, ProgramMemory memory);

 private:
  Status Provide(size_t weight_bytes, size_t work_bytes, ProgramMemory& memory);
};

// Makes sure there is memory.
Status Program::Impl::Provide(size_t weight_bytes, size_t work_bytes, ProgramMemory& memory) {
  if (memory.weights.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(own_weights, AlignedMemory::Allocate(weight_bytes));
    memory.weights = {own_weights.data(), own_weights.size()};
    memory.weights_are_loaded = false;
  }
  if (memory.work.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(own_work, AlignedMemory::Allocate(work_bytes));
    memory.work = {own_work.data(), own_work.size()};
  }
  if (memory.weights.size() < weight_bytes || memory.work.size() < work_bytes) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the memory lent is too small: weights {} of {} bytes, work {} of {}",
                              memory.weights.size(), weight_bytes, memory.work.size(), work_bytes));
  }
  return {};
}

Status Program::Impl::Load(const om::OmFile& file, const NativePlans& plans, int cores, ProgramMemory memory) {
  if (cores < 1) return Status(StatusCode::kInvalidArgument, fmt::format("{} cores", cores));
  info = file.info();
  gears = RunsOf(file);
  times.resize(plans.size());

  auto start = std::chrono::steady_clock::now();
  WeightMap weights;
  for (size_t p = 0; p < plans.size(); ++p) {
    weights.Add(plans[p]);
    times[p].parse_ms = file.parse_ms(p);
    times[p].plan_ms = plans.making_ms(p) + MillisecondsSince(start);
  }

  start = std::chrono::steady_clock::now();
  const size_t arena_bytes = ArenaBytes(plans);
  NPUSTREAM_RETURN_IF_ERROR(Provide(weights.bytes(), arena_bytes * static_cast<size_t>(cores), memory));
  for (size_t p = 0; p < plans.size(); ++p) {
    if (!memory.weights_are_loaded) weights.Move(p, memory.weights);
    times[p].transfer_ms = MillisecondsSince(start);
  }

  start = std::chrono::steady_clock::now();
  std::vector<std::byte*> arenas;
  for (int core = 0; core < cores; ++core)
    arenas.push_back(memory.work.data() + static_cast<size_t>(core) * arena_bytes);
  for (size_t p = 0; p < plans.size(); ++p) {
    NPUSTREAM_ASSIGN_OR_RETURN(auto runner,
                               PlanRunner::Create(plans[p], weights.Addresses(p, memory.weights), arenas));
    runners.push_back(std::move(runner));
    times[p].register_ms = MillisecondsSince(start);
  }
  return {};
}

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;

MemoryNeeds Program::Query(const NativePlans& plans, int cores) {
  WeightMap weights;
  for (const om::NativePlan* plan : plans) weights.Add(*plan);
  return {std::max(weights.bytes(), kAlignment),
          std::max(ArenaBytes(plans), kAlignment) * static_cast<size_t>(cores)};
}

Result<MemoryNeeds> Program::Query(const om::OmFile& file, int cores) {
  NPUSTREAM_ASSIGN_OR_RETURN(const NativePlans plans, NativePlans::Of(file));
  return Query(plans, cores);
}

Result<std::unique_ptr<Program>> Program::Load(const om::OmFile& file, const NativePlans& plans, int cores,
                                               ProgramMemory memory) {
  auto impl = std::make_unique<Impl>();
  NPUSTREAM_RETURN_IF_ERROR(impl->Load(file, plans, cores, memory));
  return std::unique_ptr<Program>(new Program(std::move(impl)));
}

Result<std::unique_ptr<Program>> Program::Load(const om::OmFile& file, int cores, ProgramMemory memory) {
  NPUSTREAM_ASSIGN_OR_RETURN(const NativePlans plans, NativePlans::Of(file));
  return Load(file, plans, cores, memory);
}

const om::OmInfo& Program::info() const { return impl_->info; }
const std::vector<LoadTimes>& Program::load_times_by_plan() const { return impl_->times; }

size_t Program::InputBytes(size_t index, size_t gear) const { return impl_->gears[gear].inputs[index].bytes; }
size_t Program::OutputBytes(size_t index, size_t gear) const { return impl_->gears[gear].outputs[index].bytes; }

int Program::PartCount(size_t gear) const { return impl_->gears[gear].images; }

Status Program::RunPart(size_t gear, int part, int core, std::span<const std::byte* const> inputs,
                        std::span<std::byte* const> outputs) const {
  constexpr size_t kMaxPorts = 64;
  const GearRuns& runs = impl_->gears[gear];
  PlanRunner& runner = *impl_->runners[runs.plan];
  if (part == 0) return runner.Run(core, inputs, outputs);
  if (inputs.size() > kMaxPorts || outputs.size() > kMaxPorts)
    return Status(StatusCode::kUnsupported, "more than 64 inputs or outputs");
  const std::byte* part_inputs[kMaxPorts];
  std::byte* part_outputs[kMaxPorts];
  const auto image = static_cast<size_t>(part);
  for (size_t i = 0; i < inputs.size(); ++i) part_inputs[i] = inputs[i] + runs.inputs[i].stride * image;
  for (size_t i = 0; i < outputs.size(); ++i) part_outputs[i] = outputs[i] + runs.outputs[i].stride * image;
  return runner.Run(core, {part_inputs, inputs.size()}, {part_outputs, outputs.size()});
}

}  // namespace npustream::program
