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
    if (!shapes.emplace(part.substr(0, colon), std::move(dims)).second) {
      return refuse(fmt::format("input '{}' is given twice", part.substr(0, colon)));
    }
  }
  return shapes;
}

Outcome<std::vector<int64_t>> ParseGears(const std::string& text) {
  const auto refuse = [&](const std::string& reason, const char* code) {
    return InvalidValue("dynamic_batch_size", text, reason, code);
  };
  std::vector<int64_t> gears;
  for (const std::string& part : SplitList(text, ',')) {
    int64_t gear = 0;
    if (!ParseInteger(part, gear) || gear < 1 || gear > om::kMaxBatch) {
      return refuse(fmt::format("'{}' is no batch size", part), "E10018");
    }
    gears.push_back(gear);
  }
  if (gears.size() < 2) return refuse("at least 2 batch sizes are needed", "E10035");
  if (gears.size() > 100) return refuse("at most 100 batch sizes are possible", "E10036");
  std::sort(gears.begin(), gears.end());
  if (std::adjacent_find(gears.begin(), gears.end()) != gears.end()) {
    return refuse("a batch size is given twice", "E10039");
  }
  return gears;
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

Check CheckGiven(const OnnxValue& input, const om::Dims& dims, bool has_gears) {
  const std::string text = fmt::format("{}:{}", input.name, ShapeText(dims));
  const auto refuse = [&](const std::string& reason, const char* code) {
    return InvalidValue("input_shape", text, reason, code);
  };
  if (input.has_shape && dims.size() != input.dims.size()) {
    return refuse(fmt::format("the model's input has {} dimensions", input.dims.size()), "E10049");
  }
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == -1) {
      if (axis != 0 || !has_gears) {
        return refuse("-1 is possible on axis 0 only, and together with --dynamic_batch_size", "E10012");
      }
      continue;
    }
    if (dims[axis] < 1) return refuse("dimensions must be positive", "E10011");
    const int64_t declared = input.has_shape ? input.dims[axis].size : -1;
    if (declared >= 0 && declared != dims[axis] && axis != 0) {
      return refuse(fmt::format("the model fixes the shape to {}", DeclaredText(input)), "E10001");
    }
  }
  return std::nullopt;
}

// An input that is not given must be fixed in the file; the batch may stay open when gears fix it.
Check CheckOpen(const OnnxValue& input, bool has_gears) {
  if (!input.has_shape) {
    return Failure{"E10001",
                   fmt::format("input '{}' has no shape in the model: give it with --input_shape", input.name)};
  }
  for (size_t axis = 0; axis < input.dims.size(); ++axis) {
    if (input.dims[axis].size >= 0 || (axis == 0 && has_gears)) continue;
    return Failure{"E10001", fmt::format("input '{}' has the open shape {}: fix it with --input_shape=\"{}:...\"",
                                         input.name, DeclaredText(input), input.name)};
  }
  return std::nullopt;
}

}  // namespace

Check CheckShapes(const OnnxModel& model, const Shapes& shapes, bool has_gears) {
  std::vector<std::string> names;
  for (const OnnxValue& input : model.graph.inputs) names.push_back(input.name);
  for (const auto& [name, dims] : shapes) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return InvalidValue("input_shape", name, fmt::format("the model's inputs are: {}", fmt::join(names, ", ")),
                        "E10016");
  }
  for (const OnnxValue& input : model.graph.inputs) {
    const auto given = shapes.find(input.name);
    const Check failure =
        given != shapes.end() ? CheckGiven(input, given->second, has_gears) : CheckOpen(input, has_gears);
    if (failure) return failure;
  }
  return std::nullopt;
}

}  // namespace npustream::atc
