#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/stubs/logging.h>

#include <limits>
#include <optional>

#include "base/file.h"
#include "npu_sim/compiler/onnx/inline_functions.h"
#include "npu_sim/compiler/onnx/onnx_model.h"
#include "npu_sim/compiler/onnx/tensor_proto.h"
#include "npu_sim/compiler/onnx/tensor_type.h"

namespace npustream::compiler {
namespace {

// Nested branches deeper than this are not a network but an attack on the stack.
constexpr int kMaxSubgraphDepth = 16;

struct Reader {
  ExternalFiles files;
  int depth = 0;

  Result<OnnxGraph> ReadGraph(const onnx::GraphProto& proto);
  Status ReadInitializers(const onnx::GraphProto& proto, OnnxGraph& graph);
  Result<OnnxNode> ReadNode(const onnx::NodeProto& proto, size_t position);
  Status ReadAttribute(const onnx::AttributeProto& proto, OnnxNode& node);
  Status ReadSubgraph(const onnx::AttributeProto& proto, OnnxNode& node);
};

OnnxValue NamedValue(const std::string& name) {
  OnnxValue value;
  value.name = name;
  return value;
}

Result<OnnxValue> ReadValue(const onnx::ValueInfoProto& proto) {
  OnnxValue value;
  value.name = proto.name();
  if (!proto.type().has_tensor_type()) {
    return Status(StatusCode::kUnsupported, fmt::format("'{}' is not a tensor", proto.name()));
  }
  const auto& tensor_type = proto.type().tensor_type();
  const std::optional<om::DataType> type = DataTypeFromOnnx(tensor_type.elem_type());
  if (!type) {
    return Status(StatusCode::kUnsupported, fmt::format("'{}' has element type {}, which is not supported",
                                                        proto.name(), OnnxTypeName(tensor_type.elem_type())));
  }
  value.type = *type;
  value.has_shape = tensor_type.has_shape();
  for (const auto& dim : tensor_type.shape().dim()) {
    value.dims.push_back({dim.has_dim_value() ? dim.dim_value() : -1, dim.dim_param()});
  }
  return value;
}

Status Reader::ReadSubgraph(const onnx::AttributeProto& proto, OnnxNode& node) {
  if (depth >= kMaxSubgraphDepth) return {StatusCode::kCorruptData, "subgraphs are nested too deeply"};
  ++depth;
  Result<OnnxGraph> graph = ReadGraph(proto.g());
  --depth;
  if (!graph.ok()) return graph.status();
  node.subgraphs[proto.name()] = std::make_shared<const OnnxGraph>(std::move(*graph));
  return {};
}

Status Reader::ReadAttribute(const onnx::AttributeProto& proto, OnnxNode& node) {
  switch (proto.type()) {
    case onnx::AttributeProto::INT: node.attributes[proto.name()] = static_cast<int64_t>(proto.i()); break;
    case onnx::AttributeProto::FLOAT: node.attributes[proto.name()] = proto.f(); break;
    case onnx::AttributeProto::STRING: node.attributes[proto.name()] = proto.s(); break;
    case onnx::AttributeProto::INTS:
      node.attributes[proto.name()] = std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
      break;
    case onnx::AttributeProto::FLOATS:
      node.attributes[proto.name()] = std::vector<float>(proto.floats().begin(), proto.floats().end());
      break;
    case onnx::AttributeProto::TENSOR: {
      Result<om::Tensor> tensor = ReadTensorProto(proto.t(), files);
      if (!tensor.ok()) return tensor.status();
      node.tensors[proto.name()] = std::move(*tensor);
      break;
    }
    case onnx::AttributeProto::STRINGS:
      node.attributes[proto.name()] = fmt::format("{}", fmt::join(proto.strings(), ","));
      break;
    case onnx::AttributeProto::GRAPH: return ReadSubgraph(proto, node);
    default: break;  // sparse tensors, types: no operator that we import has one
  }
  return {};
}

Result<OnnxNode> Reader::ReadNode(const onnx::NodeProto& proto, size_t position) {
  OnnxNode node;
  node.op = proto.op_type();
  node.name = proto.name().empty() ? fmt::format("{}_{}", node.op, position) : proto.name();
  node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (const auto& attribute : proto.attribute()) {
    if (Status status = ReadAttribute(attribute, node); !status.ok()) {
      if (depth > 0) return status;  // the outermost node says enough
      return status.WithContext(fmt::format("node '{}' ({})", node.name, node.op));
    }
  }
  return node;
}

Status Reader::ReadInitializers(const onnx::GraphProto& proto, OnnxGraph& graph) {
  if (proto.sparse_initializer_size() > 0) {
    return {StatusCode::kUnsupported, "the model has sparse constants, which are not supported"};
  }
  for (const auto& initializer : proto.initializer()) {
    NPUSTREAM_ASSIGN_OR_RETURN(om::Tensor tensor, ReadTensorProto(initializer, files));
    graph.initializers[initializer.name()] = std::move(tensor);
  }
  return {};
}

Result<OnnxGraph> Reader::ReadGraph(const onnx::GraphProto& proto) {
  OnnxGraph graph;
  graph.name = proto.name();
  NPUSTREAM_RETURN_IF_ERROR(ReadInitializers(proto, graph));
  for (const auto& input : proto.input()) {
    if (graph.initializers.count(input.name()) != 0) continue;
    // What a body gets is known without its saying so.
    const bool untyped = depth > 0 && input.type().value_case() == onnx::TypeProto::VALUE_NOT_SET;
    NPUSTREAM_ASSIGN_OR_RETURN(graph.inputs.emplace_back(), untyped ? NamedValue(input.name()) : ReadValue(input));
  }
  for (const auto& output : proto.output()) {
    // Outputs often lack a type in subgraphs and in hand-made models; only the name is needed.
    Result<OnnxValue> value = ReadValue(output);
    graph.outputs.push_back(value.ok() ? std::move(*value) : NamedValue(output.name()));
  }
  for (const auto& node_proto : proto.node()) {
    NPUSTREAM_ASSIGN_OR_RETURN(OnnxNode node, ReadNode(node_proto, graph.nodes.size()));
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

Status NotOnnx(const std::string& why) { return {StatusCode::kCorruptData, "not an ONNX model: " + why}; }

Status ReadOpsets(const onnx::ModelProto& proto, OnnxModel& model) {
  for (const auto& entry : proto.opset_import()) {
    if (entry.domain().empty() || entry.domain() == "ai.onnx") {
      model.opset = entry.version();
    } else {
      model.other_opsets[entry.domain()] = entry.version();
    }
  }
  if (proto.opset_import_size() == 0) return NotOnnx("it names no operator set");
  return {};
}

}  // namespace

Result<OnnxModel> ParseOnnxModel(std::span<const std::byte> bytes, const std::filesystem::path& folder) {
  if (bytes.empty()) return NotOnnx("the file is empty");
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return NotOnnx("files above 2 GiB keep their weights in external data");
  }
  google::protobuf::LogSilencer quiet;
  onnx::ModelProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return NotOnnx("the file is truncated or of another kind");
  }
  if (proto.ir_version() <= 0 || !proto.has_graph()) return NotOnnx("it has no graph");
  OnnxModel model;
  model.ir_version = proto.ir_version();
  model.producer = proto.producer_name();
  NPUSTREAM_RETURN_IF_ERROR(ReadOpsets(proto, model));
  NPUSTREAM_RETURN_IF_ERROR(InlineFunctions(proto));
  NPUSTREAM_ASSIGN_OR_RETURN(model.graph, Reader{ExternalFiles(folder)}.ReadGraph(proto.graph()));
  return model;
}

Result<OnnxModel> ReadOnnxModel(const std::filesystem::path& path) {
  Result<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  Result<OnnxModel> model = ParseOnnxModel(file->bytes(), path.parent_path());
  if (!model.ok()) return model.status().WithContext(path.string());
  return model;
}

}  // namespace npustream::compiler
