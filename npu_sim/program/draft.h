#pragma once

#include <string>
#include <vector>

#include "npu_sim/om/native_plan.h"

namespace npustream::program {

// A lowered plan in the making: values know what they are parts of, buffers do not exist yet.
struct DraftValue {
  std::string name;
  om::DataType type = om::DataType::kFloat32;
  om::Dims dims;
  om::Layout layout = om::Layout::kPlain;
  om::Place place = om::Place::kBuffer;
  int32_t index = -1;  // of the constant, input or output
  // The value whose memory this one lies in, from `offset` bytes on; −1 when it has memory of its own.
  int32_t parent = -1;
  uint64_t offset = 0;
  std::shared_ptr<const om::Quantization> quantization = nullptr;

  size_t Bytes() const { return om::LayoutBytes(type, dims, layout); }
};

struct DraftStep {
  om::Node node;  // inputs and outputs are values
  std::string implementation;
  size_t scratch_bytes = 0;
  int in_place_input = -1;
};

struct Draft {
  std::vector<DraftValue> values;
  std::vector<DraftStep> steps;
  std::vector<om::Blob> constants;
  bool on_dnnl = false;  // some step is

  // The value that owns the memory of `value`; adds the offset inside it when wanted.
  int32_t Root(int32_t value, uint64_t* offset = nullptr) const;
};

// Lets the sources of joins be written straight into the join, where groups of channels allow it, and removes or
// shortens the copying steps.
void JoinWithoutCopy(Draft& draft);
// Lets results take over the memory of an input that dies at their step.
void ComputeInPlace(Draft& draft);
// Lifetimes, buffers and addresses.
om::NativePlan PlanBuffers(const Draft& draft);

}  // namespace npustream::program
