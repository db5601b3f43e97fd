#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/atc/outcome.h"
#include "npu_sim/compiler/gears.h"

namespace npustream::atc {

// In the order in which they were given.
using Shapes = std::vector<std::pair<std::string, om::Dims>>;

// --input_shape: "a:1,3,224,224;b:-1,10". Names may contain colons: the last one counts. E10002 for another form.
Outcome<Shapes> ParseInputShape(const std::string& text);

// Numbers for −1: "1,2,4,8" for batches, which are sorted; "h,w;h,w" for image sizes; "a,b,c;d,e,f" for dims. Each is one
// choice. E10035 below 2 of them, E10036 above 100, E10037 where one has more numbers than another, E10038 for numbers
// that are not positive, E10039 for a choice that is doubled, E10020 or E10001 for another form.
Outcome<std::vector<std::vector<int64_t>>> ParseChoices(om::Dynamic dynamic, const std::string& text);

// Checks the given shapes against the model and the gears: names that exist (E10016), numbers of dimensions (E10049),
// −1 where the gears may have it (E10018 batches, E10019 image sizes, E10011 without gears) and at all (E10031, E10040),
// positive numbers (E10011); inputs with open dims must be given (E10001).
Check CheckShapes(const compiler::OnnxModel& model, const Shapes& shapes, const compiler::GearOptions& gears);

// atc's option that asks for gears of this kind, without dashes.
const char* OptionOf(om::Dynamic dynamic);

// "a;b;c" split at the separator. Parts may be empty, and whoever reads them refuses that.
std::vector<std::string> SplitList(std::string_view text, char separator);

// A whole number that fills the text.
bool ParseInteger(std::string_view text, int64_t& value);

}  // namespace npustream::atc
