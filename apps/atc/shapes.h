#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/atc/outcome.h"
#include "npu_sim/compiler/onnx/onnx_model.h"
#include "npu_sim/om/graph.h"

namespace npustream::atc {

using Shapes = std::map<std::string, om::Dims>;

// --input_shape: "a:1,3,224,224;b:-1,10". Names may contain colons: the last one counts. E10002 for another form.
Outcome<Shapes> ParseInputShape(const std::string& text);

// --dynamic_batch_size: "1,2,4,8" → the sizes in ascending order. E10035 below 2 of them, E10036 above 100, E10039 for
// one that is doubled, E10018 for one that is not positive.
Outcome<std::vector<int64_t>> ParseGears(const std::string& text);

// Checks the given shapes against the model and the gears: names that exist (E10016), numbers of dimensions (E10049),
// −1 only on axis 0 and only with gears (E10012), positive numbers (E10011); inputs with open dims must be given
// (E10001).
Check CheckShapes(const compiler::OnnxModel& model, const Shapes& shapes, bool has_gears);

// "a;b;c" split at the separator. Parts may be empty, and whoever reads them refuses that.
std::vector<std::string> SplitList(std::string_view text, char separator);

// A whole number that fills the text.
bool ParseInteger(std::string_view text, int64_t& value);

}  // namespace npustream::atc
