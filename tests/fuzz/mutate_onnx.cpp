#include "tests/fuzz/mutate_onnx.h"

#include <algorithm>
#include <string>

namespace npustream::fuzz {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;

constexpr const char* kOperators[] = {
    "Abs", "Add", "And", "ArgMax", "ArgMin", "Atan", "AveragePool", "BatchNormalization", "Cast", "Ceil", "Clip", "Concat",
    "Constant", "ConstantOfShape", "Conv", "ConvInteger", "ConvTranspose", "Cos", "DepthToSpace", "DequantizeLinear", "Div",
    "Dropout", "Einsum", "Elu", "Equal", "Erf", "Exp", "Expand", "Flatten", "Floor", "Gather", "GatherElements", "GatherND",
    "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "Greater", "GridSample", "GroupNormalization", "HardSigmoid",
    "HardSwish", "Identity", "If", "InstanceNormalization", "LRN", "LayerNormalization", "LeakyRelu", "Less", "Log",
    "LogSoftmax", "Loop", "MatMul", "MatMulInteger", "Max", "MaxPool", "Mean", "Min", "Mish", "Mod", "Mul", "Neg",
    "NonMaxSuppression", "NonZero", "Not", "Or", "PRelu", "Pad", "Pow", "QLinearConv", "QLinearMatMul", "QuantizeLinear",
    "Range", "Reciprocal", "ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "Relu",
    "Reshape", "Resize", "Round", "ScatterElements", "ScatterND", "Selu", "Shape", "Sigmoid", "Sign", "Sin", "Size", "Slice",
    "Softmax", "Softplus", "Softsign", "SpaceToDepth", "Split", "Sqrt", "Squeeze", "Sub", "Sum", "Tan", "Tanh", "Tile",
    "TopK", "Transpose", "Unsqueeze", "Upsample", "Where", "Xor"};

constexpr const char* kAttributes[] = {
    "alpha", "auto_pad", "axes", "axis", "batch_dims", "beta", "blocksize", "ceil_mode", "center_point_box",
    "coordinate_transformation_mode", "count_include_pad", "dilations", "ends", "epsilon", "exclude_outside", "group",
    "keepdims", "kernel_shape", "largest", "max", "min", "mode", "nearest_mode", "num_outputs", "output_padding",
    "output_shape", "pads", "perm", "reduction", "scales", "select_last_index", "split", "starts", "steps", "strides", "to",
    "transA", "transB", "value", "value_int", "value_ints"};

constexpr const char* kTexts[] = {"", "SAME_UPPER", "SAME_LOWER", "VALID", "reflect", "edge", "wrap", "constant", "linear",
                                  "cubic", "nearest", "align_corners", "half_pixel", "asymmetric", "floor", "ceil", "CRD",
                                  "DCR", "add", "mul", "max", "tanh", "\xff\x1b[31m\x00", "a.b"};

template <typename T, size_t N>
const T& Pick(const T (&values)[N], Random& random) {
  return values[random.Below(N)];
}

// A name that some node, input or constant has.
std::string AnyName(const GraphProto& graph, Random& random) {
  std::vector<std::string> names = {"", "nobody"};
  for (const auto& input : graph.input()) names.push_back(input.name());
  for (const auto& constant : graph.initializer()) names.push_back(constant.name());
  for (const auto& node : graph.node()) names.insert(names.end(), node.output().begin(), node.output().end());
  return random.Of(names);
}

void SetContent(TensorProto& tensor, Random& random) {
  int64_t count = 1;
  for (const int64_t dim : tensor.dims()) {
    if (dim < 0 || dim > 4096 || count > 4096) return;  // the content no longer fits, which is a case of its own
    count *= dim;
  }
  for (auto* field : {tensor.mutable_int64_data()}) field->Clear();
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  if (!random.OneIn(4)) tensor.set_data_type(random.OneIn(2) ? TensorProto::FLOAT : TensorProto::INT64);
  const bool edges = random.OneIn(2);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t small = static_cast<int64_t>(random.Below(5)) - 1;
    switch (tensor.data_type()) {
      case TensorProto::FLOAT: tensor.add_float_data(edges ? random.Float() : static_cast<float>(small)); break;
      case TensorProto::DOUBLE: tensor.add_double_data(static_cast<double>(random.Float())); break;
      case TensorProto::INT64: tensor.add_int64_data(edges ? random.Int() : small); break;
      case TensorProto::UINT64:
      case TensorProto::UINT32: tensor.add_uint64_data(static_cast<uint64_t>(random.Int())); break;
      default: tensor.add_int32_data(static_cast<int32_t>(random.Int())); break;
    }
  }
}

void MutateTensor(TensorProto& tensor, Random& random) {
  switch (random.Below(6)) {
    case 0: tensor.set_data_type(static_cast<int>(random.Below(18))); break;
    case 1: tensor.add_dims(random.Int()); break;
    case 2:
      if (tensor.dims_size() > 0) tensor.mutable_dims()->RemoveLast();
      break;
    case 3: {
      // The first elements, so that shape and content agree.
      if (tensor.dims_size() == 0) break;
      tensor.set_dims(static_cast<int>(random.Below(static_cast<size_t>(tensor.dims_size()))), random.Int());
      if (random.OneIn(2)) SetContent(tensor, random);
      break;
    }
    case 4: {
      if (tensor.raw_data().empty()) return SetContent(tensor, random);
      std::string& raw = *tensor.mutable_raw_data();
      for (size_t i = random.Below(4) + 1; i > 0; --i) raw[random.Below(raw.size())] = static_cast<char>(random.Bits());
      break;
    }
    default: {
      if (random.OneIn(4)) {
        tensor.set_data_location(TensorProto::EXTERNAL);
        auto* entry = tensor.add_external_data();
        entry->set_key(random.OneIn(2) ? "location" : "offset");
        entry->set_value(random.OneIn(2) ? "../../etc/passwd" : "nowhere.bin");
        break;
      }
      SetContent(tensor, random);
    }
  }
}

void MutateAttribute(AttributeProto& attribute, Random& random) {
  switch (random.Below(8)) {
    case 0: attribute.set_type(static_cast<AttributeProto::AttributeType>(1 + random.Below(10))); break;
    case 1: attribute.set_name(Pick(kAttributes, random)); break;
    default: break;
  }
  switch (attribute.type()) {
    case AttributeProto::INT: return attribute.set_i(random.Int());
    case AttributeProto::FLOAT: return attribute.set_f(random.Float());
    case AttributeProto::STRING: return attribute.set_s(Pick(kTexts, random));
    case AttributeProto::TENSOR: return MutateTensor(*attribute.mutable_t(), random);
    case AttributeProto::FLOATS: return attribute.add_floats(random.Float());
    case AttributeProto::INTS: {
      if (attribute.ints_size() == 0 || random.OneIn(6)) return attribute.add_ints(random.Int());
      if (random.OneIn(6)) return attribute.mutable_ints()->RemoveLast();
      return attribute.set_ints(static_cast<int>(random.Below(static_cast<size_t>(attribute.ints_size()))), random.Int());
    }
    default: return;
  }
}

void AddAttribute(NodeProto& node, Random& random) {
  constexpr AttributeProto::AttributeType kTypes[] = {AttributeProto::INT, AttributeProto::INTS, AttributeProto::FLOAT,
                                                      AttributeProto::STRING, AttributeProto::FLOATS};
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(Pick(kAttributes, random));
  attribute.set_type(Pick(kTypes, random));
  for (size_t i = random.Below(5); i > 0; --i) MutateAttribute(attribute, random);
}

void MutateNode(NodeProto& node, GraphProto& graph, Random& random) {
  const auto place = [&](int size) { return static_cast<int>(random.Below(static_cast<size_t>(size))); };
  switch (random.Below(9)) {
    case 0: return node.set_op_type(Pick(kOperators, random));
    case 1: return node.add_input(AnyName(graph, random));
    case 2:
      if (node.input_size() > 0) node.mutable_input()->RemoveLast();
      return;
    case 3:
    case 4:
      if (node.input_size() > 0) node.set_input(place(node.input_size()), AnyName(graph, random));
      return;
    case 5:
      if (node.output_size() > 0 && random.OneIn(3)) return node.set_output(place(node.output_size()), AnyName(graph, random));
      return node.add_output(random.OneIn(2) ? "more" : AnyName(graph, random));
    case 6: return AddAttribute(node, random);
    case 7:
      if (node.attribute_size() > 0 && random.OneIn(3)) return node.mutable_attribute()->RemoveLast();
      [[fallthrough]];
    default:
      if (node.attribute_size() > 0) MutateAttribute(*node.mutable_attribute(place(node.attribute_size())), random);
  }
}

// A node between a tensor and one that reads it.
void InsertNode(GraphProto& graph, NodeProto& reader, Random& random) {
  if (reader.input_size() == 0) return;
  const int place = static_cast<int>(random.Below(static_cast<size_t>(reader.input_size())));
  const std::string name = "inserted" + std::to_string(graph.node_size());
  NodeProto& node = *graph.add_node();
  node.set_op_type(Pick(kOperators, random));
  node.add_input(reader.input(place));
  while (random.OneIn(2)) node.add_input(AnyName(graph, random));
  node.add_output(name);
  if (random.OneIn(2)) AddAttribute(node, random);
  for (NodeProto& other : *graph.mutable_node()) {
    if (&other != &node && other.input_size() > place && other.input(place) == node.input(0) && random.OneIn(2))
      other.set_input(place, name);
  }
}

void MutateValue(onnx::ValueInfoProto& value, Random& random) {
  auto& type = *value.mutable_type()->mutable_tensor_type();
  auto& shape = *type.mutable_shape();
  switch (random.Below(5)) {
    case 0: return type.set_elem_type(static_cast<int>(random.Below(18)));
    case 1: return shape.add_dim()->set_dim_value(random.Int());
    case 2:
      if (shape.dim_size() > 0) shape.mutable_dim()->RemoveLast();
      return;
    case 3:
      if (shape.dim_size() > 0) return shape.mutable_dim(static_cast<int>(random.Below(static_cast<size_t>(shape.dim_size()))))->set_dim_param("N");
      return;
    default:
      if (shape.dim_size() > 0)
        shape.mutable_dim(static_cast<int>(random.Below(static_cast<size_t>(shape.dim_size()))))->set_dim_value(random.Int());
  }
}

// An input that was a constant, or the other way round.
void ExchangeConstant(GraphProto& graph, Random& random) {
  if (graph.initializer_size() > 0 && random.OneIn(2)) {
    const int place = static_cast<int>(random.Below(static_cast<size_t>(graph.initializer_size())));
    const TensorProto& constant = graph.initializer(place);
    auto* input = graph.add_input();
    input->set_name(constant.name());
    auto* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(constant.data_type());
    for (const int64_t dim : constant.dims()) type->mutable_shape()->add_dim()->set_dim_value(dim);
    graph.mutable_initializer()->DeleteSubrange(place, 1);
    return;
  }
  if (graph.input_size() == 0) return;
  const auto& input = graph.input(static_cast<int>(random.Below(static_cast<size_t>(graph.input_size()))));
  TensorProto& constant = *graph.add_initializer();
  constant.set_name(input.name());
  constant.set_data_type(input.type().tensor_type().elem_type());
  for (const auto& dim : input.type().tensor_type().shape().dim()) constant.add_dims(dim.dim_value());
  SetContent(constant, random);
}

void MutateOnce(ModelProto& model, Random& random) {
  GraphProto& graph = *model.mutable_graph();
  const int nodes = graph.node_size();
  const auto node = [&]() -> NodeProto& {
    return *graph.mutable_node(static_cast<int>(random.Below(static_cast<size_t>(nodes))));
  };
  switch (random.Below(16)) {
    case 0:
      if (nodes > 0) graph.mutable_node()->DeleteSubrange(static_cast<int>(random.Below(static_cast<size_t>(nodes))), 1);
      return;
    case 1:
      if (nodes > 0) {
        const NodeProto copy = node();
        *graph.add_node() = copy;
        if (random.OneIn(2))
          for (std::string& output : *graph.mutable_node(nodes)->mutable_output()) output += "'";
      }
      return;
    case 2:
      if (nodes > 1) graph.mutable_node()->SwapElements(0, static_cast<int>(random.Below(static_cast<size_t>(nodes))));
      return;
    case 3:
    case 4:
      if (nodes > 0) InsertNode(graph, node(), random);
      return;
    case 5:
    case 6:
      if (graph.initializer_size() > 0)
        MutateTensor(*graph.mutable_initializer(static_cast<int>(random.Below(static_cast<size_t>(graph.initializer_size())))), random);
      return;
    case 7:
      if (graph.input_size() > 0)
        MutateValue(*graph.mutable_input(static_cast<int>(random.Below(static_cast<size_t>(graph.input_size())))), random);
      return;
    case 8: return ExchangeConstant(graph, random);
    case 9: {
      if (random.OneIn(2) && graph.output_size() > 1) return graph.mutable_output()->RemoveLast();
      graph.add_output()->set_name(AnyName(graph, random));
      return;
    }
    case 10:
      if (model.opset_import_size() > 0) model.mutable_opset_import(0)->set_version(static_cast<int64_t>(random.Below(24)));
      return;
    default:
      if (nodes > 0) MutateNode(node(), graph, random);
  }
}

}  // namespace

void MutateOnnx(ModelProto& model, Random& random) {
  for (size_t i = 1 + random.Below(3); i > 0; --i) MutateOnce(model, random);
}

}  // namespace npustream::fuzz
