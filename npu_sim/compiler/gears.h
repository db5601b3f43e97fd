#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "npu_sim/compiler/onnx/onnx_model.h"
#include "npu_sim/om/om_model.h"

namespace npustream::compiler {

// The sets of shapes that a model is compiled for: what atc's --dynamic_… say.
struct GearOptions {
  om::Dynamic dynamic = om::Dynamic::kNothing;
  // The numbers that stand for −1 in the shapes of inputs: one for axis 0 of all of them; height and width of all of
  // them; one for every −1 in turn. Empty for kNothing.
  std::vector<std::vector<int64_t>> choices;
  // The inputs in the order in which the −1 are counted; inputs that are not named come last, as in the model.
  std::vector<std::string> input_order;

  static GearOptions Batches(const std::vector<int64_t>& sizes);
};

// Shapes of inputs by name.
using InputShapes = std::map<std::string, om::Dims>;

// One gear before anything is compiled.
struct GearShapes {
  std::vector<int64_t> values;  // as in om::Gear
  InputShapes shapes;           // of all inputs whose shape is known, from the options or the file
};

// The shapes of all inputs that are known, from `given` or the file, with −1 where a gear decides.
InputShapes KnownShapes(const OnnxModel& model, const InputShapes& given, const GearOptions& gears);

// The shapes of each gear; one without values for kNothing.
std::vector<GearShapes> ShapesOfGears(const OnnxModel& model, const InputShapes& given, const GearOptions& gears);

}  // namespace npustream::compiler
