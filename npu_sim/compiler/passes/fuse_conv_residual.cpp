#include "npu_sim/compiler/passes/fuse_conv_residual.h"

#include <algorithm>

#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

class ResidualFuser {
 public:
  explicit ResidualFuser(om::Graph& graph) : graph_(graph), uses_(graph), dead_(graph.nodes.size()) {}

  void Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].op == "Add") FuseInto(n);
    }
    EraseNodes(graph_, dead_);
  }

 private:
  // The index of the Conv that writes input `side` of the Add and may take up the other one; −1 if there is none.
  int Candidate(size_t add_index, size_t side) const {
    const om::Node& add = graph_.nodes[add_index];
    const om::Tensor &sum = TensorOf(graph_, add.inputs[side]), &other = TensorOf(graph_, add.inputs[1 - side]);
    if (other.is_constant() || sum.dims != other.dims || sum.dims.size() != 4) return -1;
    if (uses_.OnlyConsumer(add.inputs[side]) != static_cast<int>(add_index)) return -1;
    const int producer = uses_.Producer(add.inputs[side]);
    if (producer < 0 || dead_[static_cast<size_t>(producer)]) return -1;
    const om::Node& conv = graph_.nodes[static_cast<size_t>(producer)];
    return conv.op == "Conv" && !HasActivation(conv) && !HasResidual(conv) ? producer : -1;
  }

  void FuseInto(size_t add_index) {
    om::Node& add = graph_.nodes[add_index];
    if (HasActivation(add)) return;
    const int left = Candidate(add_index, 0), right = Candidate(add_index, 1);
    if (left < 0 && right < 0) return;
    // Of two, the later one: it waits the least for its new place.
    const size_t side = left > right ? 0 : 1;
    const size_t producer = static_cast<size_t>(std::max(left, right));
    om::Node conv = graph_.nodes[producer];
    conv.inputs.resize(4, om::kNoTensor);
    conv.inputs[3] = add.inputs[1 - side];
    conv.outputs = add.outputs;
    add = std::move(conv);
    dead_[producer] = true;
  }

  om::Graph& graph_;
  const Uses uses_;
  std::vector<bool> dead_;
};

}  // namespace

Status FuseConvResidual(om::Graph& graph) {
  ResidualFuser(graph).Run();
  return {};
}

}  // namespace npustream::compiler
