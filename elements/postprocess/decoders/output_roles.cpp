#include "elements/postprocess/decoders/output_roles.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace npustream::elements {

Result<std::vector<GridLevel>> GridLevels(const DecoderInputs& inputs, const std::vector<double>& fallback) {
  std::vector<GridLevel> levels;
  for (double number : Numbers(inputs, "strides", fallback)) {
    const int stride = static_cast<int>(number);
    if (stride != number || stride < 1 || stride > 4096) {
      return Status(StatusCode::kInvalidArgument, fmt::format("'strides' has {}, which is not a stride", number));
    }
    levels.push_back({stride, (inputs.input_width + stride - 1) / stride, (inputs.input_height + stride - 1) / stride});
  }
  if (levels.empty()) return Status(StatusCode::kInvalidArgument, "'strides' is empty");
  return levels;
}

int64_t CellCount(const std::vector<GridLevel>& levels) {
  int64_t cells = 0;
  for (const GridLevel& level : levels) cells += level.cells();
  return cells;
}

Result<std::vector<int64_t>> UsualCellCounts(const DecoderInputs& inputs) {
  const std::vector<std::vector<double>> usual{{8, 16, 32}, {8, 16, 32, 64}, {4, 8, 16, 32}};
  std::vector<int64_t> counts;
  for (const std::vector<double>& strides : usual) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<GridLevel> levels, GridLevels(inputs, strides));
    const int64_t cells = CellCount(levels);
    if (std::find(counts.begin(), counts.end(), cells) == counts.end()) counts.push_back(cells);
  }
  return counts;
}

Result<double> Number(const DecoderInputs& inputs, std::string_view key, double fallback) {
  const auto found = inputs.description.numbers.find(std::string(key));
  if (found == inputs.description.numbers.end()) return fallback;
  if (found->second.size() != 1 || !std::isfinite(found->second[0])) {
    return Status(StatusCode::kInvalidArgument, fmt::format("'{}' must be one number", key));
  }
  return found->second[0];
}

std::vector<double> Numbers(const DecoderInputs& inputs, std::string_view key, const std::vector<double>& fallback) {
  const auto found = inputs.description.numbers.find(std::string(key));
  return found == inputs.description.numbers.end() ? fallback : found->second;
}

Result<std::optional<size_t>> NamedOutput(const DecoderInputs& inputs, std::string_view role) {
  const auto found = inputs.description.names.find(std::string(role));
  if (found == inputs.description.names.end()) return std::optional<size_t>();
  const std::string suffix = ":" + found->second;
  for (size_t i = 0; i < inputs.outputs.size(); ++i) {
    const std::string& name = inputs.outputs[i].name;
    if (name == found->second || name.ends_with(suffix)) return std::optional<size_t>(i);
  }
  return DoesNotFit(inputs, fmt::format("an output named '{}' for '{}'", found->second, role));
}

std::vector<size_t> OutputsNamedLike(const DecoderInputs& inputs, std::string_view part) {
  std::vector<size_t> found;
  for (size_t i = 0; i < inputs.outputs.size(); ++i) {
    std::string name = inputs.outputs[i].name;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name.find(part) != std::string::npos) found.push_back(i);
  }
  return found;
}

std::string DescribeOutputs(std::span<const OutputShape> outputs) {
  if (outputs.empty()) return "no outputs";
  std::string text;
  for (const OutputShape& output : outputs) {
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", output.name, fmt::join(output.dims, ", "));
  }
  return text;
}

Status DoesNotFit(const DecoderInputs& inputs, std::string_view expectation) {
  return Status(StatusCode::kInvalidArgument,
                fmt::format("needs {}, the model has {}", expectation, DescribeOutputs(inputs.outputs)));
}

Status CheckClassCount(const DecoderInputs& inputs, int64_t classes) {
  constexpr int64_t kCocoClasses = 80;
  if (inputs.class_count == 0 && std::abs(classes - kCocoClasses) == 1) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("would read {} classes, one off COCO's {}, from {}: another decoder fits better, or labels "
                    "must be given",
                    classes, kCocoClasses, DescribeOutputs(inputs.outputs)));
  }
  if (inputs.class_count == 0 || inputs.class_count == classes) return Status();
  return Status(StatusCode::kInvalidArgument,
                fmt::format("the model tells {} classes apart, the label list has {}", classes, inputs.class_count));
}

}  // namespace npustream::elements
