#pragma once

#include <string>
#include <vector>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/onnx_model.h"

namespace npustream::compiler {

// Puts small ONNX models together in a few lines: ModelBuilder(13).Input("x", {1, 4}).Node("Relu", {"x"},
// "y").Output("y").
class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 13) {
    model_.ir_version = 8;
    model_.opset = opset;
  }

  // A dim of −1 is the symbol "batch".
  ModelBuilder& Input(const std::string& name, const om::Dims& dims, om::DataType type = om::DataType::kFloat32) {
    OnnxValue value{name, type, true, {}};
    for (const int64_t dim : dims) value.dims.push_back({dim, dim < 0 ? "batch" : ""});
    model_.graph.inputs.push_back(std::move(value));
    return *this;
  }
  ModelBuilder& Output(const std::string& name) {
    model_.graph.outputs.push_back({name, om::DataType::kFloat32, false, {}});
    return *this;
  }
  // A float constant whose values count up from 0 in steps of 1/8.
  ModelBuilder& Weights(const std::string& name, const om::Dims& dims) {
    std::vector<float> values(static_cast<size_t>(om::ElementCount(dims)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 8;
    model_.graph.initializers[name] = MakeFloats(name, dims, values);
    return *this;
  }
  ModelBuilder& Floats(const std::string& name, const om::Dims& dims, const std::vector<float>& values) {
    model_.graph.initializers[name] = MakeFloats(name, dims, values);
    return *this;
  }
  ModelBuilder& Ints(const std::string& name, const std::vector<int64_t>& values) {
    model_.graph.initializers[name] = MakeInts(name, {static_cast<int64_t>(values.size())}, values);
    return *this;
  }
  ModelBuilder& Node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                     om::Attributes attributes = {}) {
    return NodeOfMany(op, inputs, {output}, std::move(attributes));
  }
  ModelBuilder& NodeOfMany(const std::string& op, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, om::Attributes attributes = {}) {
    OnnxNode node;
    node.op = op;
    node.name = op + "_" + std::to_string(model_.graph.nodes.size());
    node.inputs = inputs;
    node.outputs = outputs;
    node.attributes = std::move(attributes);
    model_.graph.nodes.push_back(std::move(node));
    return *this;
  }

  OnnxModel& model() { return model_; }
  operator const OnnxModel&() const { return model_; }  // NOLINT: the builder stands for its model

 private:
  OnnxModel model_;
};

}  // namespace npustream::compiler
