// CenterNet-type heads: a heat map [1, C, H, W], box sizes [1, 2, H, W] and, if there is one, the centre's offset
// [1, 2, H, W]. An object is a cell that no neighbour of its class (3x3) exceeds. Centre = (g + offset) · cell, where a
// cell is input width / W by input height / H and the offset is 0.5 without that output; width and height = values ·
// `size_scale` (default: a cell; 1 when the model gives pixels). Sizes of four channels are distances to the left, top,
// right and bottom side (TTFNet). A heat map with values outside 0 … 1 is taken for logits.
// Roles come from `names` ("heatmap", "size", "offset"), else from the shape: the heat map is the output with as many
// channels as there are labels (without labels: the first), sizes and offset follow in that order.
// Source: Zhou et al., "Objects as Points", arXiv 1904.07850.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "elements/postprocess/decoders/class_scan.h"
#include "elements/postprocess/decoders/decoders.h"
#include "elements/postprocess/decoders/output_roles.h"

namespace npustream::elements {
namespace {

struct CenterNetLayout {
  size_t heatmap = 0, size = 0;
  std::optional<size_t> offset;
  int64_t classes = 0, width = 0, height = 0;
  int64_t size_channels = 2;
  float cell_width = 0, cell_height = 0;    // pixels of the model's input
  float scale_width = 0, scale_height = 0;  // of the size output
};

class CenterNetDecoder : public BoxDecoder {
 public:
  explicit CenterNetDecoder(const CenterNetLayout& layout) : layout_(layout) {}

  void Decode(std::span<const float* const> tensors, float threshold,
              std::vector<Detection>& candidates) const override {
    const float* heatmap = tensors[layout_.heatmap];
    const int64_t cells = layout_.width * layout_.height;
    const bool logits = LookLikeLogits(heatmap, layout_.classes * cells);
    const float least = logits ? Logit(threshold) : threshold;
    for (int64_t c = 0; c < layout_.classes; ++c) {
      const float* plane = heatmap + c * cells;
      for (int64_t cell = 0; cell < cells; ++cell) {
        if (!(plane[cell] >= least) || !IsPeak(plane, cell)) continue;
        AppendCandidate(BoxOf(tensors, cell), logits ? Sigmoid(plane[cell]) : plane[cell], static_cast<int32_t>(c),
                        threshold, candidates);
      }
    }
  }

 private:
  bool IsPeak(const float* plane, int64_t cell) const {
    const int64_t x = cell % layout_.width, y = cell / layout_.width;
    for (int64_t ny = std::max<int64_t>(0, y - 1); ny <= std::min(layout_.height - 1, y + 1); ++ny) {
      for (int64_t nx = std::max<int64_t>(0, x - 1); nx <= std::min(layout_.width - 1, x + 1); ++nx) {
        if (plane[ny * layout_.width + nx] > plane[cell]) return false;
      }
    }
    return true;
  }

  Box BoxOf(std::span<const float* const> tensors, int64_t cell) const {
    const int64_t cells = layout_.width * layout_.height;
    const float* offset = layout_.offset ? tensors[*layout_.offset] + cell : nullptr;
    const float x = static_cast<float>(cell % layout_.width) + (offset ? offset[0] : 0.5f);
    const float y = static_cast<float>(cell / layout_.width) + (offset ? offset[cells] : 0.5f);
    const float center_x = x * layout_.cell_width, center_y = y * layout_.cell_height;
    const float* size = tensors[layout_.size] + cell;
    const float sx = layout_.scale_width, sy = layout_.scale_height;
    if (layout_.size_channels == 2) return BoxAround(center_x, center_y, size[0] * sx, size[cells] * sy);
    return {center_x - size[0] * sx, center_y - size[cells] * sy, center_x + size[2 * cells] * sx,
            center_y + size[3 * cells] * sy};
  }

  const CenterNetLayout layout_;
};

// Sets roles that the description names.
Status NamedRoles(const DecoderInputs& inputs, std::optional<size_t>& heatmap, std::optional<size_t>& size,
                  std::optional<size_t>& offset) {
  NPUSTREAM_ASSIGN_OR_RETURN(heatmap, NamedOutput(inputs, "heatmap"));
  NPUSTREAM_ASSIGN_OR_RETURN(size, NamedOutput(inputs, "size"));
  NPUSTREAM_ASSIGN_OR_RETURN(offset, NamedOutput(inputs, "offset"));
  return Status();
}

Status FindRoles(const DecoderInputs& inputs, CenterNetLayout& layout) {
  std::optional<size_t> heatmap, size, offset;
  NPUSTREAM_RETURN_IF_ERROR(NamedRoles(inputs, heatmap, size, offset));
  for (size_t i = 0; i < inputs.outputs.size(); ++i) {
    if (inputs.outputs[i].dims.size() != 4 || i == heatmap || i == size || i == offset) continue;
    const int64_t channels = inputs.outputs[i].dims[1];
    if (!heatmap && (inputs.class_count == 0 || channels == inputs.class_count)) {
      heatmap = i;
    } else if (!size && (channels == 2 || channels == 4)) {
      size = i;
    } else if (!offset && channels == 2) {
      offset = i;
    }
  }
  if (!heatmap || !size) return DoesNotFit(inputs, "a heat map [1, classes, H, W] and sizes [1, 2 or 4, H, W]");
  layout.heatmap = *heatmap;
  layout.size = *size;
  layout.offset = offset;
  return Status();
}

Status CheckGrids(const DecoderInputs& inputs, const CenterNetLayout& layout) {
  const std::vector<int64_t>& heatmap = inputs.outputs[layout.heatmap].dims;
  const auto fits = [&](size_t output, bool four_allowed) {
    const std::vector<int64_t>& dims = inputs.outputs[output].dims;
    return dims.size() == 4 && dims[2] == heatmap[2] && dims[3] == heatmap[3] &&
           (dims[1] == 2 || (four_allowed && dims[1] == 4));
  };
  // Cells are square.
  const bool square = heatmap.size() == 4 && heatmap[3] * inputs.input_height == heatmap[2] * inputs.input_width;
  if (square && fits(layout.size, true) && (!layout.offset || fits(*layout.offset, false)))
    return Status();
  return DoesNotFit(inputs, fmt::format("heat map, sizes and offset on one grid of square cells over {}x{} pixels",
                                        inputs.input_width, inputs.input_height));
}

}  // namespace

Result<std::unique_ptr<BoxDecoder>> CreateCenterNetDecoder(const DecoderInputs& inputs) {
  CenterNetLayout layout;
  NPUSTREAM_RETURN_IF_ERROR(FindRoles(inputs, layout));
  NPUSTREAM_RETURN_IF_ERROR(CheckGrids(inputs, layout));
  const std::vector<int64_t>& dims = inputs.outputs[layout.heatmap].dims;
  layout.classes = dims[1];
  layout.height = dims[2];
  layout.width = dims[3];
  NPUSTREAM_RETURN_IF_ERROR(CheckClassCount(inputs, layout.classes));
  layout.size_channels = inputs.outputs[layout.size].dims[1];
  layout.cell_width = static_cast<float>(inputs.input_width) / static_cast<float>(layout.width);
  layout.cell_height = static_cast<float>(inputs.input_height) / static_cast<float>(layout.height);
  NPUSTREAM_ASSIGN_OR_RETURN(const double scale, Number(inputs, "size_scale", 0));
  layout.scale_width = scale > 0 ? static_cast<float>(scale) : layout.cell_width;
  layout.scale_height = scale > 0 ? static_cast<float>(scale) : layout.cell_height;
  return std::unique_ptr<BoxDecoder>(std::make_unique<CenterNetDecoder>(layout));
}

}  // namespace npustream::elements
