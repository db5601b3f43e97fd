#include "npu_sim/compiler/ir/verify.h"

#include <fmt/format.h>

namespace npustream::compiler {
namespace {

Status Fault(std::string message) { return {StatusCode::kInternal, "graph verification: " + std::move(message)}; }

class Verifier {
 public:
  explicit Verifier(const om::Graph& graph) : graph_(graph), defined_(graph.tensors.size()) {}

  Status Run() {
    NPUSTREAM_RETURN_IF_ERROR(CheckTensors());
    for (const om::TensorId id : graph_.inputs) {
      if (!InRange(id) || graph_.tensors[static_cast<size_t>(id)].is_constant()) return Fault("a bad graph input");
      defined_[static_cast<size_t>(id)] = true;
    }
    for (const om::Node& node : graph_.nodes) NPUSTREAM_RETURN_IF_ERROR(CheckNode(node));
    for (const om::TensorId id : graph_.outputs) {
      if (!InRange(id) || !defined_[static_cast<size_t>(id)]) return Fault("a graph output that nothing writes");
    }
    return {};
  }

 private:
  bool InRange(om::TensorId id) const { return id >= 0 && static_cast<size_t>(id) < graph_.tensors.size(); }

  Status CheckTensors() {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const om::Tensor& tensor = graph_.tensors[i];
      for (const int64_t dim : tensor.dims) {
        if (dim < 0) return Fault(fmt::format("'{}' has a negative dimension", tensor.name));
      }
      if (!tensor.is_constant()) continue;
      if (tensor.constant->size() != tensor.ByteSize()) {
        return Fault(fmt::format("constant '{}' holds {} bytes, not {}", tensor.name, tensor.constant->size(),
                                 tensor.ByteSize()));
      }
      defined_[i] = true;
    }
    return {};
  }

  Status CheckNode(const om::Node& node) {
    for (const om::TensorId id : node.inputs) {
      if (id == om::kNoTensor) continue;
      if (!InRange(id)) return Fault(fmt::format("node '{}' reads a tensor out of range", node.name));
      if (!defined_[static_cast<size_t>(id)]) {
        return Fault(fmt::format("node '{}' reads '{}' before it is written", node.name,
                                 graph_.tensors[static_cast<size_t>(id)].name));
      }
    }
    for (const om::TensorId id : node.outputs) {
      if (id == om::kNoTensor) continue;
      if (!InRange(id)) return Fault(fmt::format("node '{}' writes a tensor out of range", node.name));
      if (defined_[static_cast<size_t>(id)]) {
        return Fault(fmt::format("node '{}' writes '{}', which exists already", node.name,
                                 graph_.tensors[static_cast<size_t>(id)].name));
      }
      defined_[static_cast<size_t>(id)] = true;
    }
    return {};
  }

  const om::Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

Status VerifyGraph(const om::Graph& graph) { return Verifier(graph).Run(); }

}  // namespace npustream::compiler
