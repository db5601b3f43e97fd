#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "npu_sim/kernels/kernel.h"
#include "npu_sim/om/native_plan.h"

namespace npustream::program {

// A lowered plan bound to memory, with executors for each core.
class PlanRunner {
 public:
  // `constants[i]` is where the content of constant i lies, `arenas[core]` a 64-byte aligned block of plan.arena_bytes.
  // Both must outlive the runner; the plan need not, but must have passed om::VerifyNative. kCorruptData when a step
  // does not fit its kernel.
  static Result<std::unique_ptr<PlanRunner>> Create(const om::NativePlan& plan, std::vector<const std::byte*> constants,
                                                    const std::vector<std::byte*>& arenas);
  // Prints the time of every step when NPUSTREAM_PROFILE_STEPS is set.
  ~PlanRunner();

  // Runs all steps on `core`, which no other thread may use meanwhile. Allocates nothing.
  Status Run(int core, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs);

 private:
  struct Patch {  // an address that depends on the caller
    size_t slot;
    bool to_output_slot, from_output;
    int32_t port;
    uint64_t offset;
  };
  struct StepSlots {
    size_t first_input, first_output;
    std::byte* scratch;
  };
  struct Core {
    std::vector<std::unique_ptr<kernels::Executor>> executors;
    std::vector<StepSlots> steps;
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    std::vector<double> seconds;  // per step, when profiling
  };

  PlanRunner() = default;
  Status Bind(const om::NativePlan& plan, const std::vector<const std::byte*>& constants, std::byte* arena, Core& core);
  Status RunProfiled(Core& core);
  void PrintProfile() const;

  std::vector<Core> cores_;
  std::vector<Patch> patches_;  // the same for every core
  std::vector<std::string> step_names_;
  int64_t runs_ = 0;
};

}  // namespace npustream::program
