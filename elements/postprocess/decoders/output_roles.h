#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "elements/postprocess/decoders/decoders.h"

namespace npustream::elements {

// A grid of cells that one output level predicts from, row by row.
struct GridLevel {
  int stride = 0;  // pixels of the model's input per cell
  int width = 0;   // cells
  int height = 0;
  int64_t cells() const { return int64_t{width} * height; }
};

// One level per stride in `numbers["strides"]` (default `fallback`); partial cells at the edges count.
Result<std::vector<GridLevel>> GridLevels(const DecoderInputs& inputs, const std::vector<double>& fallback);
int64_t CellCount(const std::vector<GridLevel>& levels);
// How many cells a model of the YOLO family may have: those of the given strides, else of 8, 16, 32, and of these with
// 64 or 4.
Result<std::vector<int64_t>> UsualCellCounts(const DecoderInputs& inputs);

// The number `key` of the description, or `fallback`; kInvalidArgument unless it is one finite number.
Result<double> Number(const DecoderInputs& inputs, std::string_view key, double fallback);
// The list `key` of the description, or `fallback`.
std::vector<double> Numbers(const DecoderInputs& inputs, std::string_view key, const std::vector<double>& fallback);

// The index of the output which the description names for `role`, nothing if it names none. kInvalidArgument if no
// output has that name. A name fits the whole of an output's name or its end after a ':' (atc prefixes the node's).
Result<std::optional<size_t>> NamedOutput(const DecoderInputs& inputs, std::string_view role);
// The outputs whose lower-case name contains `part`.
std::vector<size_t> OutputsNamedLike(const DecoderInputs& inputs, std::string_view part);

// "name [1, 3549, 85], …" for messages.
std::string DescribeOutputs(std::span<const OutputShape> outputs);
// kInvalidArgument with `expectation` and what the model has instead.
Status DoesNotFit(const DecoderInputs& inputs, std::string_view expectation);
// Ok when the labels' count equals `classes`, or is unknown and `classes` is not one off COCO's 80: one channel more or
// less is an objectness that another decoder would read, or that is not there.
Status CheckClassCount(const DecoderInputs& inputs, int64_t classes);

}  // namespace npustream::elements
