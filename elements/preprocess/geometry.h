#pragma once

#include <string>

#include "base/status.h"
#include "elements/postprocess/detection.h"
#include "runtime/serving/model_description.h"
#include "runtime/serving/model_store.h"

namespace npustream::elements {

// A rectangle of whole pixels; width and height are counts, so the right edge is left + width.
struct PixelRect {
  int left = 0, top = 0, width = 0, height = 0;
  bool operator==(const PixelRect&) const = default;
};

// A part of a frame in fractions of its width and height.
struct FrameRegion {
  double x = 0, y = 0, w = 1, h = 1;
};

// Reads "x,y,w,h". kInvalidArgument unless it is four numbers that describe a part of the frame that is not empty.
Result<FrameRegion> ParseFrameRegion(const std::string& text);

// How a frame came to lie in a model's input: the part `source` of the frame was scaled onto `pasted`. Coordinates are
// continuous (a pixel covers [n, n + 1)), so a box [0, width] of the source becomes exactly the pasted rectangle.
struct PictureTransform {
  PixelRect source;  // in pixels of the frame
  PixelRect pasted;  // in pixels of the model's input
  int frame_width = 0;
  int frame_height = 0;

  Box ToModel(const Box& frame_box) const;
  // The inverse of ToModel.
  Box ToFrame(const Box& model_box) const;
  Landmark ToFrame(const Landmark& model_point) const;
  // A box in frame pixels, cut off at the frame's edges.
  Box ClipToFrame(const Box& box) const;

  bool operator==(const PictureTransform&) const = default;
};

// Where a frame of frame_width × frame_height (both > 0) goes in a model input of the given size, by the rules of the
// device: for NV12 the taken part has even edges (a last odd column or row is left out) and the pasted size is even; a
// paste starts at a column that is a multiple of 16 and an even row. The letterbox scale is min(W/w, H/h), sizes are
// rounded half up and are at least 2. With a region, only that part of the frame (its edges rounded to whole pixels) is
// taken.
PictureTransform FitPicture(int frame_width, int frame_height, int model_width, int model_height, serving::FitMode fit,
                            serving::PictureFormat format, const FrameRegion& region = {});

// kUnsupported, with the limit, for a frame or a scale that the media engine (VPC of the 310P) does not do.
Status CheckMediaEngineLimits(const PictureTransform& transform);

// Luma of a grey padding value 0 … 255 in narrow-range YUV: round(16 + pad · 219 / 255) (ITU-R BT.601).
int NarrowRangeLuma(int full_range_value);
// Chroma likewise: round(128 + (value − 128) · 224 / 255).
int NarrowRangeChroma(int full_range_value);

}  // namespace npustream::elements
