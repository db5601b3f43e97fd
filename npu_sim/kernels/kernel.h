#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "npu_sim/kernels/isa.h"
#include "npu_sim/om/graph.h"
#include "npu_sim/om/native_plan.h"

namespace npustream::kernels {

// A tensor as a kernel sees it when it is chosen or prepared.
struct TensorInfo {
  om::DataType type = om::DataType::kFloat32;
  om::Dims dims;
  om::Layout layout = om::Layout::kPlain;
  // Content of a constant, empty otherwise: plain row-major in Check and Choose, as packed by Choose in Prepare (where
  // its size must be checked before it is believed).
  std::span<const std::byte> constant;
  bool absent = false;  // an optional input that was left out
  bool is_constant = false;
  const om::Quantization* quantization = nullptr;  // of integers that stand for real numbers

  size_t Bytes() const { return om::LayoutBytes(type, dims, layout); }
};

// One node with its tensors.
struct Problem {
  const om::Node* node = nullptr;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  Isa isa = Isa::kBaseline;
  size_t scratch_bytes = 0;  // in Prepare: what Arguments::scratch will have
};

// What a kernel wants for one problem. Vectors are as long as the problem's.
struct Choice {
  std::vector<om::Layout> inputs;   // layouts it reads: a reorder is inserted where the tensor has another one
  std::vector<om::Layout> outputs;  // layouts it writes
  // Constants that are replaced by a packed form (in place of inputs[i]); absent entries stay as they are.
  std::vector<std::optional<om::Bytes>> packed;
  // Index of the input whose memory the first output may take over (dies here, same layout and size), or −1.
  int in_place_input = -1;
  std::string implementation;  // for people and for the profile
  // oneDNN does it: packing and scratch buffer are those of the CPU at hand, whatever Problem::isa says.
  bool on_dnnl = false;
  size_t scratch_bytes = 0;
};

// Addresses of one call. Inputs that were left out are null.
struct Arguments {
  const std::byte* const* inputs = nullptr;
  std::byte* const* outputs = nullptr;
  std::byte* scratch = nullptr;  // Choice::scratch_bytes, 64-byte aligned
};

// A kernel bound to one problem on one core. Run allocates nothing and is called by one thread at a time.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual Status Run(const Arguments& arguments) = 0;
};

// One operator. Stateless; every method is thread-safe.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Whether types, ranks, dims and attributes are consistent and covered. kUnsupported or kInvalidArgument says why
  // not. Never trusts the node: it may come from a damaged file. Layouts are not looked at.
  virtual Status Check(const Problem& problem) const = 0;
  // Layouts, packing and implementation for the layouts that the inputs have now. The default is plain everywhere.
  virtual Result<Choice> Choose(const Problem& problem) const;
  // Whether Choose replaces a constant at `input` by a form whose size only the kernel knows.
  virtual bool PacksInput(size_t) const { return false; }
  // An executor for a problem that has passed Check and whose layouts are those of a choice. A plan may come from a
  // damaged file: layouts, sizes of packed constants and of the scratch buffer are checked again.
  virtual Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const = 0;
};

// The kernel for an operator's name (ONNX's, or ours: Aipp, Silu, Reorder …); null when there is none.
const Kernel* FindKernel(std::string_view op);

// Whether `node` of `graph` can be run with `isa`; the reason when it cannot.
Status CheckNode(const om::Graph& graph, const om::Node& node, Isa isa = RunningIsa());

// The problem that a node of a graph poses, with plain layouts. Node and graph must outlive it.
Result<Problem> MakeProblem(const om::Graph& graph, const om::Node& node, Isa isa);

}  // namespace npustream::kernels
