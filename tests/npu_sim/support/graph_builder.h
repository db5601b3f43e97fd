#pragma once

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "npu_sim/om/graph.h"

namespace npustream::om {

// Puts small graphs together in a few lines.
class GraphBuilder {
 public:
  TensorId Input(Dims dims, DataType type = DataType::kFloat32) {
    const TensorId id = Add("input" + std::to_string(graph_.inputs.size()), std::move(dims), type);
    graph_.inputs.push_back(id);
    return id;
  }
  TensorId Floats(Dims dims, const std::vector<float>& values) {
    return Constant(std::move(dims), values, DataType::kFloat32);
  }
  TensorId Ints(Dims dims, const std::vector<int64_t>& values) {
    return Constant(std::move(dims), values, DataType::kInt64);
  }
  TensorId Int8s(Dims dims, const std::vector<int8_t>& values, Quantization quantization) {
    return Quantized(Constant(std::move(dims), values, DataType::kInt8), std::move(quantization));
  }
  // Says what the integers of a tensor stand for.
  TensorId Quantized(TensorId id, Quantization quantization) {
    graph_.tensors[static_cast<size_t>(id)].quantization = std::make_shared<const Quantization>(std::move(quantization));
    return id;
  }
  // Values in [−1, 1) that depend on the seed alone.
  TensorId Random(Dims dims, unsigned seed) {
    return Floats(dims, RandomFloats(static_cast<size_t>(ElementCount(dims)), seed));
  }

  TensorId Node(std::string op, std::vector<TensorId> inputs, Dims dims, Attributes attributes = {},
                DataType type = DataType::kFloat32) {
    return Nodes(std::move(op), std::move(inputs), {std::move(dims)}, std::move(attributes), type)[0];
  }
  std::vector<TensorId> Nodes(std::string op, std::vector<TensorId> inputs, const std::vector<Dims>& dims,
                              Attributes attributes = {}, DataType type = DataType::kFloat32) {
    const std::string name = op + "_" + std::to_string(graph_.nodes.size());
    std::vector<TensorId> outputs;
    for (const Dims& d : dims) outputs.push_back(Add(name + "_" + std::to_string(outputs.size()), d, type));
    graph_.nodes.push_back({name, std::move(op), std::move(inputs), outputs, std::move(attributes)});
    return outputs;
  }
  GraphBuilder& Output(TensorId id) {
    graph_.outputs.push_back(id);
    return *this;
  }
  const Graph& graph() const { return graph_; }

  static std::vector<float> RandomFloats(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random() % 20000) / 10000.0f - 1;
    return values;
  }

 private:
  TensorId Add(std::string name, Dims dims, DataType type) {
    graph_.tensors.push_back({std::move(name), type, std::move(dims), nullptr});
    return static_cast<TensorId>(graph_.tensors.size() - 1);
  }
  template <typename T>
  TensorId Constant(Dims dims, const std::vector<T>& values, DataType type) {
    const TensorId id = Add("constant" + std::to_string(graph_.tensors.size()), std::move(dims), type);
    Bytes bytes(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    graph_.tensors[static_cast<size_t>(id)].constant = std::make_shared<const Bytes>(std::move(bytes));
    return id;
  }

  Graph graph_;
};

template <typename T>
Bytes ToBytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename T>
std::vector<T> FromBytes(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace npustream::om
