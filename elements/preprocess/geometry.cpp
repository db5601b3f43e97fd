#include "elements/preprocess/geometry.h"

#include <algorithm>
#include <cmath>

namespace npustream::elements {
namespace {

constexpr int kPasteColumnStep = 16;
constexpr int kLeastPasted = 2;

int RoundToEven(double value) { return 2 * static_cast<int>(std::floor(value / 2 + 0.5)); }

int PastedSize(double exact, int limit, bool even) {
  const int rounded = even ? RoundToEven(exact) : static_cast<int>(std::floor(exact + 0.5));
  return std::clamp(rounded, std::min(kLeastPasted, limit), limit);
}

// The left-out column or row of an odd frame would have half a chroma sample.
int EvenPart(int size) { return size > 1 ? size & ~1 : size; }

}  // namespace

PictureTransform FitPicture(int frame_width, int frame_height, int model_width, int model_height,
                            serving::FitMode fit, serving::PictureFormat format) {
  const bool even = format == serving::PictureFormat::kNv12;
  PictureTransform transform;
  transform.frame_width = frame_width;
  transform.frame_height = frame_height;
  transform.source = {0, 0, even ? EvenPart(frame_width) : frame_width, even ? EvenPart(frame_height) : frame_height};
  transform.pasted = {0, 0, model_width, model_height};
  if (fit == serving::FitMode::kStretch) return transform;

  const double scale = std::min(static_cast<double>(model_width) / frame_width,
                                static_cast<double>(model_height) / frame_height);
  transform.pasted.width = PastedSize(frame_width * scale, model_width, even);
  transform.pasted.height = PastedSize(frame_height * scale, model_height, even);
  if (fit == serving::FitMode::kLetterboxCenter) {
    transform.pasted.left = (model_width - transform.pasted.width) / 2 / kPasteColumnStep * kPasteColumnStep;
    transform.pasted.top = (model_height - transform.pasted.height) / 2 & ~1;
  }
  return transform;
}

Box PictureTransform::ToModel(const Box& box) const {
  const float scale_x = static_cast<float>(pasted.width) / static_cast<float>(source.width);
  const float scale_y = static_cast<float>(pasted.height) / static_cast<float>(source.height);
  const auto x = [&](float value) { return (value - source.left) * scale_x + pasted.left; };
  const auto y = [&](float value) { return (value - source.top) * scale_y + pasted.top; };
  return {x(box.x_min), y(box.y_min), x(box.x_max), y(box.y_max)};
}

Landmark PictureTransform::ToFrame(const Landmark& point) const {
  const float scale_x = static_cast<float>(source.width) / static_cast<float>(pasted.width);
  const float scale_y = static_cast<float>(source.height) / static_cast<float>(pasted.height);
  return {(point.x - pasted.left) * scale_x + source.left, (point.y - pasted.top) * scale_y + source.top};
}

Box PictureTransform::ToFrame(const Box& box) const {
  const Landmark low = ToFrame(Landmark{box.x_min, box.y_min});
  const Landmark high = ToFrame(Landmark{box.x_max, box.y_max});
  return {low.x, low.y, high.x, high.y};
}

Box PictureTransform::ClipToFrame(const Box& box) const {
  const auto x = [this](float value) { return std::clamp(value, 0.0f, static_cast<float>(frame_width)); };
  const auto y = [this](float value) { return std::clamp(value, 0.0f, static_cast<float>(frame_height)); };
  return {x(box.x_min), y(box.y_min), x(box.x_max), y(box.y_max)};
}

int NarrowRangeLuma(int value) { return static_cast<int>(std::floor(16 + value * 219.0 / 255 + 0.5)); }
int NarrowRangeChroma(int value) { return static_cast<int>(std::floor(128 + (value - 128) * 224.0 / 255 + 0.5)); }

}  // namespace npustream::elements
