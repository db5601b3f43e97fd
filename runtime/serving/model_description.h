#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace npustream::serving {

// What the device is given as the model's input.
enum class PictureFormat { kNv12, kRgb888 };

enum class ColorOrder { kRgb, kBgr };

// How a picture is fitted into the model's input.
enum class FitMode {
  kStretch,          // both axes scaled on their own
  kLetterbox,        // one scale, picture at the top left, the rest padded
  kLetterboxCenter,  // one scale, picture in the middle
};

// How boxes are read from the output tensors; see elements/postprocess for the decoders by name and for what they read
// from `numbers` and `names`.
struct DecoderDescription {
  std::string type;  // "yolox", "yolov5", "yolov8", "nanodet", "ssd", "yunet", "centernet", …
  std::map<std::string, std::vector<double>> numbers;  // strides, anchors, variances, … as the decoder documents
  std::map<std::string, std::string> names;            // output tensors by role, where order or shape do not say it
};

// What a model needs beside its weights to be used: read from a small YAML file (configs/models/README.md).
struct ModelDescription {
  std::string name;
  std::string version;
  std::filesystem::path file;  // ONNX or OM; absolute once the description has been loaded
  // Size of the model's input in pixels, for a file that leaves it open; 0 × 0: as the file says.
  int input_width = 0;
  int input_height = 0;
  ColorOrder color_order = ColorOrder::kBgr;
  // The model sees (value − mean) / std per channel, in the model's channel order, for values of 0 … 255.
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> std{1, 1, 1};
  FitMode fit = FitMode::kLetterbox;
  uint8_t pad_value = 114;  // the same for R, G and B
  DecoderDescription decoder;
  float threshold = 0.4f;     // least confidence of a detection
  float nms_iou = 0.6f;       // boxes that overlap more than this with a better one are dropped
  bool nms_agnostic = false;  // across classes
  int max_detections = 300;   // per picture, the best ones
  std::vector<std::string> labels;
  std::string licence;
  std::string source_url;
  std::string sha256;  // of `file`, 64 lower-case hexadecimal digits; empty when it is not known
};

// Reads and validates a description. Errors name file, line and key. `file` need not exist. Any thread.
Result<ModelDescription> LoadModelDescription(const std::filesystem::path& path);

// One label a line; a byte order mark, carriage returns and empty lines at the end are dropped, an empty line between
// labels is an error, as it would shift the ids of those behind it.
Result<std::vector<std::string>> LoadLabels(const std::filesystem::path& path);

}  // namespace npustream::serving
