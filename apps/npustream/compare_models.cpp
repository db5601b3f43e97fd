#include "apps/npustream/compare_models.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/npustream/npy_file.h"
#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/import_model.h"
#include "npu_sim/compiler/passes/fold_constants.h"
#include "npu_sim/compiler/passes/insert_aipp.h"
#include "npu_sim/compiler/passes/insert_quantization.h"
#include "npu_sim/compiler/quantize/output_error.h"
#include "npu_sim/om/om_reader.h"
#include "npu_sim/program/evaluate.h"

namespace npustream::apps {
namespace {

namespace fs = std::filesystem;

std::string OriginalName(std::string name) {
  for (const std::string_view suffix : {compiler::kBytesSuffix, compiler::kRoundedSuffix}) {
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  }
  return name;
}

const om::Tensor& TensorOf(const om::Graph& graph, om::TensorId id) { return graph.tensors[static_cast<size_t>(id)]; }

// The names of a graph's results of nodes, quantised ones by the name of what they stand for. Of two with one name the
// first counts.
std::map<std::string, om::TensorId> ResultsByName(const om::Graph& graph) {
  std::map<std::string, om::TensorId> results;
  for (const om::Node& node : graph.nodes) {
    for (const om::TensorId id : node.outputs) {
      if (id != om::kNoTensor) results.emplace(OriginalName(TensorOf(graph, id).name), id);
    }
  }
  return results;
}

// Runs a graph with the tensors of `wanted`: their contents. One that is an input goes through a copy.
Result<std::vector<om::Bytes>> RunKeeping(om::Graph graph, const std::vector<om::TensorId>& wanted,
                                          const std::vector<om::Bytes>& inputs) {
  graph.outputs = wanted;
  NPUSTREAM_ASSIGN_OR_RETURN(const auto evaluator, program::GraphEvaluator::Create(graph));
  return evaluator->Run(inputs);
}

// The numbers that a tensor's content stands for.
std::vector<float> RealValues(const om::Tensor& tensor, const om::Bytes& content) {
  om::Tensor constant{tensor.name, tensor.type, tensor.dims, std::make_shared<const om::Bytes>(content)};
  const auto read = compiler::ReadFloats(constant);
  std::vector<float> values = read.ok() ? *read : std::vector<float>();
  if (!tensor.quantization) return values;
  const om::Quantization& q = *tensor.quantization;
  int64_t inner = 1;
  for (size_t axis = static_cast<size_t>(q.axis) + 1; axis < tensor.dims.size(); ++axis) inner *= tensor.dims[axis];
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t k = q.IsPerTensor() ? 0 : i / static_cast<size_t>(inner) % q.scales.size();
    values[i] = (values[i] - static_cast<float>(q.zero_points[k])) * q.scales[k];
  }
  return values;
}

void Measure(const std::vector<float>& expected, const std::vector<float>& got, TensorComparison& result) {
  compiler::ErrorSum sum;
  sum.Add(expected, got);
  result.cosine = sum.Cosine(), result.relative_error = sum.Relative(), result.max_error = sum.Largest();
  double total = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double apart = std::fabs(static_cast<double>(expected[i]) - static_cast<double>(got[i]));
    // What is finite in one of the two only is as wrong as can be.
    if (std::isfinite(expected[i]) != std::isfinite(got[i])) {
      result.relative_error = result.max_error = std::numeric_limits<double>::infinity();
      result.cosine = 0;
    }
    if (std::isfinite(apart)) total += apart;
  }
  result.mean_error = expected.empty() ? 0 : total / static_cast<double>(expected.size());
}

Status Dump(const fs::path& folder, const char* side, const om::Tensor& tensor, const std::vector<float>& values) {
  std::string name = OriginalName(tensor.name);
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == ':'; }, '_');
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return WriteNpy(folder / fmt::format("{}_{}.npy", side, name),
                  {om::DataType::kFloat32, tensor.dims, om::Bytes(bytes, bytes + values.size() * sizeof(float))});
}

std::vector<std::string> NamesOf(const om::Graph& graph, const std::vector<om::TensorId>& ids) {
  std::vector<std::string> names;
  for (const om::TensorId id : ids) names.push_back(TensorOf(graph, id).name);
  return names;
}

}  // namespace

const TensorComparison* ModelComparison::FirstOver(double threshold) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const TensorComparison& tensor) { return tensor.relative_error > threshold; });
  return found == tensors.end() ? nullptr : &*found;
}

bool ModelComparison::OutputsWithin(double threshold) const {
  return std::all_of(tensors.begin(), tensors.end(), [&](const TensorComparison& tensor) {
    return !tensor.is_output || tensor.relative_error <= threshold;
  });
}

Result<ModelPair> ModelPair::Load(const fs::path& onnx, const fs::path& om) {
  NPUSTREAM_ASSIGN_OR_RETURN(const compiler::OnnxModel model, compiler::ReadOnnxModel(onnx));
  NPUSTREAM_ASSIGN_OR_RETURN(const auto file, om::OmFile::Open(om));
  ModelPair pair;
  NPUSTREAM_ASSIGN_OR_RETURN(pair.offline_, file->LoadGraph(0));
  compiler::ImportOptions import;
  import.outputs = NamesOf(pair.offline_, pair.offline_.outputs);
  for (const om::TensorId id : pair.offline_.inputs) {
    const om::Tensor& input = TensorOf(pair.offline_, id);
    import.input_shapes[input.name] = input.dims;
    for (const om::Node& node : pair.offline_.nodes) {
      if (node.op == "Aipp" && node.inputs[0] == id) import.input_shapes[input.name] = TensorOf(pair.offline_, node.outputs[0]).dims;
    }
  }
  Result<om::Graph> reference = compiler::ImportModel(model, import);
  if (!reference.ok()) return reference.status().WithContext(onnx.string());
  pair.reference_ = std::move(*reference);
  // Kernels want weights as constants, and real ones.
  NPUSTREAM_RETURN_IF_ERROR(compiler::FoldConstants(pair.reference_));
  NPUSTREAM_RETURN_IF_ERROR(compiler::FoldQuantisedWeights(pair.reference_));
  const std::vector<std::string> inputs = NamesOf(pair.reference_, pair.reference_.inputs),
                                 expected = NamesOf(pair.offline_, pair.offline_.inputs);
  if (inputs != expected) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} is not made from {}: its inputs are {} instead of {}", om.string(), onnx.string(),
                              fmt::join(expected, ", "), fmt::join(inputs, ", ")));
  }
  NPUSTREAM_RETURN_IF_ERROR(compiler::InsertAipp(pair.reference_, file->info().aipp));
  return pair;
}

std::vector<om::Tensor> ModelPair::Inputs() const {
  std::vector<om::Tensor> inputs;
  for (const om::TensorId id : offline_.inputs) inputs.push_back(TensorOf(offline_, id));
  return inputs;
}

Result<ModelComparison> ModelPair::Compare(const std::vector<om::Bytes>& inputs, const fs::path& dump) const {
  const std::map<std::string, om::TensorId> reference = ResultsByName(reference_);
  ModelComparison result;
  std::vector<om::TensorId> expected_ids, got_ids;
  std::set<std::string> met;
  for (const om::Node& node : offline_.nodes) {
    for (const om::TensorId id : node.outputs) {
      if (id == om::kNoTensor) continue;
      const om::Tensor& tensor = TensorOf(offline_, id);
      const std::string name = OriginalName(tensor.name);
      const auto same = reference.find(name);
      if (same == reference.end() || TensorOf(reference_, same->second).dims != tensor.dims || !met.insert(name).second)
        continue;
      const bool is_output = std::find(offline_.outputs.begin(), offline_.outputs.end(), id) != offline_.outputs.end();
      result.tensors.push_back({node.name, node.op, name, tensor.dims, is_output});
      expected_ids.push_back(same->second);
      got_ids.push_back(id);
    }
  }
  for (const auto& [name, id] : reference) {
    if (met.count(name) == 0) result.gone.push_back(name);
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<om::Bytes> expected, RunKeeping(reference_, expected_ids, inputs));
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<om::Bytes> got, RunKeeping(offline_, got_ids, inputs));
  for (size_t i = 0; i < result.tensors.size(); ++i) {
    const om::Tensor &left = TensorOf(reference_, expected_ids[i]), &right = TensorOf(offline_, got_ids[i]);
    const std::vector<float> want = RealValues(left, expected[i]), have = RealValues(right, got[i]);
    Measure(want, have, result.tensors[i]);
    if (dump.empty()) continue;
    NPUSTREAM_RETURN_IF_ERROR(Dump(dump, "onnx", left, want));
    NPUSTREAM_RETURN_IF_ERROR(Dump(dump, "om", right, have));
  }
  return result;
}

}  // namespace npustream::apps
