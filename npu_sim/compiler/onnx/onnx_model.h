#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// An ONNX file in plain structures: nothing outside read_model.cpp, inline_functions and tensor_proto sees protobuf.

struct OnnxDim {
  int64_t size = -1;   // −1 when it is symbolic or missing
  std::string symbol;  // its name, if it has one
};

// A graph input or output as declared.
struct OnnxValue {
  std::string name;
  om::DataType type = om::DataType::kFloat32;
  bool has_shape = false;
  std::vector<OnnxDim> dims;
};

struct OnnxGraph;

struct OnnxNode {
  std::string name;  // never empty: unnamed nodes are called <op>_<position>
  std::string op;
  std::string domain;  // "" for ai.onnx
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  om::Attributes attributes;                                          // lists of strings as one, separated by commas
  std::map<std::string, om::Tensor> tensors;                          // attributes that are tensors
  std::map<std::string, std::shared_ptr<const OnnxGraph>> subgraphs;  // branches and bodies; shared: nodes are copied
};

struct OnnxGraph {
  std::string name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxValue> inputs;  // without those that an initializer fills
  std::vector<OnnxValue> outputs;
  std::map<std::string, om::Tensor> initializers;
};

struct OnnxModel {
  int64_t ir_version = 0;
  int64_t opset = 0;  // of the domain ai.onnx
  std::map<std::string, int64_t> other_opsets;
  std::string producer;
  OnnxGraph graph;
};

// Reads a model and the external data files beside it. Errors are sentences that name the file: kNotFound, kIoError,
// kCorruptData (not an ONNX model, truncated, tensors of the wrong size), kUnsupported (strings, sparse tensors).
Result<OnnxModel> ReadOnnxModel(const std::filesystem::path& path);
// The same from bytes; external data is looked for in `folder`.
Result<OnnxModel> ParseOnnxModel(std::span<const std::byte> bytes, const std::filesystem::path& folder);

}  // namespace npustream::compiler
