#pragma once

#include <span>

#include <opencv2/core.hpp>

#include "elements/meta/detection_result.h"

namespace npustream::pipeline {

// An NV12 picture in host memory.
struct HostPicture {
  const uint8_t* luma = nullptr;
  const uint8_t* chroma = nullptr;
  int width = 0, height = 0;
  size_t luma_stride = 0, chroma_stride = 0;  // bytes
  double frames_per_second = 0;               // of its stream; 0: unknown
};

// Scales the picture into `tile` (BGR, any size) so that all of it is seen, black around it, and draws boxes with
// labels and confidences and `title` on it.
void DrawTile(const HostPicture& picture, std::span<const elements::DetectedObject> objects, const std::string& title,
              cv::Mat tile);

}  // namespace npustream::pipeline
