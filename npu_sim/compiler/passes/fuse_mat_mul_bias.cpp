#include "npu_sim/compiler/passes/fuse_mat_mul_bias.h"

#include <algorithm>

#include "npu_sim/compiler/ir/match.h"

namespace npustream::compiler {
namespace {

// The Add of one value per column that alone reads the product; null when there is none. `bias` is set to its constant.
const om::Node* FindBias(const om::Graph& graph, const Uses& uses, const om::Node& product, int64_t columns,
                         om::TensorId& bias) {
  const int reader = uses.OnlyConsumer(product.outputs[0]);
  if (reader < 0) return nullptr;
  const om::Node& add = graph.nodes[static_cast<size_t>(reader)];
  if (add.op != "Add" || HasActivation(add)) return nullptr;
  bias = add.inputs[0] == product.outputs[0] ? add.inputs[1] : add.inputs[0];
  const om::Tensor& row = TensorOf(graph, bias);
  const bool is_row =
      row.is_constant() && !row.dims.empty() && row.dims.back() == columns && om::ElementCount(row.dims) == columns;
  const bool keeps_dims = TensorOf(graph, add.outputs[0]).dims == TensorOf(graph, product.outputs[0]).dims;
  return is_row && keeps_dims ? &add : nullptr;
}

bool IsMatrixProduct(const om::Graph& graph, const om::Node& node) {
  if (node.op != "MatMul" || HasActivation(node)) return false;
  const om::Tensor &left = TensorOf(graph, node.inputs[0]), &right = TensorOf(graph, node.inputs[1]);
  return left.dims.size() >= 2 && right.dims.size() == 2 && right.is_constant() && !left.is_constant();
}

// A row [1,…,1,M] as [M].
om::TensorId AsVector(om::Graph& graph, om::TensorId bias, int64_t columns) {
  om::Tensor vector = TensorOf(graph, bias);
  if (vector.dims.size() == 1) return bias;
  vector.dims = {columns};
  vector.name += ".row";
  return AddTensor(graph, std::move(vector));
}

// Appends the nodes that compute `product` (plus bias) into `output`.
void AppendGemm(om::Graph& graph, const om::Node& product, om::TensorId bias, om::TensorId output,
                std::vector<om::Node>& nodes) {
  const om::Tensor left = TensorOf(graph, product.inputs[0]);
  const int64_t depth = left.dims.back(), columns = TensorOf(graph, product.inputs[1]).dims[1];
  const int64_t rows = depth == 0 ? 0 : om::ElementCount(left.dims) / depth;
  om::Node gemm{product.name,
                "Gemm",
                {product.inputs[0], product.inputs[1]},
                {output},
                {{"alpha", 1.0f}, {"beta", 1.0f}, {"transA", int64_t{0}}, {"transB", int64_t{0}}}};
  if (bias != om::kNoTensor) gemm.inputs.push_back(AsVector(graph, bias, columns));
  if (left.dims.size() == 2) {
    nodes.push_back(std::move(gemm));
    return;
  }
  const std::string name = TensorOf(graph, output).name;
  const om::TensorId flat = AddTensor(graph, {name + ".rows", left.type, {rows, depth}, nullptr});
  const om::TensorId flat_result = AddTensor(graph, {name + ".product", left.type, {rows, columns}, nullptr});
  gemm.inputs[0] = flat;
  gemm.outputs[0] = flat_result;
  nodes.push_back({product.name + ".rows", "Reshape", {product.inputs[0]}, {flat}, {}});
  nodes.push_back(std::move(gemm));
  nodes.push_back({product.name + ".shape", "Reshape", {flat_result}, {output}, {}});
}

}  // namespace

Status FuseMatMulBias(om::Graph& graph) {
  const Uses uses(graph);
  std::vector<om::Node> nodes;
  std::vector<const om::Node*> fused_adds;
  for (const om::Node& node : graph.nodes) {
    if (std::find(fused_adds.begin(), fused_adds.end(), &node) != fused_adds.end()) continue;
    if (!IsMatrixProduct(graph, node)) {
      nodes.push_back(node);
      continue;
    }
    om::TensorId bias = om::kNoTensor;
    const om::Node* add = FindBias(graph, uses, node, TensorOf(graph, node.inputs[1]).dims[1], bias);
    if (add != nullptr) fused_adds.push_back(add);
    AppendGemm(graph, node, add != nullptr ? bias : om::kNoTensor, add != nullptr ? add->outputs[0] : node.outputs[0],
               nodes);
  }
  graph.nodes = std::move(nodes);
  return {};
}

}  // namespace npustream::compiler
