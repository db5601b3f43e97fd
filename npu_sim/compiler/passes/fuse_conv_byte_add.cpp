#include "npu_sim/compiler/passes/fuse_conv_byte_add.h"

#include "npu_sim/compiler/ir/match.h"
#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/kernel.h"

namespace npustream::compiler {
namespace {

// The operand of sum `add` whose convolution can add the other one to its rows; −1 if there is none.
int OperandToAddTo(const om::Graph& graph, const Uses& uses, const om::Node& add) {
  int operand = -1, latest = -1;
  for (int i = 0; i < 2; ++i) {
    const om::TensorId id = add.inputs[static_cast<size_t>(i)];
    const int producer = uses.Producer(id);
    if (producer < 0 || uses.OnlyConsumer(id) < 0) continue;
    const om::Node& conv = graph.nodes[static_cast<size_t>(producer)];
    const bool takes = conv.op == "Conv" && !HasResidual(conv) && conv.inputs.size() <= 5;
    if (takes && producer > latest) operand = i, latest = producer;
  }
  // The other operand must be there before the convolution starts.
  return operand >= 0 && uses.Producer(add.inputs[static_cast<size_t>(1 - operand)]) < latest ? operand : -1;
}

}  // namespace

Status FuseConvByteAdd(om::Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> dead(graph.nodes.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const om::Node add = graph.nodes[n];
    if (add.op != "ByteAdd" || add.inputs[0] == add.inputs[1]) continue;
    const int operand = OperandToAddTo(graph, uses, add);
    if (operand < 0) continue;
    const om::TensorId sums = add.inputs[static_cast<size_t>(operand)];
    om::Node& conv = graph.nodes[static_cast<size_t>(uses.Producer(sums))];
    if (conv.inputs.size() > 5) continue;  // adds something already
    NPUSTREAM_ASSIGN_OR_RETURN(const kernels::Activation activation, kernels::FusedActivation(add));
    const auto limits = kernels::LimitsOf(activation, *TensorOf(graph, add.outputs[0]).quantization);
    if (!limits) continue;
    om::Node fused = conv;
    fused.inputs.resize(6, om::kNoTensor);
    fused.inputs[5] = add.inputs[static_cast<size_t>(1 - operand)];
    fused.outputs[0] = add.outputs[0];
    const om::Quantization& row = *TensorOf(graph, sums).quantization;
    fused.attributes["row_scale"] = row.scales[0];
    fused.attributes["row_zero_point"] = static_cast<int64_t>(row.zero_points[0]);
    fused.attributes["add_low"] = static_cast<int64_t>(limits->low);
    fused.attributes["add_high"] = static_cast<int64_t>(limits->high);
    fused.attributes["addend_first"] = static_cast<int64_t>(operand == 1);
    if (!kernels::CheckNode(graph, fused).ok()) continue;
    conv = std::move(fused);
    dead[n] = true;
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace npustream::compiler
