#include "npu_sim/compiler/gears.h"

#include <algorithm>

namespace npustream::compiler {
namespace {

std::vector<std::string> OrderOfInputs(const OnnxModel& model, const GearOptions& gears) {
  std::vector<std::string> order = gears.input_order;
  for (const OnnxValue& input : model.graph.inputs) {
    if (std::find(order.begin(), order.end(), input.name) == order.end()) order.push_back(input.name);
  }
  return order;
}

// Puts the numbers of a choice in place of −1. Batch, height and width are those of every input, dims are taken in turn.
InputShapes Fill(InputShapes shapes, const std::vector<std::string>& order, om::Dynamic dynamic,
                 const std::vector<int64_t>& choice) {
  size_t next = 0;
  for (const std::string& name : order) {
    if (dynamic != om::Dynamic::kDims) next = 0;
    om::Dims& dims = shapes[name];
    const size_t axes = dynamic == om::Dynamic::kBatch ? std::min<size_t>(dims.size(), 1) : dims.size();
    for (size_t axis = 0; axis < axes; ++axis) {
      if (dims[axis] == -1 && next < choice.size()) dims[axis] = choice[next++];
    }
  }
  return shapes;
}

std::vector<int64_t> ValuesOf(const GearOptions& gears, const std::vector<int64_t>& choice,
                              const std::vector<std::string>& order, const InputShapes& shapes) {
  if (gears.dynamic != om::Dynamic::kDims) return choice;
  std::vector<int64_t> all;
  for (const std::string& name : order) all.insert(all.end(), shapes.at(name).begin(), shapes.at(name).end());
  return all;
}

}  // namespace

GearOptions GearOptions::Batches(const std::vector<int64_t>& sizes) {
  GearOptions gears;
  gears.dynamic = om::Dynamic::kBatch;
  for (const int64_t size : sizes) gears.choices.push_back({size});
  return gears;
}

InputShapes KnownShapes(const OnnxModel& model, const InputShapes& given, const GearOptions& gears) {
  InputShapes shapes = given;
  for (const OnnxValue& input : model.graph.inputs) {
    if (shapes.count(input.name) != 0 || !input.has_shape) continue;
    om::Dims dims;
    for (const OnnxDim& dim : input.dims) dims.push_back(dim.size);
    const bool open = std::count(dims.begin(), dims.end(), -1) > 0;
    if (!open || gears.dynamic != om::Dynamic::kNothing) shapes[input.name] = std::move(dims);
  }
  if (gears.dynamic != om::Dynamic::kBatch) return shapes;
  // Of a file for one image, all inputs are meant unless the user says which.
  const auto is_open = [](const auto& entry) { return std::count(entry.second.begin(), entry.second.end(), -1) > 0; };
  if (std::any_of(shapes.begin(), shapes.end(), is_open)) return shapes;
  for (auto& [name, dims] : shapes) {
    if (!dims.empty() && dims[0] == 1) dims[0] = -1;
  }
  return shapes;
}

std::vector<GearShapes> ShapesOfGears(const OnnxModel& model, const InputShapes& given, const GearOptions& gears) {
  const InputShapes known = KnownShapes(model, given, gears);
  if (gears.dynamic == om::Dynamic::kNothing) return {{{}, known}};
  const std::vector<std::string> order = OrderOfInputs(model, gears);
  std::vector<GearShapes> result;
  for (const std::vector<int64_t>& choice : gears.choices) {
    InputShapes shapes = Fill(known, order, gears.dynamic, choice);
    std::vector<int64_t> values = ValuesOf(gears, choice, order, shapes);
    result.push_back({std::move(values), std::move(shapes)});
  }
  return result;
}

}  // namespace npustream::compiler
