#include "tests/fuzz/run_om.h"

#include <algorithm>
#include <span>
#include <vector>

#include "npu_sim/program/aligned_memory.h"
#include "npu_sim/program/native_plans.h"
#include "npu_sim/program/program.h"

#if defined(__SANITIZE_ADDRESS__)
#define NPUSTREAM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NPUSTREAM_ASAN 1
#endif
#endif
#ifdef NPUSTREAM_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

namespace npustream::fuzz {
namespace {

// Lets only what lies in some buffer of a work memory be touched.
class Guard {
 public:
  Guard(std::span<std::byte> work, const om::OmFile& file) : work_(work) {
    for (size_t i = 0; i < file.plan_count(); ++i) {
      if (!program::StoredPlan(file, i)) return;  // one that is lowered anew has other buffers
    }
    ASAN_POISON_MEMORY_REGION(work.data(), work.size());
    for (size_t i = 0; i < file.plan_count(); ++i) {
      for (const om::NativeBuffer& buffer : program::StoredPlan(file, i)->buffers)
        ASAN_UNPOISON_MEMORY_REGION(work.data() + buffer.offset, buffer.bytes);
    }
  }
  ~Guard() { ASAN_UNPOISON_MEMORY_REGION(work_.data(), work_.size()); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::span<std::byte> work_;
};

// Buffers for ports of one gear; empty when they are too large.
template <typename SizeOfPort>
std::vector<om::Bytes> Buffers(size_t count, SizeOfPort size_of_port) {
  std::vector<om::Bytes> buffers;
  for (size_t i = 0; i < count; ++i) {
    if (size_of_port(i) > kMaxBytes) return {};
    buffers.emplace_back(size_of_port(i));
  }
  return buffers;
}

// Numbers of every kind a first layer may be given, NaN among them.
void Fill(om::Bytes& buffer, size_t seed) {
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (std::byte& byte : buffer) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
}

Status Run(const program::Program& program, int64_t gear) {
  std::vector<om::Bytes> inputs =
      Buffers(program.inputs().size(), [&](size_t i) { return program.InputBytes(i, gear); });
  std::vector<om::Bytes> outputs =
      Buffers(program.outputs().size(), [&](size_t i) { return program.OutputBytes(i, gear); });
  if (inputs.size() != program.inputs().size() || outputs.size() != program.outputs().size()) return {};
  std::vector<const std::byte*> input_addresses;
  std::vector<std::byte*> output_addresses;
  for (om::Bytes& input : inputs) {
    Fill(input, input_addresses.size());
    input_addresses.push_back(input.data());
  }
  for (om::Bytes& output : outputs) output_addresses.push_back(output.data());
  const int parts = std::min(program.PartCount(gear), 2);
  for (int part = 0; part < parts; ++part)
    NPUSTREAM_RETURN_IF_ERROR(program.RunPart(gear, part, 0, input_addresses, output_addresses));
  return {};
}

}  // namespace

size_t TensorBytes(const om::Graph& graph) {
  size_t bytes = 0;
  for (const om::Tensor& tensor : graph.tensors) {
    if (tensor.ByteSize() > kMaxBytes - bytes) return kMaxBytes + 1;
    bytes += tensor.ByteSize();
  }
  return bytes;
}

Status TryOm(const om::Bytes& bytes) {
  NPUSTREAM_ASSIGN_OR_RETURN(const auto file, om::OmFile::FromBytes(bytes));
  for (size_t i = 0; i < file->plan_count(); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(const om::Graph graph, file->LoadGraph(i));
    if (TensorBytes(graph) > kMaxBytes) return {};
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const program::MemoryNeeds needs, program::Program::Query(*file, 1));
  if (needs.weight_bytes > 16 * kMaxBytes || needs.work_bytes > 16 * kMaxBytes) return {};
  NPUSTREAM_ASSIGN_OR_RETURN(const program::AlignedMemory work, program::AlignedMemory::Allocate(needs.work_bytes));
  program::ProgramMemory memory;
  memory.work = {work.data(), work.size()};
  const Guard guard(memory.work, *file);
  NPUSTREAM_ASSIGN_OR_RETURN(const auto program, program::Program::Load(*file, 1, memory));
  return Run(*program, program->gears().back());
}

}  // namespace npustream::fuzz
