#include "elements/postprocess/decoders/ssd_priors.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "elements/postprocess/decoders/output_roles.h"

namespace npustream::elements {
namespace {

// The boxes of one cell in pixels.
struct Shape {
  double width = 0, height = 0;
};

struct LevelShapes {
  std::vector<double> min_sizes, max_sizes, ratios;
};

std::vector<Shape> ShapesOf(const LevelShapes& level) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < level.min_sizes.size(); ++i) {
    const double size = level.min_sizes[i];
    shapes.push_back({size, size});
    if (!level.max_sizes.empty()) {
      const double side = std::sqrt(size * level.max_sizes[i]);
      shapes.push_back({side, side});
    }
    for (double ratio : level.ratios) {
      const double root = std::sqrt(ratio);
      shapes.push_back({size * root, size / root});
      shapes.push_back({size / root, size * root});
    }
  }
  return shapes;
}

// Cuts `values` into one piece per level, `counts[i]` long.
Result<std::vector<std::vector<double>>> Split(const std::vector<double>& values, const std::vector<double>& counts,
                                               size_t levels, std::string_view key) {
  std::vector<std::vector<double>> pieces;
  size_t begin = 0;
  for (size_t i = 0; i < levels && counts.size() == levels; ++i) {
    const size_t count = counts[i] >= 0 ? static_cast<size_t>(counts[i]) : values.size() + 1;
    if (count > values.size() - begin) break;
    pieces.emplace_back(values.begin() + static_cast<ptrdiff_t>(begin),
                        values.begin() + static_cast<ptrdiff_t>(begin + count));
    begin += count;
  }
  if (pieces.size() == levels && begin == values.size()) return pieces;
  return Status(
      StatusCode::kInvalidArgument,
      fmt::format("the {} numbers of '{}' cannot be shared out among {} strides", values.size(), key, levels));
}

Result<std::vector<LevelShapes>> ReadShapes(const DecoderInputs& inputs, size_t levels) {
  const std::vector<double> sizes = Numbers(inputs, "min_sizes", {});
  if (sizes.empty()) return Status(StatusCode::kInvalidArgument, "neither 'priors' nor 'min_sizes' is given");
  const auto equal_share = static_cast<double>(sizes.size() / levels);
  const std::vector<double> counts = Numbers(inputs, "sizes_per_level", std::vector<double>(levels, equal_share));
  NPUSTREAM_ASSIGN_OR_RETURN(auto min_sizes, Split(sizes, counts, levels, "min_sizes"));
  const std::vector<double> max = Numbers(inputs, "max_sizes", {});
  const std::vector<double> ratios = Numbers(inputs, "aspect_ratios", {});
  std::vector<LevelShapes> shapes(levels);
  for (size_t i = 0; i < levels; ++i) shapes[i] = {min_sizes[i], {}, ratios};
  if (!max.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(auto max_sizes, Split(max, counts, levels, "max_sizes"));
    for (size_t i = 0; i < levels; ++i) shapes[i].max_sizes = max_sizes[i];
  }
  if (const std::vector<double> ratio_counts = Numbers(inputs, "ratios_per_level", {}); !ratio_counts.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(auto pieces, Split(ratios, ratio_counts, levels, "aspect_ratios"));
    for (size_t i = 0; i < levels; ++i) shapes[i].ratios = pieces[i];
  }
  return shapes;
}

Result<std::vector<Prior>> Generate(const DecoderInputs& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<GridLevel> levels, GridLevels(inputs, {8, 16, 32, 64}));
  NPUSTREAM_ASSIGN_OR_RETURN(std::vector<LevelShapes> shapes, ReadShapes(inputs, levels.size()));
  std::vector<Prior> priors;
  for (size_t i = 0; i < levels.size(); ++i) {
    const std::vector<Shape> cell_shapes = ShapesOf(shapes[i]);
    for (int64_t cell = 0; cell < levels[i].cells(); ++cell) {
      const double x = (static_cast<double>(cell % levels[i].width) + 0.5) * levels[i].stride / inputs.input_width;
      const double y = (static_cast<double>(cell / levels[i].width) + 0.5) * levels[i].stride / inputs.input_height;
      for (const Shape& shape : cell_shapes) {
        priors.push_back({static_cast<float>(x), static_cast<float>(y),
                          static_cast<float>(shape.width / inputs.input_width),
                          static_cast<float>(shape.height / inputs.input_height)});
      }
    }
  }
  return priors;
}

}  // namespace

Result<std::vector<Prior>> SsdPriors(const DecoderInputs& inputs) {
  std::vector<Prior> priors;
  if (const std::vector<double> given = Numbers(inputs, "priors", {}); !given.empty()) {
    if (given.size() % 4 != 0) return Status(StatusCode::kInvalidArgument, "'priors' does not hold four numbers each");
    for (size_t i = 0; i < given.size(); i += 4) {
      priors.push_back({static_cast<float>(given[i]), static_cast<float>(given[i + 1]),
                        static_cast<float>(given[i + 2]), static_cast<float>(given[i + 3])});
    }
  } else {
    NPUSTREAM_ASSIGN_OR_RETURN(priors, Generate(inputs));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const double clip, Number(inputs, "clip_priors", 0));
  if (clip == 0) return priors;
  for (Prior& prior : priors) {
    for (float* value : {&prior.center_x, &prior.center_y, &prior.width, &prior.height}) {
      *value = std::clamp(*value, 0.0f, 1.0f);
    }
  }
  return priors;
}

}  // namespace npustream::elements
