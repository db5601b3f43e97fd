#include "npu_sim/compiler/batch_plans.h"

#include <fmt/format.h>

#include <algorithm>

#include "npu_sim/compiler/ir/batch.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/onnx/import_model.h"

namespace npustream::compiler {
namespace {

// A batch that no other extent of a network equals by chance.
constexpr int64_t kProbeBatch = 7;

// The shapes of all inputs that are known, from the options or the file, with −1 where the batch is open.
std::map<std::string, om::Dims> WantedShapes(const OnnxModel& model, const CompileOptions& options) {
  std::map<std::string, om::Dims> shapes = options.input_shapes;
  for (const OnnxValue& input : model.graph.inputs) {
    if (shapes.count(input.name) != 0 || !input.has_shape) continue;
    om::Dims dims;
    for (const OnnxDim& dim : input.dims) dims.push_back(dim.size);
    shapes[input.name] = std::move(dims);
  }
  return shapes;
}

// Whether the file fixes axis 0 of every input to 1.
bool FileIsSingleImage(const OnnxModel& model) {
  return std::all_of(model.graph.inputs.begin(), model.graph.inputs.end(), [](const OnnxValue& input) {
    return input.has_shape && !input.dims.empty() && input.dims[0].size == 1;
  });
}

class BatchImporter {
 public:
  BatchImporter(const OnnxModel& model, const CompileOptions& options)
      : model_(model), options_(options), shapes_(WantedShapes(model, options)) {}

  Result<BatchPlans> Run() const { return options_.gears.empty() ? ImportStatic() : ImportGears(); }

 private:
  Result<om::Graph> ImportAt(int64_t batch) const {
    ImportOptions import{shapes_, options_.outputs};
    for (auto& [name, dims] : import.input_shapes) {
      if (!dims.empty() && (dims[0] == -1 || FileIsSingleImage(model_))) dims[0] = batch;
    }
    return ImportModel(model_, import);
  }

  static BatchPlans OnePlan(om::Graph graph, int64_t batch, bool per_image, std::vector<int64_t> gears) {
    BatchPlans result{std::vector<om::OmPlan>(1), std::move(gears)};
    result.plans[0].batch = batch;
    result.plans[0].per_image = per_image;
    result.plans[0].graph = std::move(graph);
    return result;
  }

  Result<BatchPlans> ImportStatic() const {
    NPUSTREAM_ASSIGN_OR_RETURN(om::Graph graph, ImportModel(model_, {options_.input_shapes, options_.outputs}));
    const om::Dims first = graph.inputs.empty() ? om::Dims{} : TensorOf(graph, graph.inputs[0]).dims;
    const int64_t batch = first.empty() ? 1 : first[0];
    // Rows of so long a table are no batch.
    if (batch > om::kMaxBatch) return OnePlan(std::move(graph), 1, false, {1});
    if (batch == 1) {
      const bool per_image = IsSingleImage(graph);
      return OnePlan(std::move(graph), 1, per_image, {1});
    }
    if (const auto tensors = FindBatchTensors(graph, batch)) {
      return OnePlan(CutToOneImage(std::move(graph), batch, *tensors), 1, true, {batch});
    }
    return OnePlan(std::move(graph), batch, false, {batch});
  }

  Result<BatchPlans> ImportGears() const {
    if (FileIsSingleImage(model_) || BatchesAreSeparable()) {
      NPUSTREAM_ASSIGN_OR_RETURN(om::Graph graph, ImportAt(1));
      if (IsSingleImage(graph)) return OnePlan(std::move(graph), 1, true, options_.gears);
    }
    if (FileIsSingleImage(model_)) {
      return Status(
          StatusCode::kInvalidArgument,
          "the model is made for a batch of 1 and has an output whose axis 0 is not the batch: export it with "
          "a symbolic batch to use --dynamic_batch_size");
    }
    BatchPlans result{{}, options_.gears};
    for (const int64_t gear : options_.gears) {
      NPUSTREAM_ASSIGN_OR_RETURN(om::Graph graph, ImportAt(gear));
      NPUSTREAM_RETURN_IF_ERROR(CheckOutputsScale(graph, gear));
      result.plans.emplace_back();
      result.plans.back().batch = gear;
      result.plans.back().graph = std::move(graph);
    }
    return result;
  }

  bool BatchesAreSeparable() const {
    const Result<om::Graph> probe = ImportAt(kProbeBatch);
    return probe.ok() && FindBatchTensors(*probe, kProbeBatch).has_value();
  }

  static Status CheckOutputsScale(const om::Graph& graph, int64_t gear) {
    for (const om::TensorId id : graph.outputs) {
      const om::Tensor& output = TensorOf(graph, id);
      if (!output.dims.empty() && output.dims[0] == gear) continue;
      return {StatusCode::kInvalidArgument,
              fmt::format("--dynamic_batch_size cannot be used: axis 0 of output '{}' is not the batch", output.name)};
    }
    return {};
  }

  const OnnxModel& model_;
  const CompileOptions& options_;
  const std::map<std::string, om::Dims> shapes_;
};

}  // namespace

Result<BatchPlans> ImportBatchPlans(const OnnxModel& model, const CompileOptions& options) {
  return BatchImporter(model, options).Run();
}

}  // namespace npustream::compiler
