#include "tests/npu_sim/compiler/support/parse_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <sstream>

#include "npu_sim/compiler/ir/rewrite.h"

namespace npustream::compiler {
namespace {

class GraphParser {
 public:
  om::Graph Run(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) ParseLine(line);
    }
    return std::move(graph_);
  }

 private:
  void ParseLine(const std::string& line) {
    line_ = line;
    at_ = 0;
    if (Skip("input ")) {
      graph_.inputs.push_back(TypedTensor());
    } else if (Skip("const ")) {
      const om::TensorId id = TypedTensor();
      Expect("= ");
      FillConstant(TensorOf(graph_, id));
    } else if (Skip("output ")) {
      graph_.outputs.push_back(Named(Word(" ")));
    } else {
      ParseNode();
    }
  }

  void ParseNode() {
    om::Node node;
    do {
      node.outputs.push_back(Skip("_") ? om::kNoTensor : TypedTensor());
    } while (Skip(", "));
    Expect("= ");
    node.op = Word("(");
    Expect("(");
    while (!Skip(")")) {
      const std::string name = Word(",)");
      node.inputs.push_back(name == "_" ? om::kNoTensor : Named(name));
      Skip(", ");
    }
    if (Skip(" {")) ParseAttributes(node);
    node.name = TensorOf(graph_, node.outputs[0]).name;
    graph_.nodes.push_back(std::move(node));
  }

  void ParseAttributes(om::Node& node) {
    while (!Skip("}")) {
      const std::string name = Word("=");
      Expect("=");
      node.attributes[name] = AttributeValue();
      Skip(", ");
    }
  }

  om::Attribute AttributeValue() {
    if (Skip("\"")) {
      std::string text = Word("\"");
      Expect("\"");
      return text;
    }
    if (Skip("[")) {
      const std::string list = Word("]");
      Expect("]");
      if (Skip("f")) return Numbers<float>(list);
      return Numbers<int64_t>(list);
    }
    const std::string number = Word(",}");
    if (number.back() == 'f') return std::stof(number);
    return static_cast<int64_t>(std::stoll(number));
  }

  template <typename T>
  static std::vector<T> Numbers(const std::string& list) {
    std::vector<T> values;
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ',');) values.push_back(static_cast<T>(std::stod(part)));
    return values;
  }

  void FillConstant(om::Tensor& tensor) {
    const size_t count = static_cast<size_t>(om::ElementCount(tensor.dims));
    std::vector<float> values(count);
    if (Skip("ramp bytes")) {
      for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>((i * 37) % 256);
    } else if (Skip("ramp")) {
      for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>((i * 37) % 101) / 50.0f - 1.0f;
    } else if (Skip("fill ")) {
      values.assign(count, std::stof(Word(" ")));
    } else {
      Expect("[");
      values = Numbers<float>(Word("]"));
    }
    ASSERT_EQ(values.size(), count) << line_;
    switch (tensor.type) {
      case om::DataType::kFloat32: return SetContent<float>(tensor, values);
      case om::DataType::kInt64: return SetContent<int64_t>(tensor, values);
      case om::DataType::kInt32: return SetContent<int32_t>(tensor, values);
      case om::DataType::kInt8: return SetContent<int8_t>(tensor, values);
      case om::DataType::kUInt8: return SetContent<uint8_t>(tensor, values);
      default: FAIL() << "a constant of this type: " << line_;
    }
  }

  template <typename T>
  static void SetContent(om::Tensor& tensor, const std::vector<float>& values) {
    const std::vector<T> content(values.begin(), values.end());
    const auto bytes = std::as_bytes(std::span(content));
    tensor.constant = std::make_shared<const om::Bytes>(bytes.begin(), bytes.end());
  }

  // " × scale from zero point", or lists of them and the axis: what the integers of a tensor stand for.
  void ParseQuantization(om::Tensor& tensor) {
    if (!Skip(" × ")) return;
    om::Quantization quantization;
    const auto part = [&] { return Skip("[") ? NumbersThrough("]") : std::vector<float>{std::stof(Word(" ,)"))}; };
    quantization.scales = part();
    Expect(" from ");
    const std::vector<float> zero_points = part();
    quantization.zero_points.assign(zero_points.begin(), zero_points.end());
    if (Skip(" on axis ")) quantization.axis = std::stoi(Word(" "));
    tensor.quantization = std::make_shared<const om::Quantization>(std::move(quantization));
  }

  std::vector<float> NumbersThrough(const char* end) {
    const std::string list = Word(end);
    Expect(end);
    return Numbers<float>(list);
  }

  // "name: type[dims]", a new tensor.
  om::TensorId TypedTensor() {
    om::Tensor tensor;
    tensor.name = Word(":");
    Expect(": ");
    const std::string type = Word("[");
    for (int number = 0; number < 28; ++number) {
      const auto candidate = static_cast<om::DataType>(number);
      if (om::ToString(candidate) == type) tensor.type = candidate;
    }
    Expect("[");
    tensor.dims = Numbers<int64_t>(Word("]"));
    Expect("]");
    ParseQuantization(tensor);
    Skip(" ");
    const om::TensorId id = AddTensor(graph_, std::move(tensor));
    ids_[TensorOf(graph_, id).name] = id;
    return id;
  }

  om::TensorId Named(const std::string& name) {
    const auto found = ids_.find(name);
    EXPECT_NE(found, ids_.end()) << "no tensor '" << name << "' before: " << line_;
    return found == ids_.end() ? 0 : found->second;
  }

  bool Skip(const std::string& text) {
    if (line_.compare(at_, text.size(), text) != 0) return false;
    at_ += text.size();
    return true;
  }
  void Expect(const std::string& text) { EXPECT_TRUE(Skip(text)) << "'" << text << "' at " << at_ << ": " << line_; }
  std::string Word(const char* ends) {
    const size_t end = std::min(line_.find_first_of(ends, at_), line_.size());
    std::string word = line_.substr(at_, end - at_);
    at_ = end;
    return word;
  }

  om::Graph graph_;
  std::map<std::string, om::TensorId> ids_;
  std::string line_;
  size_t at_ = 0;
};

}  // namespace

om::Graph ParseGraph(const std::string& text) { return GraphParser().Run(text); }

}  // namespace npustream::compiler
