#include "npu_sim/compiler/passes/fuse_quantized.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/match.h"
#include "npu_sim/compiler/ir/quantized.h"
#include "npu_sim/compiler/passes/remove_dead_code.h"
#include "npu_sim/kernels/kernel.h"

namespace npustream::compiler {
namespace {

class Fuser {
 public:
  explicit Fuser(om::Graph& graph) : graph_(graph), uses_(graph), dead_(graph.nodes.size()) {}

  void Run() {
    for (size_t n = 0; n < dead_.size(); ++n) {
      const om::Node& node = graph_.nodes[n];
      if (node.op == "Conv") {
        FuseConv(n);
      } else if (node.op == "MatMul" || node.op == "Gemm") {
        FuseMatMul(n);
      } else if (node.op == "Add" || node.op == "Mul") {
        FuseBinary(n);
      } else if (node.op == "AveragePool" || node.op == "GlobalAveragePool") {
        FuseMean(n);
      } else if (PicksElements(node) || node.op == "Pad") {
        FusePicking(n);
      }
    }
    Finish();
  }

 private:
  om::TensorId Integers(om::TensorId id) const { return IntegersOf(graph_, uses_, id); }
  // The bytes that `id` is made of; kNoTensor when it is not made of bytes with one scale.
  om::TensorId Bytes(om::TensorId id) const {
    const om::TensorId integers = Integers(id);
    return integers != om::kNoTensor && IsByteTensor(TensorOf(graph_, integers)) ? integers : om::kNoTensor;
  }
  // The Quantize behind result `output` that makes bytes of it; −1 if there is none.
  int ByteReader(om::TensorId output) const {
    const int reader = QuantizedOnlyBy(graph_, uses_, output);
    return reader >= 0 && IsByteTensor(TensorOf(graph_, graph_.nodes[static_cast<size_t>(reader)].outputs[0])) ? reader
                                                                                                               : -1;
  }
  om::TensorId Behind(int quantize) const { return graph_.nodes[static_cast<size_t>(quantize)].outputs[0]; }

  // Takes `node` in place of node n and the Quantize nodes `readers`, if there is a kernel for it.
  bool Take(size_t n, om::Node node, const std::vector<int>& readers) {
    if (!kernels::CheckNode(graph_, node).ok()) return false;
    graph_.nodes[n] = std::move(node);
    for (const int reader : readers) dead_[static_cast<size_t>(reader)] = true;
    return true;
  }

  // Makes what multiplies a convolution's channels on the way to bytes its seventh input: the index of the Mul, nothing
  // when there is none.
  std::vector<int> Factors(om::Node& conv) {
    const int reader = uses_.OnlyConsumer(conv.outputs[0]);
    if (reader < 0 || conv.inputs.size() > 4) return {};
    const om::Node& mul = graph_.nodes[static_cast<size_t>(reader)];
    const om::Tensor& result = TensorOf(graph_, conv.outputs[0]);
    if (mul.op != "Mul" || ByteReader(mul.outputs[0]) < 0 || HasActivation(mul) || result.dims.size() != 4) return {};
    const om::TensorId other = mul.inputs[mul.inputs[0] == conv.outputs[0] ? 1 : 0];
    const auto values = PerChannelValues(graph_, other, 4, result.dims[1]);
    if (!values || TensorOf(graph_, mul.outputs[0]).dims != result.dims) return {};
    conv.inputs.resize(6, om::kNoTensor);
    conv.inputs.push_back(AddTensor(graph_, MakeFloats(TensorOf(graph_, other).name + ".row", {result.dims[1]}, *values)));
    conv.outputs = mul.outputs;
    return {reader};
  }

  // A convolution's bias as a constant of real numbers; kNoTensor when there is none. False when it is computed.
  bool RealBias(om::TensorId& bias) {
    if (bias == om::kNoTensor || TensorOf(graph_, bias).is_constant()) return true;
    const om::TensorId integers = Integers(bias);
    if (integers == om::kNoTensor || !TensorOf(graph_, integers).is_constant()) return false;
    const om::Tensor& tensor = TensorOf(graph_, integers);
    const om::Quantization& q = *tensor.quantization;
    Result<std::vector<int64_t>> stored = ReadInts(tensor);
    if (!stored.ok()) return false;
    std::vector<float> values(stored->size());
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t k = q.IsPerTensor() ? 0 : i % q.scales.size();
      values[i] = static_cast<float>(static_cast<double>((*stored)[i] - q.zero_points[k]) * q.scales[k]);
    }
    bias = AddTensor(graph_, MakeFloats(TensorOf(graph_, bias).name + ".real", tensor.dims, values));
    return true;
  }

  void FuseConv(size_t n) {
    om::Node node = graph_.nodes[n];
    node.inputs.resize(std::max<size_t>(node.inputs.size(), 3), om::kNoTensor);
    const om::TensorId x = Bytes(node.inputs[0]), w = Integers(node.inputs[1]);
    if (x == om::kNoTensor || w == om::kNoTensor || !TensorOf(graph_, w).is_constant()) return;
    node.inputs[0] = x, node.inputs[1] = w;
    if (HasResidual(node)) {
      node.inputs[3] = Bytes(node.inputs[3]);
      if (node.inputs[3] == om::kNoTensor) return;
    }
    om::Node multiplied = node;
    const std::vector<int> factors = Factors(multiplied);
    if (!factors.empty() && TakeConv(n, multiplied, factors)) return;
    TakeConv(n, node, {});
  }

  bool TakeConv(size_t n, om::Node node, const std::vector<int>& taken) {
    const om::TensorId whole = node.inputs[2] == om::kNoTensor ? om::kNoTensor : Integers(node.inputs[2]);
    if (whole != om::kNoTensor && TensorOf(graph_, whole).is_constant()) {
      om::Node exact = node;
      exact.inputs[2] = whole;
      if (TakeProduct(n, std::move(exact), taken)) return true;
    }
    return RealBias(node.inputs[2]) && TakeProduct(n, std::move(node), taken);
  }

  void FuseMatMul(size_t n) {
    om::Node node = graph_.nodes[n];
    const bool scaled = om::GetFloat(node, "alpha", 1) != 1 || om::GetFloat(node, "beta", 1) != 1;
    if (scaled || om::GetInt(node, "transA", 0) != 0) return;
    const om::TensorId x = Bytes(node.inputs[0]), w = Integers(node.inputs[1]);
    if (x == om::kNoTensor || w == om::kNoTensor || !TensorOf(graph_, w).is_constant()) return;
    node.op = "ByteMatMul";
    node.inputs[0] = x, node.inputs[1] = w;
    const std::vector<int> added = AddedRow(node);
    node.inputs.resize(3, om::kNoTensor);
    const om::TensorId bias = node.inputs[2];
    const bool is_computed = bias != om::kNoTensor && !TensorOf(graph_, bias).is_constant();
    const om::TensorId whole = is_computed ? Integers(bias) : om::kNoTensor;
    if (whole != om::kNoTensor && IsInSteps(whole, x, w)) {
      om::Node exact = node;
      exact.inputs[2] = whole;
      if (TakeProduct(n, std::move(exact), added)) return;
    }
    if (RealBias(node.inputs[2])) TakeProduct(n, std::move(node), added);
  }

  // Makes the constant row that an Add brings to a product its bias: the Add's index, nothing when there is none.
  std::vector<int> AddedRow(om::Node& product) {
    const int reader = uses_.OnlyConsumer(product.outputs[0]);
    if (reader < 0 || product.inputs.size() != 2 || HasActivation(product)) return {};
    const om::Node& add = graph_.nodes[static_cast<size_t>(reader)];
    if (add.op != "Add") return {};
    const om::Dims dims = TensorOf(graph_, product.outputs[0]).dims;
    om::Tensor row = TensorOf(graph_, add.inputs[add.inputs[0] == product.outputs[0] ? 1 : 0]);
    const bool is_row = row.is_constant() && row.type == om::DataType::kFloat32 && !row.dims.empty() &&
                        row.dims.back() == dims.back() && om::ElementCount(row.dims) == dims.back();
    if (!is_row || TensorOf(graph_, add.outputs[0]).dims != dims) return {};
    row.dims = {dims.back()};
    row.name += ".row";
    product.outputs = add.outputs;
    product.attributes.insert(add.attributes.begin(), add.attributes.end());
    product.inputs.push_back(AddTensor(graph_, std::move(row)));
    return {reader};
  }

  // Whether a constant bias counts in steps of the products of x and w.
  bool IsInSteps(om::TensorId bias, om::TensorId x, om::TensorId w) const {
    const om::Tensor& tensor = TensorOf(graph_, bias);
    if (!tensor.is_constant() || tensor.type != om::DataType::kInt32) return false;
    const om::Quantization &b = *tensor.quantization, &left = *TensorOf(graph_, x).quantization,
                           &right = *TensorOf(graph_, w).quantization;
    for (size_t i = 0; i < std::max(b.scales.size(), right.scales.size()); ++i) {
      const float product = left.scales[0] * right.scales[right.IsPerTensor() ? 0 : i % right.scales.size()];
      const size_t k = b.IsPerTensor() ? 0 : i % b.scales.size();
      // Exporters compute the product in other precisions.
      constexpr float kTolerance = 1e-5f;
      if (b.zero_points[k] != 0 || std::fabs(b.scales[k] - product) > kTolerance * product) return false;
    }
    return true;
  }

  // With a result of bytes, or else of real numbers.
  // `taken`: nodes whose work it does.
  bool TakeProduct(size_t n, om::Node node, const std::vector<int>& taken = {}) {
    const int reader = ByteReader(node.outputs[0]);
    if (reader >= 0) {
      om::Node bytes = node;
      bytes.outputs = {Behind(reader)};
      std::vector<int> all = taken;
      all.push_back(reader);
      if (Take(n, std::move(bytes), all)) return true;
    }
    return Take(n, std::move(node), taken);
  }

  void FuseBinary(size_t n) {
    om::Node node = graph_.nodes[n];
    const int reader = ByteReader(node.outputs[0]);
    if (reader < 0) return;
    for (om::TensorId& input : node.inputs) {
      input = Bytes(input);
      if (input == om::kNoTensor) return;
    }
    node.op = node.op == "Add" ? "ByteAdd" : "ByteMul";
    node.outputs = {Behind(reader)};
    Take(n, std::move(node), {reader});
  }

  void FuseMean(size_t n) {
    om::Node node = graph_.nodes[n];
    const int reader = ByteReader(node.outputs[0]);
    node.inputs[0] = Bytes(node.inputs[0]);
    if (reader < 0 || node.inputs[0] == om::kNoTensor) return;
    node.outputs = {Behind(reader)};
    Take(n, std::move(node), {reader});
  }

  void FusePicking(size_t n) {
    om::Node node = graph_.nodes[n];
    std::vector<int> readers;
    for (om::TensorId& output : node.outputs) {
      const int reader = output == om::kNoTensor ? -1 : ByteReader(output);
      if (reader < 0) return;
      readers.push_back(reader);
      output = Behind(reader);
    }
    const size_t count = node.op == "Concat" ? node.inputs.size() : 1;
    for (size_t i = 0; i < count; ++i) {
      node.inputs[i] = Bytes(node.inputs[i]);
      if (node.inputs[i] == om::kNoTensor) return;
    }
    const om::Tensor& first = TensorOf(graph_, node.outputs[0]);
    const bool alike = std::all_of(node.outputs.begin(), node.outputs.end(), [&](om::TensorId output) {
      return SameQuantization(TensorOf(graph_, output), first);
    });
    if (!alike) return;
    // What must be looked up first, and the nodes that do it.
    std::vector<om::Node> lookups;
    for (size_t i = 0; i < count; ++i) {
      if (!SameQuantization(TensorOf(graph_, node.inputs[i]), TensorOf(graph_, node.outputs[0])))
        node.inputs[i] = Requantize(node.inputs[i], *TensorOf(graph_, node.outputs[0]).quantization, lookups);
    }
    if (!Take(n, std::move(node), readers)) return;
    for (om::Node& lookup : lookups) inserted_.push_back({n, std::move(lookup)});
  }

  // A tensor of the same numbers by another quantisation, with the node that makes it.
  om::TensorId Requantize(om::TensorId from, const om::Quantization& to, std::vector<om::Node>& lookups) {
    const om::Quantization source = *TensorOf(graph_, from).quantization, target = to;
    om::Bytes bytes(256);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const float real = static_cast<float>(static_cast<int32_t>(i) - source.zero_points[0]) * source.scales[0];
      const float steps = std::nearbyint(real / target.scales[0]) + static_cast<float>(target.zero_points[0]);
      bytes[i] = static_cast<std::byte>(std::clamp(steps, 0.0f, 255.0f));
    }
    om::Tensor result = TensorOf(graph_, from);
    result.name += fmt::format(".requantised{}", inserted_.size() + lookups.size());
    result.quantization = std::make_shared<const om::Quantization>(target);
    om::Tensor table{result.name + ".table", om::DataType::kUInt8, {256},
                     std::make_shared<const om::Bytes>(std::move(bytes))};
    const std::string name = result.name;
    const om::TensorId table_id = AddTensor(graph_, std::move(table)), id = AddTensor(graph_, std::move(result));
    lookups.push_back({name, "Lookup", {from, table_id}, {id}, {}});
    return id;
  }

  // Takes out what is dead and puts in what was inserted.
  void Finish() {
    std::vector<om::Node> nodes;
    size_t next = 0;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (; next < inserted_.size() && inserted_[next].before == n; ++next)
        nodes.push_back(std::move(inserted_[next].node));
      if (!dead_[n]) nodes.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(nodes);
  }

  struct Insertion {
    size_t before;
    om::Node node;
  };

  om::Graph& graph_;
  const Uses uses_;
  std::vector<bool> dead_;
  std::vector<Insertion> inserted_;  // in order
};

}  // namespace

Status FuseQuantized(om::Graph& graph) {
  Fuser(graph).Run();
  // Dequantize nodes that nobody reads any more would keep tables out of convolutions.
  return RemoveDeadCode(graph);
}

Status FuseConvLookup(om::Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> dead(graph.nodes.size());
  for (om::Node& node : graph.nodes) {
    if (node.op != "Conv" || !IsByteTensor(TensorOf(graph, node.outputs[0])) || node.inputs.size() > 4) continue;
    const int reader = uses.OnlyConsumer(node.outputs[0]);
    if (reader < 0 || graph.nodes[static_cast<size_t>(reader)].op != "Lookup") continue;
    om::Node& lookup = graph.nodes[static_cast<size_t>(reader)];
    // The sums' own quantisation has to stay known.
    const om::Quantization& before = *TensorOf(graph, node.outputs[0]).quantization;
    node.attributes["table_scale"] = before.scales[0];
    node.attributes["table_zero_point"] = static_cast<int64_t>(before.zero_points[0]);
    node.inputs.resize(5, om::kNoTensor);
    node.inputs[4] = lookup.inputs[1];
    node.outputs[0] = lookup.outputs[0];
    dead[static_cast<size_t>(reader)] = true;
  }
  EraseNodes(graph, dead);
  return {};
}

}  // namespace npustream::compiler
