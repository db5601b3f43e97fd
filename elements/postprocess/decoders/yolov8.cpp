// YOLOv8 and its successors without objectness: one output [1, 4 + C, N] or [1, N, 4 + C] of centre x, centre y, width,
// height in pixels of the input and class scores. N is the number of cells of `strides` (default 8, 16, 32, or these
// with 64 or 4), which tells the axes apart. Source: the export format of Ultralytics' documentation.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "elements/postprocess/decoders/class_scan.h"
#include "elements/postprocess/decoders/decoders.h"
#include "elements/postprocess/decoders/output_roles.h"

namespace npustream::elements {
namespace {

class YoloV8Decoder : public BoxDecoder {
 public:
  YoloV8Decoder(int64_t rows, int64_t classes, bool channels_first)
      : rows_(rows), classes_(classes), channels_first_(channels_first) {}

  void Decode(std::span<const float* const> tensors, float threshold,
              std::vector<Detection>& candidates) const override {
    if (channels_first_) {
      DecodePlanes(tensors[0], threshold, candidates);
    } else {
      DecodeRows(tensors[0], threshold, candidates);
    }
  }

 private:
  static constexpr int64_t kTile = 256;  // cells looked at together, so that their maxima stay in L1

  void DecodePlanes(const float* planes, float threshold, std::vector<Detection>& candidates) const {
    const float* scores = planes + 4 * rows_;
    float best[kTile];
    for (int64_t begin = 0; begin < rows_; begin += kTile) {
      const int64_t cells = std::min(kTile, rows_ - begin);
      GreatestPerCell(scores + begin, classes_, rows_, cells, best);
      for (int64_t i = 0; i < cells; ++i) {
        if (!(best[i] >= threshold)) continue;
        const float* cell = planes + begin + i;
        AppendCandidate(BoxAround(cell[0], cell[rows_], cell[2 * rows_], cell[3 * rows_]), best[i],
                        ClassWithScore(cell + 4 * rows_, classes_, rows_, best[i]), threshold, candidates);
      }
    }
  }

  void DecodeRows(const float* row, float threshold, std::vector<Detection>& candidates) const {
    for (int64_t i = 0; i < rows_; ++i, row += 4 + classes_) {
      if (!(GreatestScore(row + 4, classes_) >= threshold)) continue;
      const BestClass best = FindBestClass(row + 4, classes_);
      AppendCandidate(BoxAround(row[0], row[1], row[2], row[3]), best.score, best.label_id, threshold, candidates);
    }
  }

  const int64_t rows_;
  const int64_t classes_;
  const bool channels_first_;
};

}  // namespace

Result<std::unique_ptr<BoxDecoder>> CreateYoloV8Decoder(const DecoderInputs& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> counts, UsualCellCounts(inputs));
  const auto unfit = [&] {
    return DoesNotFit(inputs, fmt::format("one output [1, 4 + classes, N] or [1, N, 4 + classes] with N = {}",
                                          fmt::join(counts, " or ")));
  };
  if (inputs.outputs.size() != 1 || inputs.outputs[0].dims.size() != 3) return unfit();
  const std::vector<int64_t>& dims = inputs.outputs[0].dims;
  const auto are_cells = [&](int64_t count) { return std::find(counts.begin(), counts.end(), count) != counts.end(); };
  const bool both = are_cells(dims[1]) && are_cells(dims[2]);
  const bool channels_first = both ? dims[1] == inputs.class_count + 4 : are_cells(dims[2]);
  const int64_t channels = channels_first ? dims[1] : dims[2], rows = channels_first ? dims[2] : dims[1];
  if (channels < 5 || !are_cells(rows)) return unfit();
  NPUSTREAM_RETURN_IF_ERROR(CheckClassCount(inputs, channels - 4));
  return std::unique_ptr<BoxDecoder>(std::make_unique<YoloV8Decoder>(rows, channels - 4, channels_first));
}

}  // namespace npustream::elements
