#include "npu_sim/compiler/passes/sink_transposes.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "npu_sim/compiler/ir/match.h"
#include "npu_sim/compiler/passes/fold_constants.h"
#include "npu_sim/compiler/passes/merge_reshapes.h"
#include "npu_sim/compiler/passes/remove_dead_code.h"

namespace npustream::compiler {
namespace {

using Perm = std::vector<int64_t>;

Perm Inverse(const Perm& perm) {
  Perm inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

template <typename T>
std::vector<T> Permuted(const std::vector<T>& values, const Perm& perm) {
  std::vector<T> result;
  for (const int64_t axis : perm) result.push_back(values[static_cast<size_t>(axis)]);
  return result;
}

bool IsUnary(std::string_view op) {
  static const std::set<std::string_view> kOps = {
      "Abs",  "Cast", "Ceil",  "Clip",       "Elu",     "Erf",  "Exp",  "Floor", "Gelu",    "HardSigmoid", "HardSwish",
      "Identity", "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid",
      "Sign", "Silu", "Softplus", "Softsign", "Sqrt", "Tanh"};
  return kOps.count(op) != 0;
}

bool IsBroadcasting(std::string_view op) {
  static const std::set<std::string_view> kOps = {"Add", "And",  "Div",  "Equal", "Greater", "GreaterOrEqual",
                                                  "Less", "LessOrEqual", "Max", "Min", "Mod", "Mul",
                                                  "Or",  "PRelu", "Pow",  "Sub",   "Where",   "Xor"};
  return kOps.count(op) != 0;
}

bool IsPerTensor(const om::Tensor& tensor) { return !tensor.quantization || tensor.quantization->IsPerTensor(); }

// Whether one axis at most is longer than 1: then any order of axes has the same bytes.
bool IsLine(const om::Dims& dims) {
  return std::count_if(dims.begin(), dims.end(), [](int64_t dim) { return dim != 1; }) <= 1;
}

class NodeList {
 public:
  explicit NodeList(om::Graph& graph) : graph_(graph) {}

  void Push(om::Node node) { nodes_.push_back(std::move(node)); }
  std::vector<om::Node> Take() { return std::move(nodes_); }

  // `id` with axes of 1 in front up to `rank`, then transposed.
  om::TensorId Turned(om::TensorId id, size_t rank, const Perm& perm) {
    om::Tensor tensor = TensorOf(graph_, id);
    if (om::ElementCount(tensor.dims) == 1 && tensor.dims.size() <= 1) return id;
    om::Dims dims = tensor.dims;
    dims.insert(dims.begin(), rank - dims.size(), 1);
    const om::Dims turned = Permuted(dims, perm);
    if (IsLine(dims)) return Derived(id, "Reshape", ".line", turned, {});
    if (dims != tensor.dims) id = Derived(id, "Reshape", ".rank", dims, {});
    return Derived(id, "Transpose", ".turned", turned, {{"perm", perm}});
  }

 private:
  om::TensorId Derived(om::TensorId from, const char* op, const char* suffix, om::Dims dims, om::Attributes attributes) {
    om::Tensor tensor = TensorOf(graph_, from);
    tensor.constant = nullptr;
    tensor.dims = std::move(dims);
    tensor.name += suffix;
    const std::string name = tensor.name;
    const om::TensorId to = AddTensor(graph_, std::move(tensor));
    Push({name, op, {from}, {to}, std::move(attributes)});
    return to;
  }

  om::Graph& graph_;
  std::vector<om::Node> nodes_;
};

// What an operator that works on a transposed tensor becomes when it works on the tensor itself: its attributes, and how
// its results have to be transposed. False when it cannot.
bool TurnAttributes(const Perm& perm, om::Node& node, Perm& result_perm) {
  const std::string_view op = node.op;
  const auto axis_of = [&](int64_t axis) { return perm[static_cast<size_t>(axis)]; };
  result_perm = perm;
  if (IsUnary(op) || IsBroadcasting(op) || op == "Quantize" || op == "Dequantize") return true;
  if (op == "Concat" || op == "Split" || op == "Softmax" || op == "LogSoftmax") {
    const int64_t axis = om::GetInt(node, "axis", 0);
    if (axis < 0) return false;
    node.attributes["axis"] = axis_of(axis);
    return true;
  }
  if (op == "Pad") {
    const std::vector<int64_t> pads = om::GetInts(node, "pads");
    const auto half = pads.begin() + static_cast<std::ptrdiff_t>(perm.size());
    std::vector<int64_t> turned = Permuted(std::vector<int64_t>(pads.begin(), half), Inverse(perm));
    const std::vector<int64_t> ends = Permuted(std::vector<int64_t>(half, pads.end()), Inverse(perm));
    turned.insert(turned.end(), ends.begin(), ends.end());
    node.attributes["pads"] = std::move(turned);
    return true;
  }
  if (op == "Resize") {
    const std::vector<float> scales = om::GetFloats(node, "scales");
    if (scales.size() != perm.size() || node.attributes.count("roi") != 0) return false;
    node.attributes["scales"] = Permuted(scales, Inverse(perm));
    return true;
  }
  if (op == "Slice") {
    std::map<int64_t, std::array<int64_t, 3>> by_axis;
    const auto axes = om::GetInts(node, "axes"), starts = om::GetInts(node, "starts"), ends = om::GetInts(node, "ends"),
               steps = om::GetInts(node, "steps");
    if (axes.size() != starts.size() || axes.size() != ends.size() || axes.size() != steps.size()) return false;
    for (size_t i = 0; i < axes.size(); ++i) by_axis[axis_of(axes[i])] = {starts[i], ends[i], steps[i]};
    std::vector<int64_t> lists[4];
    for (const auto& [axis, range] : by_axis) {
      lists[0].push_back(axis);
      for (size_t i = 0; i < 3; ++i) lists[i + 1].push_back(range[i]);
    }
    node.attributes["axes"] = lists[0], node.attributes["starts"] = lists[1];
    node.attributes["ends"] = lists[2], node.attributes["steps"] = lists[3];
    return true;
  }
  if (!op.starts_with("Reduce")) return false;
  std::vector<int64_t> axes = om::GetInts(node, "axes");
  if (axes.empty()) return false;
  const std::set<int64_t> reduced(axes.begin(), axes.end());
  for (int64_t& axis : axes) axis = axis_of(axis);
  std::sort(axes.begin(), axes.end());
  node.attributes["axes"] = axes;
  if (om::GetInt(node, "keepdims", 1) != 0) return true;
  // The axes that stay are counted anew.
  result_perm.clear();
  for (size_t i = 0; i < perm.size(); ++i) {
    if (reduced.count(static_cast<int64_t>(i)) != 0) continue;
    const auto before = std::count_if(axes.begin(), axes.end(), [&](int64_t axis) { return axis < perm[i]; });
    result_perm.push_back(perm[i] - before);
  }
  return true;
}

class Sinker {
 public:
  // Starts from the transpositions of order `seed`.
  Sinker(om::Graph& graph, const Perm& seed) : graph_(graph), seed_(seed), nodes_(graph) {}

  void Run() {
    const std::vector<om::Node> nodes = std::move(graph_.nodes);
    for (const om::Node& node : nodes) {
      if (!Sink(node)) Keep(node);
    }
    graph_.nodes = nodes_.Take();
  }

 private:
  struct Turned {
    om::TensorId source;
    Perm perm;
  };

  const Turned* Find(om::TensorId id) const {
    const auto found = turned_.find(id);
    return found == turned_.end() ? nullptr : &found->second;
  }

  void Keep(om::Node node) {
    if (node.op == "Transpose") {
      Perm perm = om::GetInts(node, "perm");
      if (const Turned* first = Find(node.inputs[0])) {
        perm = Permuted(first->perm, perm);
        node.inputs[0] = first->source;
        node.attributes["perm"] = perm;
      }
      if (perm == seed_) turned_[node.outputs[0]] = {node.inputs[0], perm};
    }
    nodes_.Push(std::move(node));
  }

  // The first operand that is transposed decides. Operators whose first input alone is the tensor are asked for it alone.
  const Turned* Deciding(const om::Node& node) const {
    const size_t count = IsBroadcasting(node.op) || node.op == "Concat" ? node.inputs.size() : 1;
    for (size_t i = 0; i < std::min(count, node.inputs.size()); ++i) {
      if (const Turned* turned = Find(node.inputs[i])) return turned;
    }
    return nullptr;
  }

  bool MaySink(const om::Node& node, size_t rank) const {
    const auto fits = [&](om::TensorId id) {
      return id != om::kNoTensor && IsPerTensor(TensorOf(graph_, id)) && TensorOf(graph_, id).dims.size() <= rank;
    };
    return std::all_of(node.inputs.begin(), node.inputs.end(), fits) &&
           std::all_of(node.outputs.begin(), node.outputs.end(), fits) &&
           (node.inputs.size() == 1 || IsBroadcasting(node.op) || node.op == "Concat");
  }

  bool Sink(const om::Node& node) {
    const Turned* deciding = Deciding(node);
    if (deciding == nullptr || node.op == "Transpose") return false;
    const Perm perm = deciding->perm;
    om::Node moved = node;
    Perm result_perm;
    if (!MaySink(node, perm.size()) || !TurnAttributes(perm, moved, result_perm)) return false;
    for (om::TensorId& id : moved.inputs) {
      const Turned* turned = Find(id);
      id = turned != nullptr && turned->perm == perm ? turned->source : nodes_.Turned(id, perm.size(), Inverse(perm));
    }
    for (om::TensorId& id : moved.outputs) id = AddUnturned(id, result_perm);
    nodes_.Push(moved);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const om::TensorId result = node.outputs[i];
      nodes_.Push({TensorOf(graph_, result).name + ".turn", "Transpose", {moved.outputs[i]}, {result},
                   {{"perm", result_perm}}});
      turned_[result] = {moved.outputs[i], result_perm};
    }
    return true;
  }

  om::TensorId AddUnturned(om::TensorId id, const Perm& perm) {
    om::Tensor tensor = TensorOf(graph_, id);
    tensor.dims = Permuted(tensor.dims, Inverse(perm));
    tensor.name += ".unturned";
    return AddTensor(graph_, std::move(tensor));
  }

  om::Graph& graph_;
  const Perm seed_;
  NodeList nodes_;
  std::map<om::TensorId, Turned> turned_;
};

// Elements that transpositions move.
int64_t MovedElements(const om::Graph& graph) {
  int64_t moved = 0;
  for (const om::Node& node : graph.nodes) {
    if (node.op == "Transpose") moved += om::ElementCount(TensorOf(graph, node.outputs[0]).dims);
  }
  return moved;
}

std::set<Perm> OrdersOf(const om::Graph& graph) {
  std::set<Perm> orders;
  for (const om::Node& node : graph.nodes) {
    if (node.op == "Transpose") orders.insert(om::GetInts(node, "perm"));
  }
  return orders;
}

Status Clean(om::Graph& graph) {
  NPUSTREAM_RETURN_IF_ERROR(RemoveDeadCode(graph));
  NPUSTREAM_RETURN_IF_ERROR(FoldConstants(graph));
  NPUSTREAM_RETURN_IF_ERROR(MergeReshapes(graph));
  return RemoveDeadCode(graph);
}

bool BringsChannelsToFront(const om::Node& node) {
  const Perm perm = om::GetInts(node, "perm");
  return node.op == "Transpose" && perm.size() >= 4 && perm[0] == 0 && perm[1] == static_cast<int64_t>(perm.size()) - 1 &&
         std::is_sorted(perm.begin() + 2, perm.end());
}

// The input of `node` that alone is computed, when a transposition of the result may as well be one of that input; else −1.
int TurnableInput(const om::Graph& graph, const om::Node& node) {
  if (node.op != "Pad" && !IsUnary(node.op) && !IsBroadcasting(node.op)) return -1;
  int computed = -1;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == om::kNoTensor) return -1;
    if (TensorOf(graph, node.inputs[i]).is_constant()) continue;
    if (computed >= 0) return -1;
    computed = static_cast<int>(i);
  }
  if (computed < 0 || !IsPerTensor(TensorOf(graph, node.outputs[0]))) return -1;
  const om::Dims& dims = TensorOf(graph, node.inputs[static_cast<size_t>(computed)]).dims;
  const om::Dims& result = TensorOf(graph, node.outputs[0]).dims;
  return dims.size() == result.size() && (node.op == "Pad" || dims == result) ? computed : -1;
}

// Moves one transposition up by one operator; false when there is none to move.
bool HoistOne(om::Graph& graph) {
  const Uses uses(graph);
  for (size_t t = 0; t < graph.nodes.size(); ++t) {
    const om::Node turn = graph.nodes[t];
    if (!BringsChannelsToFront(turn) || uses.OnlyConsumer(turn.inputs[0]) < 0) continue;
    const int producer = uses.Producer(turn.inputs[0]);
    if (producer < 0 || TurnableInput(graph, graph.nodes[static_cast<size_t>(producer)]) < 0) continue;
    const Perm perm = om::GetInts(turn, "perm");
    om::Node moved = graph.nodes[static_cast<size_t>(producer)];
    Perm unused;
    if (!TurnAttributes(Inverse(perm), moved, unused)) continue;
    NodeList nodes(graph);
    const std::vector<om::Node> before = std::move(graph.nodes);
    for (size_t n = 0; n < before.size(); ++n) {
      if (n == t) continue;
      if (static_cast<int>(n) != producer) {
        nodes.Push(before[n]);
        continue;
      }
      for (om::TensorId& id : moved.inputs) id = nodes.Turned(id, perm.size(), perm);
      moved.outputs = turn.outputs;
      nodes.Push(moved);
    }
    graph.nodes = nodes.Take();
    return true;
  }
  return false;
}

}  // namespace

Status SinkTransposes(om::Graph& graph) {
  for (const Perm& order : OrdersOf(graph)) {
    om::Graph before = graph, after = graph;
    Sinker(after, order).Run();
    NPUSTREAM_RETURN_IF_ERROR(Clean(before));
    NPUSTREAM_RETURN_IF_ERROR(Clean(after));
    if (MovedElements(after) < MovedElements(before)) graph = std::move(after);
  }
  bool hoisted = false;
  while (HoistOne(graph)) hoisted = true;
  return hoisted ? Clean(graph) : Status();
}

}  // namespace npustream::compiler
