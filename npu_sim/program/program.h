#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::om {
class OmFile;  // a verified OM (npu_sim/om/om_reader.h)
}

namespace npustream::program {

class NativePlans;  // an OM's plans for this CPU (npu_sim/program/native_plans.h)

// One input or output of a model as a program's user sees it.
struct Port {
  std::string name;
  om::DataType type = om::DataType::kFloat32;
  om::Dims dims;                // as written in the OM: −1 on axis 0 when the batch is dynamic
  size_t bytes_per_batch1 = 0;  // bytes of one image (batch 1); for a model with a fixed batch, bytes / batch
};

struct MemoryNeeds {
  size_t weight_bytes = 0;  // read-only, may be shared by several programs of one OM
  size_t work_bytes = 0;    // arenas of all cores
};

// Memory lent to a program; 64-byte aligned, at least as large as MemoryNeeds says. Empty spans make it allocate its
// own.
struct ProgramMemory {
  std::span<std::byte> weights;
  std::span<std::byte> work;
  bool weights_are_loaded = false;  // another program of the same OM has filled `weights` already
};

// How long each step of loading took, in milliseconds.
struct LoadTimes {
  double parse_ms = 0, plan_ms = 0, transfer_ms = 0, register_ms = 0;
};

// An OM made ready to run on `cores` AI cores: weights moved, buffers planned, kernels chosen for this CPU.
// Addresses are the host's backing addresses: the runtime translates device addresses before it calls.
// Immutable after Load. RunPart may be called from several threads at once for different cores; it allocates nothing.
class Program {
 public:
  static Result<MemoryNeeds> Query(const om::OmFile& file, int cores);
  static Result<std::unique_ptr<Program>> Load(const om::OmFile& file, int cores, ProgramMemory memory = {});
  // The same with plans of `file` that are there already: making them may take long.
  static MemoryNeeds Query(const NativePlans& plans, int cores);
  static Result<std::unique_ptr<Program>> Load(const om::OmFile& file, const NativePlans& plans, int cores,
                                               ProgramMemory memory = {});
  ~Program();

  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  // Batch sizes it can run, ascending; one entry for a model without dynamic batch.
  const std::vector<int64_t>& gears() const;
  const LoadTimes& load_times() const;

  // Bytes of input or output `index` at batch `gear`.
  size_t InputBytes(size_t index, int64_t gear) const;
  size_t OutputBytes(size_t index, int64_t gear) const;

  // A run at batch `gear` consists of this many independent parts (its images when the model treats every image by
  // itself, else 1). Results do not depend on which core runs a part, or in which order.
  int PartCount(int64_t gear) const;
  // Runs one part on core `core` (0 ≤ core < cores): reads `inputs`, writes `outputs` (whole-batch addresses, in the
  // order of the ports). The caller has checked sizes and gear.
  Status RunPart(int64_t gear, int part, int core, std::span<const std::byte* const> inputs,
                 std::span<std::byte* const> outputs) const;

 private:
  class Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npustream::program
