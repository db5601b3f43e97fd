#include "npu_sim/compiler/custom_passes.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/ir/verify.h"
#include "npu_sim/compiler/passes/remove_dead_code.h"
#include "npu_sim/extension/custom_operator.h"
#include "npu_sim/kernels/kernel.h"

namespace npustream::compiler {
namespace {

// What the functions of NpustreamGraph work on. Numbers that are out of range do nothing, and are remembered.
struct Session {
  om::Graph& graph;
  bool misused = false;
  std::set<int32_t> changed = {};  // nodes

  om::Node* Node(int32_t node) {
    if (node >= 0 && static_cast<size_t>(node) < graph.nodes.size()) return &graph.nodes[static_cast<size_t>(node)];
    misused = true;
    return nullptr;
  }
  om::Tensor* Tensor(int32_t tensor) {
    if (tensor >= 0 && static_cast<size_t>(tensor) < graph.tensors.size())
      return &graph.tensors[static_cast<size_t>(tensor)];
    misused = true;
    return nullptr;
  }
};

Session& Of(void* handle) { return *static_cast<Session*>(handle); }

int32_t At(const std::vector<om::TensorId>& ids, int32_t index) {
  return index >= 0 && static_cast<size_t>(index) < ids.size() ? ids[static_cast<size_t>(index)] : -1;
}

void ReadTensor(void* handle, int32_t id, NpustreamTensor* result) {
  *result = extension::AbsentTensor();
  const om::Tensor* tensor = Of(handle).Tensor(id);
  if (tensor == nullptr) return;
  const void* data = tensor->is_constant() ? tensor->constant->data() : nullptr;
  const auto read = extension::TensorOf(tensor->name.c_str(), tensor->type, tensor->dims, data);
  if (read.ok()) *result = *read;
}

int32_t ReaderCount(void* handle, int32_t id) {
  const om::Graph& graph = Of(handle).graph;
  auto count = std::count(graph.outputs.begin(), graph.outputs.end(), id);
  for (const om::Node& node : graph.nodes) count += std::count(node.inputs.begin(), node.inputs.end(), id);
  return static_cast<int32_t>(count);
}

int32_t Producer(void* handle, int32_t id) {
  const om::Graph& graph = Of(handle).graph;
  return id < 0 || static_cast<size_t>(id) >= graph.tensors.size() ? -1 : Uses(graph).Producer(id);
}

void ReplaceNode(void* handle, int32_t id, const char* type, const int32_t* inputs, int32_t input_count) {
  om::Node* node = Of(handle).Node(id);
  if (node == nullptr) return;
  Of(handle).changed.insert(id);
  node->op = type;
  node->inputs.assign(inputs, inputs + input_count);
  node->attributes.clear();
}

int32_t AddConstant(void* handle, const NpustreamTensor* constant) {
  Session& session = Of(handle);
  om::Tensor tensor{constant->name, static_cast<om::DataType>(constant->type), {}, nullptr};
  const bool sane = constant->rank >= 0 && constant->rank <= NPUSTREAM_EXTENSION_MAX_RANK &&
                    om::SizeOf(tensor.type) != 0 && constant->data != nullptr &&
                    std::all_of(constant->dims, constant->dims + constant->rank, [](int64_t dim) { return dim >= 0; });
  if (!sane) {
    session.misused = true;
    return -1;
  }
  tensor.dims.assign(constant->dims, constant->dims + constant->rank);
  const auto* bytes = static_cast<const std::byte*>(constant->data);
  tensor.constant = std::make_shared<const om::Bytes>(bytes, bytes + tensor.ByteSize());
  return AddTensor(session.graph, std::move(tensor));
}

template <typename T>
void SetAttribute(void* handle, int32_t id, const char* name, T value) {
  om::Node* node = Of(handle).Node(id);
  if (node == nullptr) return;
  Of(handle).changed.insert(id);
  node->attributes[name] = value;
}

NpustreamGraph Interface(Session& session) {
  NpustreamGraph graph = {};
  graph.handle = &session;
  graph.node_count = [](void* handle) { return static_cast<int32_t>(Of(handle).graph.nodes.size()); };
  graph.node_type = [](void* handle, int32_t id) {
    const om::Node* node = Of(handle).Node(id);
    return node ? node->op.c_str() : "";
  };
  graph.input_count = [](void* handle, int32_t id) {
    const om::Node* node = Of(handle).Node(id);
    return node ? static_cast<int32_t>(node->inputs.size()) : 0;
  };
  graph.input = [](void* handle, int32_t id, int32_t index) {
    const om::Node* node = Of(handle).Node(id);
    return node ? At(node->inputs, index) : -1;
  };
  graph.output = [](void* handle, int32_t id, int32_t index) {
    const om::Node* node = Of(handle).Node(id);
    return node ? At(node->outputs, index) : -1;
  };
  graph.attributes = [](void* handle, int32_t id, NpustreamAttributes* attributes) {
    static const om::Node kNone;
    const om::Node* node = Of(handle).Node(id);
    *attributes = extension::AttributesOf(node ? *node : kNone);
  };
  graph.tensor = ReadTensor;
  graph.producer = Producer;
  graph.reader_count = ReaderCount;
  graph.replace_node = ReplaceNode;
  graph.set_int = SetAttribute<int64_t>;
  graph.set_float = SetAttribute<float>;
  graph.add_constant = AddConstant;
  return graph;
}

// Whether every node that was changed has a kernel that agrees with its tensors.
Status CheckChanged(const Session& session) {
  for (const int32_t id : session.changed) {
    const om::Node& node = session.graph.nodes[static_cast<size_t>(id)];
    if (Status status = kernels::CheckNode(session.graph, node); !status.ok())
      return status.WithContext(fmt::format("node '{}' ({})", node.name, node.op));
  }
  return {};
}

}  // namespace

Status RunCustomPass(const NpustreamPass& pass, om::Graph& graph) {
  Session session{graph};
  const NpustreamGraph interface = Interface(session);
  const auto refuse = [&](std::string_view what) {
    return Status(StatusCode::kInvalidArgument, fmt::format("custom pass {}: {}", pass.name, what));
  };
  if (const char* sentence = pass.run(&interface)) return refuse(sentence);
  if (session.misused) return refuse("it used a number that no node or tensor has, or an impossible constant");
  if (Status status = VerifyGraph(graph); !status.ok()) return refuse(status.message());
  if (Status status = CheckChanged(session); !status.ok()) return refuse(status.message());
  return RemoveDeadCode(graph);
}

}  // namespace npustream::compiler
