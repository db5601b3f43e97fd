// Any bytes as an OM: as they are, and with size and checksum mended so that what lies behind them is reached. What the
// reader lets through is loaded and run.
#include <algorithm>
#include <cstring>

#include "npu_sim/om/file_header.h"
#include "npu_sim/om/om_reader.h"
#include "npu_sim/program/program.h"
#include "tests/fuzz/fuzz.h"

namespace npustream::fuzz {
namespace {

void Mend(om::Bytes& file) {
  om::FileHeader header;
  if (file.size() < sizeof(header)) return;
  std::memcpy(&header, file.data(), sizeof(header));
  header.file_bytes = file.size();
  header.checksum = om::FileChecksum(header, std::span<const std::byte>(file).subspan(sizeof(header)));
  std::memcpy(file.data(), &header, sizeof(header));
}

bool IsSmall(const om::OmFile& file) {
  for (size_t i = 0; i < file.plan_count(); ++i) {
    const auto graph = file.LoadGraph(i);
    if (!graph.ok() || TensorBytes(*graph) > kMaxBytes) return false;
  }
  const auto needs = program::Program::Query(file, 1);
  return needs.ok() && needs->weight_bytes <= kMaxBytes && needs->work_bytes <= kMaxBytes;
}

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

void Run(const program::Program& program, int64_t gear) {
  std::vector<om::Bytes> inputs =
      Buffers(program.inputs().size(), [&](size_t i) { return program.InputBytes(i, gear); });
  std::vector<om::Bytes> outputs =
      Buffers(program.outputs().size(), [&](size_t i) { return program.OutputBytes(i, gear); });
  if (inputs.size() != program.inputs().size() || outputs.size() != program.outputs().size()) return;
  std::vector<const std::byte*> input_addresses;
  std::vector<std::byte*> output_addresses;
  for (const om::Bytes& input : inputs) input_addresses.push_back(input.data());
  for (om::Bytes& output : outputs) output_addresses.push_back(output.data());
  const int parts = std::min(program.PartCount(gear), 2);
  for (int part = 0; part < parts; ++part)
    static_cast<void>(program.RunPart(gear, part, 0, input_addresses, output_addresses));
}

void Try(const om::Bytes& bytes) {
  const auto file = om::OmFile::FromBytes(bytes);
  if (!file.ok() || !IsSmall(**file)) return;
  const auto program = program::Program::Load(**file, 1);
  if (program.ok()) Run(**program, (*program)->gears().back());
}

}  // namespace
}  // namespace npustream::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  npustream::om::Bytes file(bytes.begin(), bytes.end());
  npustream::fuzz::Try(file);
  npustream::fuzz::Mend(file);
  npustream::fuzz::Try(file);
  return 0;
}
