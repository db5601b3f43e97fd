#include "npu_sim/kernels/kernel.h"

#include "npu_sim/kernels/support.h"

namespace npustream::kernels {

Result<Choice> Kernel::Choose(const Problem& problem) const { return PlainChoice(problem, "plain"); }

Result<Problem> MakeProblem(const om::Graph& graph, const om::Node& node, Isa isa) {
  Problem problem;
  problem.node = &node;
  problem.isa = isa;
  const auto info = [&](om::TensorId id) -> Result<TensorInfo> {
    TensorInfo result;
    if (id == om::kNoTensor) {
      result.absent = true;
      return result;
    }
    if (id < 0 || static_cast<size_t>(id) >= graph.tensors.size()) return Invalid("tensor {} does not exist", id);
    const om::Tensor& tensor = graph.tensors[id];
    if (om::SizeOf(tensor.type) == 0) return Invalid("tensor '{}' has an unknown type", tensor.name);
    result.type = tensor.type;
    result.dims = tensor.dims;
    result.is_constant = tensor.is_constant();
    result.quantization = tensor.quantization.get();
    if (tensor.constant) {
      if (tensor.constant->size() != tensor.ByteSize()) return Invalid("constant '{}' has the wrong size", tensor.name);
      result.constant = *tensor.constant;
    }
    return result;
  };
  for (const om::TensorId id : node.inputs) {
    NPUSTREAM_ASSIGN_OR_RETURN(TensorInfo tensor, info(id));
    problem.inputs.push_back(std::move(tensor));
  }
  for (const om::TensorId id : node.outputs) {
    NPUSTREAM_ASSIGN_OR_RETURN(TensorInfo tensor, info(id));
    problem.outputs.push_back(std::move(tensor));
  }
  return problem;
}

Status CheckNode(const om::Graph& graph, const om::Node& node, Isa isa) {
  const Kernel* kernel = FindKernel(node.op);
  if (!kernel) return Unsupported("there is no kernel for operator {}", node.op);
  NPUSTREAM_ASSIGN_OR_RETURN(const Problem problem, MakeProblem(graph, node, isa));
  return kernel->Check(problem);
}

}  // namespace npustream::kernels
