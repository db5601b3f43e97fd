#include "npu_sim/compiler/gear_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "npu_sim/compiler/ir/batch.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/onnx/import_model.h"

namespace npustream::compiler {
namespace {

class GearImporter {
 public:
  GearImporter(const OnnxModel& model, const CompileOptions& options)
      : model_(model), options_(options), known_(KnownShapes(model, options.input_shapes, options.gears)) {
    for (const OnnxValue& input : model.graph.inputs) {
      const auto shape = known_.find(input.name);
      const bool open = shape != known_.end() && !shape->second.empty() && shape->second[0] == -1;
      open_.push_back(open && options.gears.dynamic != om::Dynamic::kNothing);
    }
    batch_is_open_ = std::count(open_.begin(), open_.end(), true) > 0;
  }

  Result<GearPlans> Run() {
    for (const GearShapes& gear : ShapesOfGears(model_, options_.input_shapes, options_.gears)) {
      NPUSTREAM_RETURN_IF_ERROR(Import(gear));
    }
    return std::move(result_);
  }

 private:
  Result<om::Graph> ImportAt(const InputShapes& shapes) const {
    return ImportModel(model_, {shapes, options_.outputs});
  }

  Status Import(const GearShapes& gear) {
    if (batch_is_open_) {
      NPUSTREAM_ASSIGN_OR_RETURN(const bool shared, ShareOneImage(gear));
      if (shared) return {};
    }
    NPUSTREAM_ASSIGN_OR_RETURN(om::Graph graph, ImportAt(gear.shapes));
    const om::Dims first = graph.inputs.empty() ? om::Dims{} : TensorOf(graph, graph.inputs[0]).dims;
    const int64_t batch = first.empty() ? 1 : first[0];
    // What an open batch does to the model is told by ShareOneImage.
    if (batch > 1 && batch <= om::kMaxImages && !batch_is_open_) {
      const std::vector<bool> all(graph.inputs.size(), true);
      if (const auto tensors = FindBatchTensors(graph, batch, all)) {
        graph = CutToOneImage(std::move(graph), batch, *tensors);
        AddGear(gear, AddPlan(std::move(graph)), batch);
        return {};
      }
    }
    AddGear(gear, AddPlan(std::move(graph)), 1);
    return {};
  }

  // The batch of the inputs that have an open one; nothing when they have several.
  std::optional<int64_t> OpenBatch(const GearShapes& gear) const {
    std::optional<int64_t> batch;
    for (size_t i = 0; i < open_.size(); ++i) {
      if (!open_[i]) continue;
      const int64_t own = gear.shapes.at(model_.graph.inputs[i].name)[0];
      if (batch && *batch != own) return std::nullopt;
      batch = own;
    }
    return batch;
  }

  InputShapes AtBatch(InputShapes shapes, int64_t batch) const {
    for (size_t i = 0; i < open_.size(); ++i) {
      if (open_[i]) shapes[model_.graph.inputs[i].name][0] = batch;
    }
    return shapes;
  }

  // Adds the gear with the plan for one image of its shapes, which is made when it is met first. False when images are
  // not apart.
  Result<bool> ShareOneImage(const GearShapes& gear) {
    const std::optional<int64_t> batch = OpenBatch(gear);
    if (!batch || *batch > om::kMaxImages) return false;
    const InputShapes single = AtBatch(gear.shapes, 1);
    const auto [known, is_new] = single_image_plans_.try_emplace(single);
    if (is_new) {
      NPUSTREAM_ASSIGN_OR_RETURN(known->second, ImportOneImage(single));
    }
    if (!known->second) return false;
    AddGear(gear, *known->second, *batch);
    return true;
  }

  Result<std::optional<size_t>> ImportOneImage(const InputShapes& single) {
    const bool made_for_one = FileIsSingleImage();
    if (!made_for_one && !ImagesAreApart(single)) return std::optional<size_t>();
    NPUSTREAM_ASSIGN_OR_RETURN(om::Graph graph, ImportAt(single));
    if (IsSingleImage(graph, open_)) return std::optional(AddPlan(std::move(graph)));
    if (!made_for_one) return std::optional<size_t>();
    return Status(StatusCode::kInvalidArgument,
                  "the model is made for a batch of 1 and has an output whose axis 0 is not the batch: export it with "
                  "a symbolic batch to choose that at run time");
  }

  // Whether the file fixes axis 0 to 1 wherever the batch is to be open.
  bool FileIsSingleImage() const {
    for (size_t i = 0; i < open_.size(); ++i) {
      const OnnxValue& input = model_.graph.inputs[i];
      if (open_[i] && (!input.has_shape || input.dims.empty() || input.dims[0].size != 1)) return false;
    }
    return true;
  }

  bool ImagesAreApart(const InputShapes& single) const {
    const int64_t batch = ProbeBatch(single);
    const Result<om::Graph> probe = ImportAt(AtBatch(single, batch));
    return probe.ok() && FindBatchTensors(*probe, batch, open_).has_value();
  }

  // A batch that no other extent of a network equals by chance.
  static int64_t ProbeBatch(const InputShapes& shapes) {
    int64_t batch = 7;
    const auto has = [&](const auto& entry) {
      return std::find(entry.second.begin(), entry.second.end(), batch) != entry.second.end();
    };
    while (std::any_of(shapes.begin(), shapes.end(), has)) batch += 6;
    return batch;
  }

  size_t AddPlan(om::Graph graph) {
    result_.plans.push_back({std::move(graph), {}});
    return result_.plans.size() - 1;
  }

  // Inputs that the batch is not for stay whole for every image.
  void AddGear(const GearShapes& gear, size_t plan, int64_t images) {
    om::Gear added{gear.values, {}, {}, static_cast<uint32_t>(plan), images};
    const om::Graph& graph = result_.plans[plan].graph;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      om::Dims dims = TensorOf(graph, graph.inputs[i]).dims;
      if (images > 1 && (!batch_is_open_ || open_[i])) dims[0] *= images;
      added.inputs.push_back(std::move(dims));
    }
    result_.gears.push_back(std::move(added));
  }

  const OnnxModel& model_;
  const CompileOptions& options_;
  const InputShapes known_;
  std::vector<bool> open_;  // of each input, whether its axis 0 is chosen by gears
  bool batch_is_open_ = false;
  std::map<InputShapes, std::optional<size_t>> single_image_plans_;
  GearPlans result_;
};

}  // namespace

Result<GearPlans> ImportGears(const OnnxModel& model, const CompileOptions& options) {
  return GearImporter(model, options).Run();
}

}  // namespace npustream::compiler
