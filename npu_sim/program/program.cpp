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
struct WeightMap {
  std::vector<std::vector<size_t>> offsets;
  size_t bytes = 0;
};

WeightMap MapWeights(const NativePlans& plans) {
  WeightMap map;
  std::map<std::pair<const std::byte*, size_t>, size_t> known;
  for (const om::NativePlan* plan : plans) {
    auto& offsets = map.offsets.emplace_back();
    for (const om::Blob& blob : plan->constants) {
      const auto [found, added] = known.try_emplace({blob.bytes.data(), blob.bytes.size()}, map.bytes);
      if (added) map.bytes += AlignUp(blob.bytes.size());
      offsets.push_back(found->second);
    }
  }
  return map;
}

// One core's arena serves every gear.
size_t ArenaBytes(const NativePlans& plans) {
  size_t bytes = 0;
  for (const om::NativePlan* plan : plans) bytes = std::max<size_t>(bytes, plan->arena_bytes);
  return AlignUp(bytes);
}

Port MakePort(const om::PortInfo& info, int64_t batch) {
  Port port{info.name, info.type, info.dims, 0};
  const bool dynamic = !info.dims.empty() && info.dims[0] < 0;
  om::Dims dims = info.dims;
  if (dynamic) dims[0] = batch;
  port.bytes_per_batch1 =
      static_cast<size_t>(om::ElementCount(dims)) * om::SizeOf(info.type) / static_cast<size_t>(batch);
  return port;
}

// Only an axis 0 that is shown as −1 follows the gear; a port with fixed dims may have no batch axis at all.
size_t PortBytes(const Port& port, int64_t gear) {
  if (!port.dims.empty() && port.dims[0] < 0) return port.bytes_per_batch1 * static_cast<size_t>(gear);
  return static_cast<size_t>(om::ElementCount(port.dims)) * om::SizeOf(port.type);
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
  std::vector<Port> inputs, outputs;
  std::vector<int64_t> gears;
  LoadTimes times;
  AlignedMemory own_weights, own_work;
  std::vector<std::unique_ptr<PlanRunner>> runners;
  bool per_image = false;

  Status Load(const om::OmFile& file, const NativePlans& plans, int cores, ProgramMemory memory);
  size_t PlanIndex(int64_t gear) const {
    if (per_image) return 0;
    return static_cast<size_t>(std::lower_bound(gears.begin(), gears.end(), gear) - gears.begin());
  }

 private:
  Status Place(const NativePlans& plans, const WeightMap& weights, int cores, ProgramMemory& memory);
};

// Makes sure there is memory, and moves the weights into it.
Status Program::Impl::Place(const NativePlans& plans, const WeightMap& weights, int cores,
                            ProgramMemory& memory) {
  const size_t work_bytes = ArenaBytes(plans) * static_cast<size_t>(cores);
  if (memory.weights.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(own_weights, AlignedMemory::Allocate(weights.bytes));
    memory.weights = {own_weights.data(), own_weights.size()};
    memory.weights_are_loaded = false;
  }
  if (memory.work.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(own_work, AlignedMemory::Allocate(work_bytes));
    memory.work = {own_work.data(), own_work.size()};
  }
  if (memory.weights.size() < weights.bytes || memory.work.size() < work_bytes) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the memory lent is too small: weights {} of {} bytes, work {} of {}",
                              memory.weights.size(), weights.bytes, memory.work.size(), work_bytes));
  }
  if (memory.weights_are_loaded) return {};
  for (size_t p = 0; p < plans.size(); ++p) {
    for (size_t i = 0; i < plans[p].constants.size(); ++i) {
      const auto bytes = plans[p].constants[i].bytes;
      if (!bytes.empty()) std::memcpy(memory.weights.data() + weights.offsets[p][i], bytes.data(), bytes.size());
    }
  }
  return {};
}

Status Program::Impl::Load(const om::OmFile& file, const NativePlans& plans, int cores, ProgramMemory memory) {
  if (cores < 1) return Status(StatusCode::kInvalidArgument, fmt::format("{} cores", cores));
  const om::OmInfo& info = file.info();
  gears = info.gears;
  per_image = file.plan_is_per_image(0);
  const int64_t largest = gears.back();
  for (const om::PortInfo& port : info.inputs) inputs.push_back(MakePort(port, largest));
  for (const om::PortInfo& port : info.outputs) outputs.push_back(MakePort(port, largest));
  times.parse_ms = file.parse_ms();

  auto start = std::chrono::steady_clock::now();
  const WeightMap weights = MapWeights(plans);
  times.plan_ms = plans.making_ms() + MillisecondsSince(start);

  start = std::chrono::steady_clock::now();
  NPUSTREAM_RETURN_IF_ERROR(Place(plans, weights, cores, memory));
  times.transfer_ms = MillisecondsSince(start);

  start = std::chrono::steady_clock::now();
  const size_t arena_bytes = ArenaBytes(plans);
  std::vector<std::byte*> arenas;
  for (int core = 0; core < cores; ++core)
    arenas.push_back(memory.work.data() + static_cast<size_t>(core) * arena_bytes);
  for (size_t p = 0; p < plans.size(); ++p) {
    std::vector<const std::byte*> constants;
    for (const size_t offset : weights.offsets[p]) constants.push_back(memory.weights.data() + offset);
    NPUSTREAM_ASSIGN_OR_RETURN(auto runner, PlanRunner::Create(plans[p], std::move(constants), arenas));
    runners.push_back(std::move(runner));
  }
  times.register_ms = MillisecondsSince(start);
  return {};
}

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;

MemoryNeeds Program::Query(const NativePlans& plans, int cores) {
  return {std::max(MapWeights(plans).bytes, kAlignment),
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

const std::vector<Port>& Program::inputs() const { return impl_->inputs; }
const std::vector<Port>& Program::outputs() const { return impl_->outputs; }
const std::vector<int64_t>& Program::gears() const { return impl_->gears; }
const LoadTimes& Program::load_times() const { return impl_->times; }

size_t Program::InputBytes(size_t index, int64_t gear) const { return PortBytes(impl_->inputs[index], gear); }
size_t Program::OutputBytes(size_t index, int64_t gear) const { return PortBytes(impl_->outputs[index], gear); }

int Program::PartCount(int64_t gear) const { return impl_->per_image ? static_cast<int>(gear) : 1; }

Status Program::RunPart(int64_t gear, int part, int core, std::span<const std::byte* const> inputs,
                        std::span<std::byte* const> outputs) const {
  constexpr size_t kMaxPorts = 64;
  PlanRunner& runner = *impl_->runners[impl_->PlanIndex(gear)];
  if (!impl_->per_image || part == 0) return runner.Run(core, inputs, outputs);
  if (inputs.size() > kMaxPorts || outputs.size() > kMaxPorts)
    return Status(StatusCode::kUnsupported, "more than 64 inputs or outputs");
  const std::byte* part_inputs[kMaxPorts];
  std::byte* part_outputs[kMaxPorts];
  const auto image = static_cast<size_t>(part);
  for (size_t i = 0; i < inputs.size(); ++i) part_inputs[i] = inputs[i] + impl_->inputs[i].bytes_per_batch1 * image;
  for (size_t i = 0; i < outputs.size(); ++i) part_outputs[i] = outputs[i] + impl_->outputs[i].bytes_per_batch1 * image;
  return runner.Run(core, {part_inputs, inputs.size()}, {part_outputs, outputs.size()});
}

}  // namespace npustream::program
