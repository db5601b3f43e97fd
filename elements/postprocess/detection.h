#pragma once

#include <cstdint>
#include <vector>

namespace npustream::elements {

// Corners of a box in pixels; x_max and y_max are exclusive edges, so a width is x_max − x_min.
struct Box {
  float x_min = 0, y_min = 0, x_max = 0, y_max = 0;
};

struct Landmark {
  float x = 0, y = 0;
};

// One object. Decoders give boxes in pixels of the model's input, everything after the inverse transform is in pixels
// of the decoded frame.
struct Detection {
  Box box;
  float confidence = 0;
  int32_t label_id = 0;
  std::vector<Landmark> landmarks;  // empty for most models
};

}  // namespace npustream::elements
