#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "elements/meta/detection_result.h"

namespace npustream::elements {

enum class OsdFormat { kNv12, kRgb, kBgr };

// A picture in host memory, drawn on in place. Strides are in bytes.
struct OsdPicture {
  OsdFormat format = OsdFormat::kNv12;
  int width = 0;
  int height = 0;
  std::byte* first = nullptr;  // luma, or packed pixels
  size_t first_stride = 0;
  std::byte* chroma = nullptr;  // NV12 only: ⌈height/2⌉ rows of U, V pairs
  size_t chroma_stride = 0;
};

struct OsdStyle {
  int line_width = 2;       // pixels
  double text_scale = 0.5;  // of OpenCV's Hershey font: 1.0 is about 22 pixels high
  bool labels = true;
};

// Draws each object's box and "label 87%", a colour per label id; what lies outside the picture is cut off.
Status DrawDetections(const OsdPicture& picture, const DetectionResult& result, const OsdStyle& style);

}  // namespace npustream::elements
