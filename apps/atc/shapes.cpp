#include "apps/atc/shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "npu_sim/om/om_model.h"

namespace npustream::atc {

using compiler::OnnxDim;
using compiler::OnnxModel;
using compiler::OnnxValue;

std::vector<std::string> SplitList(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t end = 0; (end = text.find(separator)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    parts.emplace_back(text.substr(0, end));
  }
  parts.emplace_back(text);
  return parts;
}

bool ParseInteger(std::string_view text, int64_t& value) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && result.ec == std::errc() && result.ptr == text.data() + text.size();
}

Outcome<Shapes> ParseInputShape(const std::string& text) {
  const auto refuse = [&](const std::string& reason) { return InvalidValue("input_shape", text, reason, "E10002"); };
  Shapes shapes;
  for (const std::string& part : SplitList(text, ';')) {
    const size_t colon = part.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == part.size()) {
      return refuse(fmt::format("'{}' is not of the form name:n,c,h,w", part));
    }
    om::Dims dims;
    for (const std::string& number : SplitList(part.substr(colon + 1), ',')) {
      if (number.find('~') != std::string::npos) {
        return InvalidValue("input_shape", text, "ranges of shapes are not supported by this version");
      }
      int64_t dim = 0;
      if (!ParseInteger(number, dim)) {
        return refuse(number.empty() ? fmt::format("a dimension is missing in '{}'", part)
                                     : fmt::format("'{}' is no whole number", number));
      }
      dims.push_back(dim);
    }
    const std::string name = part.substr(0, colon);
    const auto is_it = [&](const auto& shape) { return shape.first == name; };
    if (std::any_of(shapes.begin(), shapes.end(), is_it)) return refuse(fmt::format("input '{}' is given twice", name));
    shapes.emplace_back(name, std::move(dims));
  }
  return shapes;
}

const char* OptionOf(om::Dynamic dynamic) {
  switch (dynamic) {
    case om::Dynamic::kNothing: return "";
    case om::Dynamic::kBatch: return "dynamic_batch_size";
    case om::Dynamic::kImageSize: return "dynamic_image_size";
    case om::Dynamic::kDims: return "dynamic_dims";
  }
  return "";
}

Outcome<std::vector<std::vector<int64_t>>> ParseChoices(om::Dynamic dynamic, const std::string& text) {
  const auto refuse = [&](const std::string& reason, const char* code) {
    return InvalidValue(OptionOf(dynamic), text, reason, code);
  };
  const bool is_size = dynamic == om::Dynamic::kImageSize;
  std::vector<std::vector<int64_t>> choices;
  for (const std::string& part : SplitList(text, dynamic == om::Dynamic::kBatch ? ',' : ';')) {
    std::vector<int64_t>& choice = choices.emplace_back();
    for (const std::string& number : SplitList(part, ',')) {
      int64_t value = 0;
      if (!ParseInteger(number, value))
        return refuse(fmt::format("'{}' is no whole number", number), is_size ? "E10020" : "E10001");
      if (value < 1) return refuse(fmt::format("{} is not positive", value), "E10038");
      choice.push_back(value);
    }
    if (is_size && choice.size() != 2)
      return refuse(fmt::format("'{}' is not of the form height,width", part), "E10020");
    if (dynamic == om::Dynamic::kBatch && choice[0] > om::kMaxImages)
      return refuse(fmt::format("a batch has at most {} images", om::kMaxImages), "E10001");
    if (choice.size() != choices.front().size()) {
      return refuse(fmt::format("'{}' has {} numbers, the gear before it {}", part, choice.size(),
                                choices.front().size()), "E10037");
    }
  }
  if (choices.size() < 2) return refuse("at least 2 gears are needed", "E10035");
  if (choices.size() > om::kMaxGears) return refuse(fmt::format("at most {} gears are possible", om::kMaxGears), "E10036");
  if (dynamic == om::Dynamic::kBatch) std::sort(choices.begin(), choices.end());
  std::vector<std::vector<int64_t>> sorted = choices;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return refuse("a gear is given twice", "E10039");
  return choices;
}

namespace {

std::string ShapeText(const om::Dims& dims) { return fmt::format("{}", fmt::join(dims, ",")); }

std::string DeclaredText(const OnnxValue& input) {
  std::vector<std::string> dims;
  for (const OnnxDim& dim : input.dims) {
    dims.push_back(dim.size >= 0 ? fmt::format("{}", dim.size) : dim.symbol.empty() ? "?" : dim.symbol);
  }
  return fmt::format("{}", fmt::join(dims, ","));
}

// Where −1 may be, with these gears.
Check CheckDynamicAxes(const std::string& text, const om::Dims& dims, om::Dynamic dynamic) {
  const auto refuse = [&](const char* reason, const char* code) {
    return InvalidValue("input_shape", text, reason, code);
  };
  const auto open = std::count(dims.begin(), dims.end(), -1);
  if (open == 0 || dynamic == om::Dynamic::kDims) return std::nullopt;
  if (dynamic == om::Dynamic::kNothing)
    return refuse("dimensions must be positive, unless a --dynamic_... parameter says what -1 stands for", "E10011");
  if (dynamic == om::Dynamic::kBatch) {
    if (open == 1 && dims[0] == -1) return std::nullopt;
    return refuse("with --dynamic_batch_size, -1 is possible on axis 0 only", "E10018");
  }
  if (open == 2 && dims.size() == 4 && dims[2] == -1 && dims[3] == -1) return std::nullopt;
  return refuse("with --dynamic_image_size, -1 stands for the height and the width of n,c,h,w", "E10019");
}

Check CheckGiven(const OnnxValue& input, const om::Dims& dims, om::Dynamic dynamic) {
  const std::string text = fmt::format("{}:{}", input.name, ShapeText(dims));
  const auto refuse = [&](const std::string& reason, const char* code) {
    return InvalidValue("input_shape", text, reason, code);
  };
  if (input.has_shape && dims.size() != input.dims.size()) {
    return refuse(fmt::format("the model's input has {} dimensions", input.dims.size()), "E10049");
  }
  if (Check failure = CheckDynamicAxes(text, dims, dynamic)) return failure;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < 1 && dims[axis] != -1) return refuse("dimensions must be positive", "E10011");
    const int64_t declared = input.has_shape ? input.dims[axis].size : -1;
    if (declared >= 0 && declared != dims[axis] && axis != 0) {
      return refuse(fmt::format("the model fixes the shape to {}", DeclaredText(input)), "E10001");
    }
  }
  return std::nullopt;
}

// An input that is not given must be fixed in the file; the batch may stay open when gears fix it.
Check CheckOpen(const OnnxValue& input, om::Dynamic dynamic) {
  if (!input.has_shape) {
    return Failure{"E10001",
                   fmt::format("input '{}' has no shape in the model: give it with --input_shape", input.name)};
  }
  for (size_t axis = 0; axis < input.dims.size(); ++axis) {
    if (input.dims[axis].size >= 0 || (axis == 0 && dynamic == om::Dynamic::kBatch)) continue;
    return Failure{"E10001", fmt::format("input '{}' has the open shape {}: fix it with --input_shape=\"{}:...\"",
                                         input.name, DeclaredText(input), input.name)};
  }
  return std::nullopt;
}

// Whether the numbers of the gears have −1 to stand for.
Check CheckChoices(const OnnxModel& model, const Shapes& shapes, const compiler::GearOptions& gears) {
  if (gears.dynamic == om::Dynamic::kNothing) return std::nullopt;
  size_t open = 0;
  for (const auto& [name, dims] : KnownShapes(model, {shapes.begin(), shapes.end()}, gears))
    open += static_cast<size_t>(std::count(dims.begin(), dims.end(), -1));
  if (open == 0) {
    return Failure{gears.dynamic == om::Dynamic::kBatch ? "E10031" : "E10040",
                   fmt::format("[--{}] is given, but no dimension of [--input_shape] is -1", OptionOf(gears.dynamic))};
  }
  if (gears.dynamic != om::Dynamic::kDims || gears.choices.front().size() == open) return std::nullopt;
  return InvalidValue("dynamic_dims", ShapeText(gears.choices.front()),
                      fmt::format("--input_shape has -1 {} times, a gear {} numbers", open,
                                  gears.choices.front().size()));
}

}  // namespace

Check CheckShapes(const OnnxModel& model, const Shapes& shapes, const compiler::GearOptions& gears) {
  std::vector<std::string> names;
  for (const OnnxValue& input : model.graph.inputs) names.push_back(input.name);
  for (const auto& [name, dims] : shapes) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return InvalidValue("input_shape", name, fmt::format("the model's inputs are: {}", fmt::join(names, ", ")),
                        "E10016");
  }
  for (const OnnxValue& input : model.graph.inputs) {
    const auto given =
        std::find_if(shapes.begin(), shapes.end(), [&](const auto& shape) { return shape.first == input.name; });
    const Check failure =
        given != shapes.end() ? CheckGiven(input, given->second, gears.dynamic) : CheckOpen(input, gears.dynamic);
    if (failure) return failure;
  }
  return CheckChoices(model, shapes, gears);
}

}  // namespace npustream::atc
