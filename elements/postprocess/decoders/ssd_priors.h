#pragma once

#include <vector>

#include "base/status.h"
#include "elements/postprocess/decoders/decoders.h"

namespace npustream::elements {

// A prior (anchor) box as fractions of the model's input.
struct Prior {
  float center_x = 0, center_y = 0, width = 0, height = 0;
};

// The priors of an SSD head in the order of its outputs: given in numbers["priors"] as centre x, centre y, width,
// height each, or generated per level, cell and shape from
//   strides              pixels per cell of each level; the level has ceil(input / stride) cells per axis
//   min_sizes            pixels, `sizes_per_level` of them for each level (default: the same number for each)
//   sizes_per_level      how many of min_sizes belong to each level
//   max_sizes            optional, one per min size: adds the square of side sqrt(min · max)
//   aspect_ratios        optional, for every min size: adds w = s·sqrt(r), h = s/sqrt(r) and the same with 1/r;
//   ratios_per_level     how many of aspect_ratios belong to each level (default: all of them to every level)
//   clip_priors          1: each of the four numbers is limited to 0 … 1
// Order in a cell, as in Caffe's PriorBox: for each min size its square, the sqrt(min·max) square, then the ratios.
// Source: Liu et al., "SSD: Single Shot MultiBox Detector", arXiv 1512.02325, section 2.2.
Result<std::vector<Prior>> SsdPriors(const DecoderInputs& inputs);

}  // namespace npustream::elements
