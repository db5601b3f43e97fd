#include "npu_sim/compiler/quantize/plan_quantization.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "npu_sim/compiler/gear_plans.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/passes/fold_constants.h"
#include "npu_sim/compiler/passes/insert_aipp.h"
#include "npu_sim/compiler/passes/insert_quantization.h"
#include "npu_sim/compiler/passes/separate_activations.h"
#include "npu_sim/compiler/quantize/channel_factors.h"
#include "npu_sim/compiler/quantize/output_error.h"
#include "npu_sim/compiler/quantize/sites.h"
#include "npu_sim/program/evaluate.h"

namespace npustream::compiler {
namespace {

// Samples that networks are compared on, and those that tell how much each single layer matters.
constexpr size_t kCompared = 8;
constexpr size_t kComparedPerLayer = 2;
// How many numbers of tables are tried.
constexpr size_t kTries = 24;

std::span<const float> AsFloats(const om::Bytes& bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

using Samples = std::vector<std::vector<om::Bytes>>;

class Planner {
 public:
  Planner(om::Graph graph, const CompileOptions& options, bool through_aipp, Samples samples,
          const QuantizationOptions& quantization)
      : graph_(std::move(graph)),
        options_(options),
        through_aipp_(through_aipp),
        samples_(std::move(samples)),
        quantization_(quantization) {}

  Result<QuantizationScheme> Run() {
    scheme_.tables = quantization_.tables;
    if (scheme_.tables) NPUSTREAM_RETURN_IF_ERROR(SeparateActivations(graph_));
    sites_ = FindQuantizationSites(graph_, quantization_.real_nodes);
    FindHeads();
    NPUSTREAM_RETURN_IF_ERROR(Observe());
    SetMeans();
    NPUSTREAM_RETURN_IF_ERROR(FitTables());
    NPUSTREAM_RETURN_IF_ERROR(ChooseFactors());
    NPUSTREAM_RETURN_IF_ERROR(ChooseMethod());
    if (scheme_.output_error > quantization_.error_limit) {
      NPUSTREAM_RETURN_IF_ERROR(ComputeFunctions());
      NPUSTREAM_RETURN_IF_ERROR(ReturnHarmfulLayers());
      NPUSTREAM_RETURN_IF_ERROR(LookUpFunctions());
    }
    NPUSTREAM_RETURN_IF_ERROR(Report());
    return std::move(scheme_);
  }

 private:
  // ---- Running networks

  // The graph as it is fed with samples.
  Result<std::unique_ptr<program::GraphEvaluator>> Ready(om::Graph graph) const {
    if (through_aipp_) NPUSTREAM_RETURN_IF_ERROR(InsertAipp(graph, options_.aipp));
    return program::GraphEvaluator::Create(graph);
  }

  Samples FirstSamples(size_t count) const {
    return {samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(std::min(count, samples_.size()))};
  }

  // The tensors that become bytes, and what is asked about them, in the order of the graph.
  std::vector<om::TensorId> Observed() const {
    std::vector<om::TensorId> observed;
    for (size_t i = 0; i < sites_.as_bytes.size(); ++i) {
      if (sites_.as_bytes[i]) observed.push_back(static_cast<om::TensorId>(i));
    }
    return observed;
  }

  // A value that is an input cannot be an output as well: it goes through a copy.
  static void MakeOutputs(om::Graph& graph, const std::vector<om::TensorId>& tensors) {
    for (const om::TensorId id : tensors) {
      om::TensorId output = id;
      const auto is = [&](const std::vector<om::TensorId>& list) {
        return std::find(list.begin(), list.end(), id) != list.end();
      };
      if (is(graph.inputs) || is(graph.outputs)) {
        const om::Tensor& seen = TensorOf(graph, id);
        output = AddTensor(graph, {seen.name + ".seen", seen.type, seen.dims, nullptr});
        graph.nodes.push_back({"see_" + TensorOf(graph, id).name, "Reshape", {id}, {output}, {}});
      }
      graph.outputs.push_back(output);
    }
  }

  // ---- Ranges

  Status Observe() {
    const std::vector<om::TensorId> observed = Observed();
    const size_t first = graph_.outputs.size() + heads_.size();
    om::Graph graph = graph_;
    MakeOutputs(graph, heads_);
    MakeOutputs(graph, observed);
    NPUSTREAM_ASSIGN_OR_RETURN(const auto evaluator, Ready(std::move(graph)));
    histograms_.resize(graph_.tensors.size());
    for (size_t s = 0; s < samples_.size(); ++s) {
      Notify(fmt::format("looking at picture {} of {}", s + 1, samples_.size()));
      NPUSTREAM_ASSIGN_OR_RETURN(std::vector<om::Bytes> values, evaluator->Run(samples_[s]));
      for (size_t i = 0; i < observed.size(); ++i)
        Count(observed[i], AsFloats(values[first + i]));
      if (s >= kCompared) continue;
      const auto begin = std::make_move_iterator(values.begin() + static_cast<std::ptrdiff_t>(graph_.outputs.size()));
      real_heads_.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(heads_.size()));
    }
    return {};
  }

  void Count(om::TensorId id, std::span<const float> values) {
    histograms_[static_cast<size_t>(id)].Add(values);
    const om::Tensor& tensor = TensorOf(graph_, id);
    if (tensor.dims.size() != 4 || values.empty()) return;
    channels_[id].Add(values, static_cast<size_t>(tensor.dims[1]), static_cast<size_t>(tensor.dims[2] * tensor.dims[3]));
  }

  void SetMeans() {
    for (const auto& [id, statistics] : channels_) {
      std::vector<float>& means = scheme_.means[TensorOf(graph_, id).name];
      for (size_t c = 0; c < statistics.sums.size(); ++c) means.push_back(static_cast<float>(statistics.Mean(c)));
    }
  }

  // The tensors whose channels are better multiplied before they become bytes, and the products' ranges.
  Status ChooseFactors() {
    const Uses uses(graph_);
    std::vector<om::TensorId> tensors;
    for (const om::TensorId id : Observed()) {
      if (channels_.count(id) == 0 || !TakesChannelFactors(graph_, uses, id)) continue;
      std::vector<float> factors = ChooseChannelFactors(graph_, uses, id, channels_.at(id));
      if (factors.empty()) continue;
      scheme_.factored[TensorOf(graph_, id).name].factors = std::move(factors);
      tensors.push_back(id);
    }
    om::Graph graph = graph_;
    MakeOutputs(graph, tensors);
    NPUSTREAM_ASSIGN_OR_RETURN(const auto evaluator, Ready(std::move(graph)));
    std::vector<Histogram> histograms(tensors.size());
    for (const std::vector<om::Bytes>& sample : samples_) {
      NPUSTREAM_ASSIGN_OR_RETURN(std::vector<om::Bytes> values, evaluator->Run(sample));
      for (size_t i = 0; i < tensors.size(); ++i) {
        om::Bytes& bytes = values[graph_.outputs.size() + i];
        Multiply(std::span(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)), tensors[i]);
        histograms[i].Add(AsFloats(bytes));
      }
    }
    for (size_t i = 0; i < tensors.size(); ++i)
      scheme_.factored[TensorOf(graph_, tensors[i]).name].quantization = ByteQuantization(LeastSquaresRange(histograms[i]));
    return {};
  }

  void Multiply(std::span<float> values, om::TensorId id) const {
    const om::Tensor& tensor = TensorOf(graph_, id);
    const std::vector<float>& factors = scheme_.factored.at(tensor.name).factors;
    const auto pixels = static_cast<size_t>(tensor.dims[2] * tensor.dims[3]);
    for (size_t first = 0, c = 0; first < values.size(); first += pixels, c = (c + 1) % factors.size()) {
      for (float& value : values.subspan(first, pixels)) value *= factors[c];
    }
  }

  // What comes before a table is spread so that what comes after it is as right as can be, whatever the method.
  Range RangeOf(om::TensorId id, RangeMethod method) const {
    const auto table = table_ranges_.find(id);
    if (table != table_ranges_.end()) return table->second;
    return ChooseRange(histograms_[static_cast<size_t>(id)], method, quantization_.percentile);
  }

  Status FitTables() {
    const Uses uses(graph_);
    for (const om::Node& node : graph_.nodes) {
      const om::TensorId id = BeforeFunction(graph_, uses, node.outputs[0]);
      if (id == om::kNoTensor || !sites_.as_bytes[static_cast<size_t>(id)]) continue;
      functions_.push_back(node.outputs[0]);
      const Histogram& histogram = histograms_[static_cast<size_t>(id)];
      NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<float> function, Tabulate(node, histogram));
      table_ranges_[id] = LeastSquaresRange(histogram, function);
    }
    return {};
  }

  // A function at the middle of every bin.
  Result<std::vector<float>> Tabulate(const om::Node& function, const Histogram& histogram) const {
    om::Graph graph;
    om::Node node = function;
    const om::Dims dims = {static_cast<int64_t>(Histogram::kBins)};
    graph.inputs = node.inputs = {AddTensor(graph, {"x", om::DataType::kFloat32, dims, nullptr})};
    graph.outputs = node.outputs = {AddTensor(graph, {"y", om::DataType::kFloat32, dims, nullptr})};
    graph.nodes.push_back(std::move(node));
    om::Bytes x(Histogram::kBins * sizeof(float));
    for (size_t bin = 0; bin < Histogram::kBins; ++bin)
      reinterpret_cast<float*>(x.data())[bin] = static_cast<float>(histogram.Center(bin));
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<om::Bytes> results, program::EvaluateGraph(graph, {x}));
    const std::span<const float> y = AsFloats(results[0]);
    return std::vector<float>(y.begin(), y.end());
  }

  std::map<std::string, om::Quantization> Quantizations(RangeMethod method) const {
    std::map<om::TensorId, Range> groups;
    for (const om::TensorId id : Observed()) {
      const Range range = RangeOf(id, method);
      const auto [known, added] = groups.emplace(sites_.scale_group[static_cast<size_t>(id)], range);
      if (!added) known->second = Union(known->second, range);
    }
    std::map<std::string, om::Quantization> result;
    for (const om::TensorId id : Observed()) {
      const Range& range = groups.at(sites_.scale_group[static_cast<size_t>(id)]);
      result[TensorOf(graph_, id).name] = ByteQuantization(range);
    }
    return result;
  }

  Status ChooseMethod() {
    scheme_.samples = samples_.size();
    scheme_.real_nodes = quantization_.real_nodes;
    if (quantization_.method) {
      scheme_.method = ToString(*quantization_.method);
      scheme_.tensors = Quantizations(*quantization_.method);
      NPUSTREAM_ASSIGN_OR_RETURN(scheme_.output_error, OutputError(scheme_, kCompared));
      return {};
    }
    std::optional<QuantizationScheme> best;
    for (const RangeMethod method : {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kLeastSquares,
                                     RangeMethod::kEntropy}) {
      Notify(fmt::format("trying ranges by {}", ToString(method)));
      QuantizationScheme tried = scheme_;
      tried.method = ToString(method);
      tried.tensors = Quantizations(method);
      NPUSTREAM_ASSIGN_OR_RETURN(tried.output_error, OutputError(tried, kCompared));
      if (!best || tried.output_error < best->output_error) best = std::move(tried);
    }
    scheme_ = std::move(*best);
    return {};
  }

  // ---- Errors

  // Of the network as it will run, with its integer kernels. Heads are compared, not outputs: where boxes and scores
  // share an output, large coordinates would hide what becomes of small scores.
  Result<double> OutputError(const QuantizationScheme& scheme, size_t samples) const {
    om::Graph graph = graph_;
    MakeOutputs(graph, heads_);
    NPUSTREAM_RETURN_IF_ERROR(InsertQuantization(graph, scheme));
    NPUSTREAM_RETURN_IF_ERROR(RunIntegerPasses(graph, options_.disabled_passes));
    NPUSTREAM_ASSIGN_OR_RETURN(const auto evaluator, Ready(std::move(graph)));
    std::vector<ErrorSum> errors(heads_.size());
    for (size_t s = 0; s < std::min(samples, real_heads_.size()); ++s) {
      NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<om::Bytes> values, evaluator->Run(samples_[s]));
      for (size_t i = 0; i < heads_.size(); ++i)
        errors[i].Add(AsFloats(real_heads_[s][i]), AsFloats(values[graph_.outputs.size() + i]));
    }
    double squares = 0;
    for (const ErrorSum& error : errors) squares += error.Relative() * error.Relative();
    return errors.empty() ? 0 : std::sqrt(squares / static_cast<double>(errors.size()));
  }

  // Results of layers that no other layer on bytes reads.
  void FindHeads() {
    for (const size_t n : QuantizedLayers()) {
      const om::TensorId result = ResultOf(n);
      if (!sites_.as_bytes[static_cast<size_t>(result)]) heads_.push_back(result);
    }
  }

  // The layers that run on bytes, by node.
  std::vector<size_t> QuantizedLayers() const {
    std::vector<size_t> layers;
    for (const size_t n : sites_.layers) {
      if (sites_.quantised[n]) layers.push_back(n);
    }
    return layers;
  }

  // What a layer computes, with the function that was separated from it.
  om::TensorId ResultOf(size_t n) const {
    const om::TensorId output = graph_.nodes[n].outputs[0];
    if (!TensorOf(graph_, output).name.ends_with(kBeforeActivation)) return output;
    const auto reads = [&](const om::Node& node) { return node.inputs == std::vector<om::TensorId>{output}; };
    const auto function = std::find_if(graph_.nodes.begin() + static_cast<std::ptrdiff_t>(n), graph_.nodes.end(), reads);
    return function == graph_.nodes.end() ? output : function->outputs[0];
  }

  QuantizationScheme WithReal(const std::vector<size_t>& layers) const {
    QuantizationScheme scheme = scheme_;
    for (const size_t n : layers) scheme.real_nodes.insert(TensorOf(graph_, graph_.nodes[n].outputs[0]).name);
    return scheme;
  }

  // What each layer alone does to the outputs, the most harmful first.
  Result<std::vector<size_t>> ByHarm() {
    const std::vector<size_t> layers = QuantizedLayers();
    std::vector<size_t> order = layers;
    for (size_t i = 0; i < layers.size(); ++i) {
      Notify(fmt::format("measuring layer {} of {}", i + 1, layers.size()));
      std::vector<size_t> others = layers;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      NPUSTREAM_ASSIGN_OR_RETURN(own_errors_[layers[i]], OutputError(WithReal(others), kComparedPerLayer));
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return own_errors_[a] > own_errors_[b]; });
    return order;
  }

  Status ComputeFunctions() {
    for (const om::TensorId id : functions_) scheme_.computed.insert(TensorOf(graph_, id).name);
    NPUSTREAM_ASSIGN_OR_RETURN(scheme_.output_error, OutputError(scheme_, kCompared));
    return {};
  }

  // As many functions as the limit allows, those first whose tables save most time for the harm that they do.
  Status LookUpFunctions() {
    struct Table {
      om::TensorId id;
      double harm;
    };
    std::vector<Table> tables;
    NPUSTREAM_ASSIGN_OR_RETURN(const double least, OutputError(scheme_, kComparedPerLayer));
    for (const om::TensorId id : functions_) {
      Notify(fmt::format("trying table {} of {}", tables.size() + 1, functions_.size()));
      NPUSTREAM_ASSIGN_OR_RETURN(const double error, OutputError(WithTables({id}), kComparedPerLayer));
      const auto elements = static_cast<double>(om::ElementCount(TensorOf(graph_, id).dims));
      tables.push_back({id, (error * error - least * least) / elements});
    }
    std::stable_sort(tables.begin(), tables.end(), [](const Table& a, const Table& b) { return a.harm < b.harm; });
    std::vector<om::TensorId> order;
    for (const Table& table : tables) order.push_back(table.id);
    // Errors partly cancel each other, so that more tables do not always mean more of it: halving would miss the most.
    const size_t step = std::max<size_t>(order.size() / kTries, 1);
    for (size_t left_out = 0; left_out < order.size(); left_out += step) {
      const size_t count = order.size() - left_out;
      QuantizationScheme tried = WithTables({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)});
      Notify(fmt::format("trying {} tables", count));
      NPUSTREAM_ASSIGN_OR_RETURN(tried.output_error, OutputError(tried, kCompared));
      if (tried.output_error > quantization_.error_limit) continue;
      scheme_ = std::move(tried);
      break;
    }
    return {};
  }

  QuantizationScheme WithTables(const std::vector<om::TensorId>& functions) const {
    QuantizationScheme scheme = scheme_;
    for (const om::TensorId id : functions) scheme.computed.erase(TensorOf(graph_, id).name);
    return scheme;
  }

  // The least number of layers, by harm, without which the error is within the limit; found by halving, as more real
  // layers mean less error.
  Status ReturnHarmfulLayers() {
    if (scheme_.output_error <= quantization_.error_limit) return {};
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<size_t> order, ByHarm());
    size_t low = 1, high = order.size();
    std::optional<QuantizationScheme> best;
    while (low <= high) {
      const size_t count = (low + high) / 2;
      QuantizationScheme tried = WithReal({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)});
      Notify(fmt::format("trying {} layers on real numbers", count));
      NPUSTREAM_ASSIGN_OR_RETURN(tried.output_error, OutputError(tried, kCompared));
      if (tried.output_error <= quantization_.error_limit || count == order.size()) {
        best = std::move(tried);
        high = count - 1;
      } else {
        low = count + 1;
      }
    }
    if (best) scheme_ = std::move(*best);
    return {};
  }

  // ---- Report

  // The same network with Quantize and Dequantize nodes shows every layer's result.
  Status Report() {
    std::vector<om::TensorId> results;
    for (const size_t n : sites_.layers) results.push_back(ResultOf(n));
    om::Graph real = graph_, rounded = graph_;
    NPUSTREAM_RETURN_IF_ERROR(InsertQuantization(rounded, scheme_));
    NPUSTREAM_RETURN_IF_ERROR(FoldQuantisedWeights(rounded));
    MakeOutputs(real, results);
    MakeOutputs(rounded, results);
    NPUSTREAM_ASSIGN_OR_RETURN(const auto real_network, Ready(std::move(real)));
    NPUSTREAM_ASSIGN_OR_RETURN(const auto rounded_network, Ready(std::move(rounded)));
    std::vector<ErrorSum> errors(results.size());
    const size_t first = graph_.outputs.size();
    for (const std::vector<om::Bytes>& sample : FirstSamples(kCompared)) {
      NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<om::Bytes> expected, real_network->Run(sample));
      NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<om::Bytes> found, rounded_network->Run(sample));
      for (size_t i = 0; i < results.size(); ++i) errors[i].Add(AsFloats(expected[first + i]), AsFloats(found[first + i]));
    }
    for (size_t i = 0; i < results.size(); ++i) scheme_.layers.push_back(Describe(sites_.layers[i], errors[i]));
    return {};
  }

  LayerReport Describe(size_t n, const ErrorSum& error) const {
    const om::Node& node = graph_.nodes[n];
    LayerReport layer;
    layer.name = node.name;
    layer.output = TensorOf(graph_, ResultOf(n)).name;
    layer.integer = !StaysReal(graph_, node, scheme_.real_nodes);
    if (!layer.integer) {
      layer.reason = StaysReal(graph_, node, quantization_.real_nodes) ? "asked for" : "too large an error";
    }
    if (const auto q = scheme_.tensors.find(TensorOf(graph_, node.inputs[0]).name); q != scheme_.tensors.end()) {
      layer.input_scale = q->second.scales[0];
      layer.input_low = static_cast<float>(-q->second.zero_points[0]) * layer.input_scale;
      layer.input_high = static_cast<float>(255 - q->second.zero_points[0]) * layer.input_scale;
    }
    layer.cosine = error.Cosine(), layer.sqnr_db = error.SqnrDb(), layer.max_error = error.Largest();
    if (const auto own = own_errors_.find(n); own != own_errors_.end()) layer.own_error = own->second;
    return layer;
  }

  void Notify(const std::string& news) const {
    if (quantization_.notify) quantization_.notify(news);
  }

  om::Graph graph_;  // of real numbers, fused
  const CompileOptions& options_;
  const bool through_aipp_;
  const Samples samples_;
  const QuantizationOptions& quantization_;
  QuantizationSites sites_;
  std::vector<Histogram> histograms_;             // by tensor
  std::map<om::TensorId, ChannelStatistics> channels_;
  std::map<om::TensorId, Range> table_ranges_;
  std::vector<om::TensorId> functions_;  // results of those that tables can stand for
  std::vector<om::TensorId> heads_;
  Samples real_heads_;  // their values, for the samples that are compared
  std::map<size_t, double> own_errors_;           // by node
  QuantizationScheme scheme_;
};

// The data cut into samples of the graph's inputs.
Result<Samples> CutIntoSamples(const om::Graph& graph, const CalibrationData& data) {
  const auto fail = [](std::string_view reason) { return Status(StatusCode::kInvalidArgument, reason); };
  if (data.inputs.size() != graph.inputs.size()) {
    return fail(fmt::format("there is calibration data for {} inputs, but the model has {}", data.inputs.size(),
                            graph.inputs.size()));
  }
  Samples samples;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const om::Tensor& input = TensorOf(graph, graph.inputs[i]);
    const om::Bytes& values = data.inputs[i];
    const size_t bytes = input.ByteSize();
    if (bytes == 0 || values.empty() || values.size() % bytes != 0) {
      return fail(fmt::format("{} bytes of calibration data for input '{}' are no whole number of samples of {} bytes",
                              values.size(), input.name, bytes));
    }
    if (i == 0) samples.resize(values.size() / bytes);
    if (values.size() / bytes != samples.size()) {
      return fail(fmt::format("calibration data for input '{}' has {} samples, that for the first input {}", input.name,
                              values.size() / bytes, samples.size()));
    }
    for (size_t s = 0; s < samples.size(); ++s) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(s * bytes);
      samples[s].emplace_back(begin, begin + static_cast<std::ptrdiff_t>(bytes));
    }
  }
  if (data.most_images > 0 && data.most_images < samples.size()) samples.resize(data.most_images);
  return samples;
}

}  // namespace

Result<QuantizationScheme> PlanQuantization(const OnnxModel& model, const CompileOptions& options,
                                            const CalibrationData& data, const QuantizationOptions& quantization) {
  NPUSTREAM_ASSIGN_OR_RETURN(GearPlans gears, ImportGears(model, options));
  om::Graph graph = std::move(gears.plans.front().graph);
  // Weights alone may be: they are what they stand for.
  const auto is_quantised = [](const om::Tensor& tensor) { return !tensor.is_constant() && tensor.quantization; };
  if (std::any_of(graph.tensors.begin(), graph.tensors.end(), is_quantised))
    return Status(StatusCode::kInvalidArgument, "the model is quantised already; compile it as it is");
  NPUSTREAM_RETURN_IF_ERROR(RunRealPasses(graph, options.disabled_passes, options.fusion_limits));
  om::Graph fed = graph;
  if (data.through_aipp) NPUSTREAM_RETURN_IF_ERROR(InsertAipp(fed, options.aipp));
  NPUSTREAM_ASSIGN_OR_RETURN(Samples samples, CutIntoSamples(fed, data));
  return Planner(std::move(graph), options, data.through_aipp, std::move(samples), quantization).Run();
}

}  // namespace npustream::compiler
