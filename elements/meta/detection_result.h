#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elements/postprocess/detection.h"

namespace npustream::elements {

// One thing that was found in a frame; its box and landmarks are in pixels of the frame.
struct DetectedObject {
  Detection detection;
  std::string label;
  int64_t track_id = -1;  // −1: nobody follows it
};

// What one model found in one frame. No objects means that the model ran and found nothing.
struct DetectionResult {
  std::vector<DetectedObject> objects;
  std::string model_name;
  std::string model_version;
  std::string profile;  // "day", "night", …; empty without profiles
  int frame_width = 0;
  int frame_height = 0;
};

}  // namespace npustream::elements
