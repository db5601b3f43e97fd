// NanoDet and other heads of Generalized Focal Loss. Per stride (default 8, 16, 32) class scores [1, N, C] and box
// sides [1, N, 4·B]: B bins for the distance to the left, top, right and bottom side. A distance is the expectation of
// the softmax over its bins (bin b stands for b) times the stride, from the cell's centre (g + `cell_offset`) · stride,
// `cell_offset` 0.5 by default. One joined output [1, ΣN, C + 4·B] is read as well (NanoDet-Plus: strides 8, 16, 32,
// 64, cell_offset 0). B follows from the shape; B = 1 means the distance itself, in cells.
//
// Scores are probabilities or logits: when one of the first 64 scores or so of a level lies outside 0 … 1 they are
// logits, as a sigmoid never gives that, and the logits of that many cells and classes are never all inside.
//
// Sources: Li et al., "Generalized Focal Loss", arXiv 2006.04388; RangiLyu/nanodet, its description of the head.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "elements/postprocess/decoders/class_scan.h"
#include "elements/postprocess/decoders/decoders.h"
#include "elements/postprocess/decoders/output_roles.h"

namespace npustream::elements {
namespace {

// Where a level's scores and sides lie: rows of `score_row` and `side_row` floats, starting at an offset.
struct Head {
  GridLevel grid;
  size_t score_output = 0, side_output = 0;
  int64_t score_offset = 0, side_offset = 0;
  int64_t score_row = 0, side_row = 0;
};

// Σ b · softmax(bins)[b], with the greatest bin taken off for range.
float Expectation(const float* bins, int64_t count) {
  if (count == 1) return bins[0];
  const float greatest = GreatestScore(bins, count);
  float sum = 0, weighted = 0;
  for (int64_t b = 0; b < count; ++b) {
    const float weight = std::exp(bins[b] - greatest);
    sum += weight;
    weighted += weight * static_cast<float>(b);
  }
  return weighted / sum;
}

class NanoDetDecoder : public BoxDecoder {
 public:
  NanoDetDecoder(std::vector<Head> heads, int64_t classes, int64_t bins, double cell_offset)
      : heads_(std::move(heads)), classes_(classes), bins_(bins), cell_offset_(static_cast<float>(cell_offset)) {}

  void Decode(std::span<const float* const> tensors, float threshold,
              std::vector<Detection>& candidates) const override {
    for (const Head& head : heads_) {
      DecodeHead(head, tensors[head.score_output] + head.score_offset, tensors[head.side_output] + head.side_offset,
                 threshold, candidates);
    }
  }

 private:
  bool HasLogits(const Head& head, const float* scores) const {
    const int64_t cells = std::min(head.grid.cells(), 1 + 63 / classes_);
    for (int64_t cell = 0; cell < cells; ++cell) {
      if (LookLikeLogits(scores + cell * head.score_row, classes_)) return true;
    }
    return false;
  }

  void DecodeHead(const Head& head, const float* scores, const float* sides, float threshold,
                  std::vector<Detection>& candidates) const {
    const bool logits = HasLogits(head, scores);
    const float least = logits ? Logit(threshold) : threshold;
    for (int y = 0; y < head.grid.height; ++y) {
      for (int x = 0; x < head.grid.width; ++x, scores += head.score_row, sides += head.side_row) {
        if (!(GreatestScore(scores, classes_) >= least)) continue;
        const BestClass best = FindBestClass(scores, classes_);
        AppendCandidate(BoxOf(sides, head.grid.stride, x, y), logits ? Sigmoid(best.score) : best.score, best.label_id,
                        threshold, candidates);
      }
    }
  }

  Box BoxOf(const float* sides, int stride, int x, int y) const {
    const float center_x = (x + cell_offset_) * stride, center_y = (y + cell_offset_) * stride;
    float distance[4];
    for (int side = 0; side < 4; ++side) distance[side] = Expectation(sides + side * bins_, bins_) * stride;
    return {center_x - distance[0], center_y - distance[1], center_x + distance[2], center_y + distance[3]};
  }

  const std::vector<Head> heads_;
  const int64_t classes_;
  const int64_t bins_;
  const float cell_offset_;
};

struct Layout {
  std::vector<Head> heads;
  int64_t classes = 0;
  int64_t bins = 0;
};

// One output for everything; the number of classes must come from the labels or `numbers["classes"]`.
Result<Layout> JoinedLayout(const DecoderInputs& inputs, const std::vector<GridLevel>& levels) {
  const std::vector<int64_t>& dims = inputs.outputs[0].dims;
  NPUSTREAM_ASSIGN_OR_RETURN(const double classes, Number(inputs, "classes", inputs.class_count));
  if (dims.size() != 3 || dims[1] != CellCount(levels) || classes < 1 || dims[2] <= classes ||
      (dims[2] - static_cast<int64_t>(classes)) % 4 != 0) {
    return DoesNotFit(inputs, fmt::format("[1, {}, {} classes + 4 sides of bins]", CellCount(levels), classes));
  }
  Layout layout;
  layout.classes = static_cast<int64_t>(classes);
  layout.bins = (dims[2] - layout.classes) / 4;
  int64_t offset = 0;
  for (const GridLevel& level : levels) {
    layout.heads.push_back({level, 0, 0, offset, offset + layout.classes, dims[2], dims[2]});
    offset += level.cells() * dims[2];
  }
  return layout;
}

bool NamedLikeScores(const DecoderInputs& inputs, size_t output) {
  for (size_t found : OutputsNamedLike(inputs, "cls")) {
    if (found == output) return true;
  }
  return false;
}

// Scores and sides of one level: the two outputs with a row per cell. Which is which follows from the label count, then
// from a name with "cls", then from the order.
Result<Head> SeparateHead(const DecoderInputs& inputs, const GridLevel& level) {
  std::vector<size_t> found;
  for (size_t i = 0; i < inputs.outputs.size(); ++i) {
    const std::vector<int64_t>& dims = inputs.outputs[i].dims;
    if (dims.size() == 3 && dims[1] == level.cells()) found.push_back(i);
  }
  if (found.size() != 2) {
    return DoesNotFit(inputs, fmt::format("two outputs [1, {}, …] for stride {}", level.cells(), level.stride));
  }
  const int64_t first = inputs.outputs[found[0]].dims[2], second = inputs.outputs[found[1]].dims[2];
  const bool by_count = inputs.class_count > 0 && (first == inputs.class_count) != (second == inputs.class_count);
  const bool swapped =
      by_count ? second == inputs.class_count : NamedLikeScores(inputs, found[1]) && !NamedLikeScores(inputs, found[0]);
  if (swapped) return Head{level, found[1], found[0], 0, 0, second, first};
  return Head{level, found[0], found[1], 0, 0, first, second};
}

Result<Layout> SeparateLayout(const DecoderInputs& inputs, const std::vector<GridLevel>& levels) {
  Layout layout;
  for (const GridLevel& level : levels) {
    NPUSTREAM_ASSIGN_OR_RETURN(Head head, SeparateHead(inputs, level));
    if (layout.heads.empty()) {
      layout.classes = head.score_row;
      layout.bins = head.side_row / 4;
    }
    if (head.score_row != layout.classes || head.side_row != 4 * layout.bins || layout.bins < 1 || layout.classes < 1) {
      return DoesNotFit(inputs, "the same classes and 4 sides of bins at every stride");
    }
    layout.heads.push_back(head);
  }
  return layout;
}

}  // namespace

Result<std::unique_ptr<BoxDecoder>> CreateNanoDetDecoder(const DecoderInputs& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<GridLevel> levels, GridLevels(inputs, {8, 16, 32}));
  NPUSTREAM_ASSIGN_OR_RETURN(const double cell_offset, Number(inputs, "cell_offset", 0.5));
  auto layout = inputs.outputs.size() == 1 ? JoinedLayout(inputs, levels) : SeparateLayout(inputs, levels);
  if (!layout.ok()) return layout.status();
  NPUSTREAM_RETURN_IF_ERROR(CheckClassCount(inputs, layout->classes));
  return std::unique_ptr<BoxDecoder>(
      std::make_unique<NanoDetDecoder>(std::move(layout->heads), layout->classes, layout->bins, cell_offset));
}

}  // namespace npustream::elements
