#include "elements/preprocess/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

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

struct Span {
  int begin = 0, size = 0;
};

// The pixels of one axis that a share of it takes; at least two, and from an even one on, if asked for.
Span SpanOf(double begin, double share, int frame_size, bool even) {
  const int first = static_cast<int>(std::lround(begin * frame_size)), least = std::min(kLeastPasted, frame_size);
  const int end = std::clamp(static_cast<int>(std::lround((begin + share) * frame_size)), least, frame_size);
  const int start = std::clamp(first, 0, end - least);
  return {even ? start & ~1 : start, end - (even ? start & ~1 : start)};
}

}  // namespace

Result<FrameRegion> ParseFrameRegion(const std::string& text) {
  FrameRegion region;
  int end = 0;
  const int read = std::sscanf(text.c_str(), "%lf,%lf,%lf,%lf%n", &region.x, &region.y, &region.w, &region.h, &end);
  constexpr double kRounding = 1e-6;
  const bool inside = region.x >= 0 && region.y >= 0 && region.w > 0 && region.h > 0 &&
                      region.x + region.w <= 1 + kRounding && region.y + region.h <= 1 + kRounding;
  if (read == 4 && static_cast<size_t>(end) == text.size() && inside) return region;
  return Status(StatusCode::kInvalidArgument,
                "the region '" + text + "' is not 'x,y,w,h' in fractions of the frame, within it and not empty");
}

PictureTransform FitPicture(int frame_width, int frame_height, int model_width, int model_height, serving::FitMode fit,
                            serving::PictureFormat format, const FrameRegion& region) {
  const bool even = format == serving::PictureFormat::kNv12;
  const Span across = SpanOf(region.x, region.w, frame_width, even),
             down = SpanOf(region.y, region.h, frame_height, even);
  PictureTransform transform;
  transform.frame_width = frame_width;
  transform.frame_height = frame_height;
  transform.source = {across.begin, down.begin, even ? EvenPart(across.size) : across.size,
                      even ? EvenPart(down.size) : down.size};
  transform.pasted = {0, 0, model_width, model_height};
  if (fit == serving::FitMode::kStretch) return transform;

  const double scale =
      std::min(static_cast<double>(model_width) / across.size, static_cast<double>(model_height) / down.size);
  transform.pasted.width = PastedSize(across.size * scale, model_width, even);
  transform.pasted.height = PastedSize(down.size * scale, model_height, even);
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

Status CheckMediaEngineLimits(const PictureTransform& transform) {
  constexpr int kLeastWidth = 10, kLeastHeight = 6, kMost = 8192;
  const int width = transform.frame_width, height = transform.frame_height;
  if (width < kLeastWidth || height < kLeastHeight || width > kMost || height > kMost) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("frames of {}x{} pixels are beyond the media engine's limits, {}x{} to {}x{}", width,
                              height, kLeastWidth, kLeastHeight, kMost, kMost));
  }
  constexpr double kLeastScale = 1.0 / 32, kMostScale = 16.0;
  const PixelRect &source = transform.source, &pasted = transform.pasted;
  const double scale_x = static_cast<double>(pasted.width) / source.width;
  const double scale_y = static_cast<double>(pasted.height) / source.height;
  if (std::min(scale_x, scale_y) >= kLeastScale && std::max(scale_x, scale_y) <= kMostScale) return Status();
  const bool whole = source.width >= width - 1 && source.height >= height - 1;
  const std::string what = whole ? fmt::format("frames of {}x{} pixels", width, height)
                                 : fmt::format("the region of {}x{} pixels in frames of {}x{}", source.width,
                                               source.height, width, height);
  return Status(StatusCode::kUnsupported,
                fmt::format("{} cannot be scaled to {}x{}: the media engine scales by 1/32 to 16", what, pasted.width,
                            pasted.height));
}

int NarrowRangeLuma(int value) { return static_cast<int>(std::floor(16 + value * 219.0 / 255 + 0.5)); }
int NarrowRangeChroma(int value) { return static_cast<int>(std::floor(128 + (value - 128) * 224.0 / 255 + 0.5)); }

}  // namespace npustream::elements
