#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/onnx/onnx_model.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// What the importers of one model share: the graph that grows and the names that are known.
struct ImportState {
  int64_t opset = 0;
  om::Graph graph;
  std::map<std::string, om::TensorId, std::less<>> tensors;  // by ONNX name
  int64_t iterations = 0;                                    // of unrolled loops, so far
  uint64_t given_bytes = 0, made_bytes = 0;                  // of constants: the file's own, and those that importers made
};

// One ONNX node on its way into the graph. An importer reads inputs and attributes, checks what the operator demands,
// computes the result's dims and calls Output (or Emit and Bind when it needs several nodes).
class ImportContext {
 public:
  ImportContext(ImportState& state, const OnnxNode& node, std::vector<om::TensorId> inputs)
      : state_(state), node_(node), inputs_(std::move(inputs)) {}

  const OnnxNode& node() const { return node_; }
  int64_t opset() const { return state_.opset; }

  size_t InputCount() const { return inputs_.size(); }
  // False when the input is beyond the node's list or left out.
  bool HasInput(size_t i) const { return i < inputs_.size() && inputs_[i] != om::kNoTensor; }
  om::TensorId InputId(size_t i) const { return HasInput(i) ? inputs_[i] : om::kNoTensor; }
  // The tensor of an input that is present.
  const om::Tensor& Input(size_t i) const { return Tensor(inputs_[i]); }
  const om::Tensor& Tensor(om::TensorId id) const { return state_.graph.tensors[static_cast<size_t>(id)]; }
  // A copy, since the graph's tensors move when another one is added.
  om::Dims Dims(size_t i) const { return Input(i).dims; }
  int64_t Rank(size_t i) const { return static_cast<int64_t>(Dims(i).size()); }
  // The values of an input that must be constant; a sentence that says so otherwise. `what` names it ("the shape").
  Result<std::vector<int64_t>> ConstantInts(size_t i, std::string_view what) const;
  Result<std::vector<float>> ConstantFloats(size_t i, std::string_view what) const;

  bool HasAttribute(const std::string& name) const { return node_.attributes.count(name) != 0; }
  int64_t Int(const std::string& name, int64_t otherwise) const;
  float Float(const std::string& name, float otherwise) const;
  std::string String(const std::string& name, const std::string& otherwise) const;
  std::vector<int64_t> Ints(const std::string& name, const std::vector<int64_t>& otherwise = {}) const;
  std::vector<float> Floats(const std::string& name, const std::vector<float>& otherwise = {}) const;
  // An axis of input `i`, counted from the front. An error when it is out of range.
  Result<int64_t> Axis(int64_t axis, int64_t rank) const;

  // Whether anybody may read output `i` of the ONNX node.
  bool WantsOutput(size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }
  // Appends a node whose one result becomes output 0.
  Status Output(std::string op, std::vector<om::TensorId> inputs, om::Attributes attributes, om::DataType type,
                om::Dims dims);
  // The same with the type of input 0.
  Status Output(std::string op, std::vector<om::TensorId> inputs, om::Attributes attributes, om::Dims dims) {
    return Output(std::move(op), std::move(inputs), std::move(attributes), Input(0).type, std::move(dims));
  }
  // Appends a node for an intermediate result.
  Result<om::TensorId> Emit(std::string op, std::vector<om::TensorId> inputs, om::Attributes attributes,
                            om::DataType type, om::Dims dims);
  // The same, computed right away when all inputs are constants: for operands that kernels only take as constants.
  Result<om::TensorId> EmitFolded(std::string op, std::vector<om::TensorId> inputs, om::Attributes attributes,
                                  om::DataType type, om::Dims dims);
  // Appends a node with several results.
  Result<std::vector<om::TensorId>> EmitMany(std::string op, std::vector<om::TensorId> inputs,
                                             om::Attributes attributes, const std::vector<om::Tensor>& results);
  // The same; they become outputs 0, 1, …, and unnamed ones are left out.
  Status OutputMany(std::string op, std::vector<om::TensorId> inputs, om::Attributes attributes,
                    const std::vector<om::Tensor>& results);
  // Imports an operator of the domain ai.onnx that this one is composed of: its first result.
  Result<om::TensorId> Compose(const std::string& op, std::vector<om::TensorId> inputs, om::Attributes attributes = {});
  // The tensor that output `i` was bound to.
  om::TensorId OutputId(size_t i) const;
  // The name of the first output that has one: what those of intermediate results begin with.
  const std::string& BaseName() const;
  // Says what the integers of a tensor stand for.
  void SetQuantization(om::TensorId id, om::Quantization quantization);
  // A tensor of the same integers that stand for numbers by `quantization`: `id` itself when it says nothing else.
  Result<om::TensorId> Quantized(om::TensorId id, om::Quantization quantization);
  // A new constant.
  om::TensorId Constant(om::Tensor tensor);
  // A new scalar, named after the node and `suffix` (".epsilon").
  om::TensorId Number(std::string_view suffix, float value);
  // Imports the graph that attribute `name` is: its outputs.
  Result<std::vector<om::TensorId>> Branch(const std::string& name, const std::vector<om::TensorId>& inputs = {});
  // An error when the loops of the model have been unrolled too often.
  Status CountIteration();
  // Lets output `i` of the ONNX node be an existing tensor.
  Status Bind(size_t i, om::TensorId id);

  // A failure that names the node: "node 'c3' (Conv): <sentence>".
  Status Error(const std::string& sentence, StatusCode code = StatusCode::kInvalidArgument) const;
  Status Unsupported(const std::string& sentence) const { return Error(sentence, StatusCode::kUnsupported); }

 private:
  Result<om::TensorId> Append(std::string op, std::vector<om::TensorId> inputs, om::Attributes attributes,
                              om::Tensor result);

  ImportState& state_;
  const OnnxNode& node_;
  const std::vector<om::TensorId> inputs_;
  int emitted_ = 0, composed_ = 0;
  std::vector<om::TensorId> bound_;  // by output
};

}  // namespace npustream::compiler
