#include "npu_sim/compiler/passes/fuse_lookup.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "npu_sim/compiler/ir/match.h"
#include "npu_sim/compiler/ir/quantized.h"
#include "npu_sim/compiler/passes/fuse_quantized.h"
#include "npu_sim/program/evaluate.h"

namespace npustream::compiler {
namespace {

constexpr int64_t kBytes = 256;
constexpr size_t kMostNodes = 32;

bool IsElementwise(std::string_view op) {
  constexpr std::string_view kOps[] = {"Abs",  "Add",       "Ceil",        "Clip",     "Dequantize", "Div",
                                       "Elu",  "Erf",       "Exp",         "Floor",    "Gelu",       "HardSigmoid",
                                       "Max",  "HardSwish", "LeakyRelu",   "Log",      "Min",        "Mish",
                                       "Mul",  "Neg",       "Pow",         "Quantize", "Reciprocal", "Relu",
                                       "PRelu", "Round", "Sigmoid",  "Silu",        "Softplus", "Softsign",   "Sqrt",
                                       "Sub",  "Tanh"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

// The nodes between a Quantize and the one quantised tensor that all of them depend on.
class Net {
 public:
  Net(const om::Graph& graph, const Uses& uses, const om::Node& quantize) : graph_(graph), uses_(uses) {
    source_ = Search(quantize.outputs[0], true);
  }

  // Nothing when there is no such tensor.
  std::optional<om::TensorId> source() const { return nodes_.size() > kMostNodes ? std::nullopt : source_; }
  const std::set<int>& nodes() const { return nodes_; }

 private:
  // The byte tensor that `id` depends on. The walk goes as far as it can: intermediate bytes that come of other bytes
  // element by element are passed.
  std::optional<om::TensorId> Search(om::TensorId id, bool last) {
    if (const auto found = known_.find(id); found != known_.end()) return found->second;
    std::optional<om::TensorId> result = Through(id);
    if (!result && !last && IsByteTensor(TensorOf(graph_, id))) result = id;
    return known_[id] = result;
  }

  std::optional<om::TensorId> Through(om::TensorId id) {
    const int producer = uses_.Producer(id);
    if (producer < 0) return std::nullopt;
    const om::Node& node = graph_.nodes[static_cast<size_t>(producer)];
    if (!IsElementwise(node.op) || node.outputs.size() != 1) return std::nullopt;
    std::optional<om::TensorId> common;
    for (const om::TensorId input : node.inputs) {
      if (input == om::kNoTensor) continue;
      const om::Tensor& tensor = TensorOf(graph_, input);
      if (tensor.is_constant()) {
        if (om::ElementCount(tensor.dims) != 1) return std::nullopt;
        continue;
      }
      if (tensor.dims != TensorOf(graph_, id).dims) return std::nullopt;
      const std::optional<om::TensorId> source = Search(input, false);
      if (!source || (common && *common != *source)) return std::nullopt;
      common = source;
    }
    if (common) nodes_.insert(producer);
    return common;
  }

  const om::Graph& graph_;
  const Uses& uses_;
  std::map<om::TensorId, std::optional<om::TensorId>> known_;
  std::optional<om::TensorId> source_;
  std::set<int> nodes_;  // in order
};

// What the net makes of the bytes 0 … 255.
Result<om::Bytes> Tabulate(const om::Graph& graph, const Net& net, om::TensorId result) {
  om::Graph table;
  std::map<om::TensorId, om::TensorId> ids;
  const auto id_of = [&](om::TensorId id) {
    if (id == om::kNoTensor) return id;
    const auto [found, added] = ids.emplace(id, static_cast<om::TensorId>(table.tensors.size()));
    if (added) {
      table.tensors.push_back(TensorOf(graph, id));
      om::Tensor& tensor = table.tensors.back();
      tensor.dims = tensor.is_constant() ? om::Dims{1} : om::Dims{kBytes};
    }
    return found->second;
  };
  table.inputs = {id_of(*net.source())};
  for (const int index : net.nodes()) {
    om::Node node = graph.nodes[static_cast<size_t>(index)];
    for (auto* list : {&node.inputs, &node.outputs}) std::transform(list->begin(), list->end(), list->begin(), id_of);
    table.nodes.push_back(std::move(node));
  }
  table.outputs = {id_of(result)};
  // Sums and products of bytes round as their own kernels do.
  NPUSTREAM_RETURN_IF_ERROR(FuseQuantized(table));
  om::Bytes bytes(kBytes);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<om::Bytes> results, program::EvaluateGraph(table, {bytes}));
  return std::move(results[0]);
}

}  // namespace

Status FuseLookup(om::Graph& graph) {
  const Uses uses(graph);
  // From the end: a later net goes through what would be a table of its own.
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    if (graph.nodes[n].op != "Quantize" || !IsByteTensor(TensorOf(graph, graph.nodes[n].outputs[0]))) continue;
    const om::TensorId result = graph.nodes[n].outputs[0];
    const Net net(graph, uses, graph.nodes[n]);
    if (!net.source()) continue;
    Result<om::Bytes> content = Tabulate(graph, net, result);
    if (!content.ok()) continue;
    om::Tensor table{fmt::format("{}.table", TensorOf(graph, result).name), om::DataType::kUInt8, {kBytes},
                     std::make_shared<const om::Bytes>(std::move(*content))};
    const om::TensorId table_id = AddTensor(graph, std::move(table));
    om::Node& node = graph.nodes[n];
    node.op = "Lookup";
    node.inputs = {*net.source(), table_id};
    node.attributes.clear();
  }
  return {};
}

}  // namespace npustream::compiler
