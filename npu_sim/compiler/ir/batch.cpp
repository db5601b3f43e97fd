#include "npu_sim/compiler/ir/batch.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include "npu_sim/compiler/ir/rewrite.h"

namespace npustream::compiler {
namespace {

// Operators whose first input alone carries images, and that work on each image by itself whatever their attributes.
bool WorksPerImage(std::string_view op) {
  static const std::set<std::string_view> kOps = {
      "AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "GlobalAveragePool", "GlobalMaxPool", "MaxPool",
  };
  return kOps.count(op) != 0;
}

bool IsElementWise(std::string_view op) {
  static const std::set<std::string_view> kOps = {
      "Abs",
      "Acos",
      "Acosh",
      "Add",
      "And",
      "Asin",
      "Asinh",
      "Atan",
      "Atanh",
      "Cast",
      "Ceil",
      "Clip",
      "Cos",
      "Cosh",
      "Div",
      "Elu",
      "Equal",
      "Erf",
      "Exp",
      "Floor",
      "Gelu",
      "Greater",
      "GreaterOrEqual",
      "HardSigmoid",
      "HardSwish",
      "LeakyRelu",
      "Less",
      "LessOrEqual",
      "Log",
      "Max",
      "Min",
      "Mish",
      "Mod",
      "Mul",
      "Neg",
      "Not",
      "Or",
      "PRelu",
      "Pow",
      "Reciprocal",
      "Relu",
      "Round",
      "Sigmoid",
      "Sign",
      "Silu",
      "Sin",
      "Sinh",
      "Softplus",
      "Softsign",
      "Sqrt",
      "Sub",
      "Tan",
      "Tanh",
      "Where",
      "Xor",
  };
  return kOps.count(op) != 0;
}

// Whether every slice of a constant along axis 0 holds the same bytes.
bool SlicesAreEqual(const om::Tensor& tensor) {
  if (!tensor.is_constant() || tensor.dims.empty() || tensor.dims[0] < 1) return false;
  const size_t slice = tensor.constant->size() / static_cast<size_t>(tensor.dims[0]);
  for (int64_t i = 1; i < tensor.dims[0]; ++i) {
    if (std::memcmp(tensor.constant->data(), tensor.constant->data() + static_cast<size_t>(i) * slice, slice) != 0) {
      return false;
    }
  }
  return true;
}

class Analysis {
 public:
  Analysis(const om::Graph& graph, int64_t n) : graph_(graph), n_(n), carries_(graph.tensors.size()) {}

  std::optional<std::vector<bool>> Run() {
    for (const om::TensorId id : graph_.inputs) {
      if (!HasBatchAxis(id)) return std::nullopt;
      carries_[static_cast<size_t>(id)] = true;
    }
    for (const om::Node& node : graph_.nodes) {
      const bool reads_images =
          std::any_of(node.inputs.begin(), node.inputs.end(), [&](om::TensorId id) { return Carries(id); });
      if (!reads_images) continue;
      if (!KeepsImagesApart(node)) return std::nullopt;
      for (const om::TensorId id : node.outputs) {
        if (id == om::kNoTensor) continue;
        if (!HasBatchAxis(id)) return std::nullopt;
        carries_[static_cast<size_t>(id)] = true;
      }
    }
    for (const om::TensorId id : graph_.outputs) {
      if (!Carries(id)) return std::nullopt;
    }
    return carries_;
  }

 private:
  const om::Dims& DimsOf(om::TensorId id) const { return TensorOf(graph_, id).dims; }
  bool Carries(om::TensorId id) const { return id != om::kNoTensor && carries_[static_cast<size_t>(id)]; }
  bool HasBatchAxis(om::TensorId id) const { return !DimsOf(id).empty() && DimsOf(id)[0] == n_; }

  bool OnlyFirstCarries(const om::Node& node) const {
    return Carries(node.inputs[0]) &&
           std::none_of(node.inputs.begin() + 1, node.inputs.end(), [&](om::TensorId id) { return Carries(id); });
  }

  // An operand that is broadcast against a result of rank `rank` along axis 0: images, or the same for all of them.
  // A constant that repeats one value per image is cut later.
  bool FitsAlongBatch(om::TensorId id, size_t rank) {
    if (id == om::kNoTensor) return true;
    if (Carries(id)) return DimsOf(id).size() == rank;
    if (DimsOf(id).size() < rank || DimsOf(id)[0] == 1) return true;
    if (!SlicesAreEqual(TensorOf(graph_, id)) || DimsOf(id)[0] != n_) return false;
    carries_[static_cast<size_t>(id)] = true;
    return true;
  }

  bool AllFitAlongBatch(const om::Node& node, size_t rank) {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](om::TensorId id) { return FitsAlongBatch(id, rank); });
  }

  bool KeepsImagesApart(const om::Node& node) {
    const std::string_view op = node.op;
    const size_t rank = DimsOf(node.outputs[0]).size();
    if (IsElementWise(op)) return AllFitAlongBatch(node, rank);
    if (op == "Concat") return om::GetInt(node, "axis", 0) != 0 && AllFitAlongBatch(node, rank);
    if (op == "MatMul") return MatMulKeepsApart(node);
    if (!OnlyFirstCarries(node)) return false;
    return WorksPerImage(op) || MovesKeepApart(node) || AxisKeepsApart(node);
  }

  // Operators that rearrange elements.
  bool MovesKeepApart(const om::Node& node) const {
    const std::string_view op = node.op;
    if (op == "Reshape" || op == "Expand") return HasBatchAxis(node.outputs[0]);
    if (op == "Transpose") return om::GetInts(node, "perm").at(0) == 0;
    if (op == "Tile") return om::GetInts(node, "repeats").at(0) == 1;
    if (op == "Resize") return om::GetFloats(node, "scales").at(0) == 1;
    if (op == "Pad") {
      const std::vector<int64_t> pads = om::GetInts(node, "pads");
      return pads.at(0) == 0 && pads.at(pads.size() / 2) == 0;
    }
    if (op == "Gemm") {
      const bool bias_fits = node.inputs.size() < 3 || node.inputs[2] == om::kNoTensor ||
                             DimsOf(node.inputs[2]).size() < 2 || DimsOf(node.inputs[2])[0] == 1;
      return om::GetInt(node, "transA", 0) == 0 && bias_fits;
    }
    return false;
  }

  // Operators that work along an axis or several.
  static bool AxisKeepsApart(const om::Node& node) {
    static const std::set<std::string_view> kOneAxis = {
        "ArgMax", "ArgMin", "CumSum", "Gather", "LayerNormalization", "LogSoftmax", "Softmax", "Split"};
    if (kOneAxis.count(node.op) != 0) return om::GetInt(node, "axis", 0) != 0;
    if (node.op != "Slice" && !node.op.starts_with("Reduce")) return false;
    const std::vector<int64_t> axes = om::GetInts(node, "axes");
    return std::find(axes.begin(), axes.end(), 0) == axes.end();
  }

  // Axis 0 of images must be a row of the left side or a matrix of the stack, never what is summed over.
  bool MatMulKeepsApart(const om::Node& node) const {
    const om::TensorId left = node.inputs[0], right = node.inputs[1];
    const size_t rank = DimsOf(node.outputs[0]).size();
    if (Carries(left) && Carries(right)) {
      return rank >= 3 && DimsOf(left).size() == rank && DimsOf(right).size() == rank;
    }
    const om::TensorId images = Carries(left) ? left : right, other = Carries(left) ? right : left;
    if (DimsOf(images).size() != rank || (rank < 3 && !Carries(left))) return false;
    return DimsOf(other).size() < rank || rank < 3 || DimsOf(other)[0] == 1;
  }

  const om::Graph& graph_;
  const int64_t n_;
  std::vector<bool> carries_;
};

}  // namespace

std::optional<std::vector<bool>> FindBatchTensors(const om::Graph& graph, int64_t n) {
  return Analysis(graph, n).Run();
}

om::Graph CutToOneImage(om::Graph graph, int64_t n, const std::vector<bool>& batch_tensors) {
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (!batch_tensors[i]) continue;
    om::Tensor& tensor = graph.tensors[i];
    tensor.dims[0] = 1;
    if (!tensor.is_constant()) continue;
    const size_t slice = tensor.constant->size() / static_cast<size_t>(n);
    tensor.constant = std::make_shared<const om::Bytes>(tensor.constant->begin(),
                                                        tensor.constant->begin() + static_cast<std::ptrdiff_t>(slice));
  }
  return graph;
}

bool IsSingleImage(const om::Graph& graph) {
  const auto single = [&](om::TensorId id) {
    const om::Dims& dims = TensorOf(graph, id).dims;
    return !dims.empty() && dims[0] == 1;
  };
  return std::all_of(graph.inputs.begin(), graph.inputs.end(), single) &&
         std::all_of(graph.outputs.begin(), graph.outputs.end(), single);
}

}  // namespace npustream::compiler
