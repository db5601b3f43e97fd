#include "runtime/serving/model_defaults.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/serving/model_folders.h"

namespace npustream::serving {
namespace {

// How an output's channels count: classes plus this many others (box, objectness, background).
struct ClassChannels {
  int least_others = 0;
  int most_others = 0;
  int step = 1;
};

struct DecoderDefaults {
  std::string_view type;
  ColorOrder order;
  std::array<float, 3> mean;
  std::array<float, 3> std;
  FitMode fit;
  uint8_t pad;
  float threshold;
  float nms_iou;
  ClassChannels channels;
};

constexpr std::array<float, 3> kZero{0, 0, 0};
constexpr std::array<float, 3> kOne{1, 1, 1};
constexpr std::array<float, 3> kByte{255, 255, 255};
// ImageNet's statistics in units of 0 … 255, blue first.
constexpr std::array<float, 3> kImageNetMean{103.53f, 116.28f, 123.675f};
constexpr std::array<float, 3> kImageNetStd{57.375f, 57.12f, 58.395f};
// CenterNet's statistics of COCO, likewise.
constexpr std::array<float, 3> kCenterNetMean{104.04f, 113.985f, 119.85f};
constexpr std::array<float, 3> kCenterNetStd{73.695f, 69.87f, 70.89f};
constexpr std::array<float, 3> kSsdMean{127, 127, 127};
constexpr std::array<float, 3> kSsdStd{128, 128, 128};

// From each project's own inference code: YOLOX 0.1.1 (no normalisation), ultralytics' YOLO (RGB / 255), NanoDet (plain
// resize; class and distance heads, or one with 4 · 8 … 4 · 16 bins beside the classes), FastestDet, libfacedetection,
// qfgaohao's SSD (background is a class), CenterNet.
using enum FitMode;
constexpr ColorOrder kRgb = ColorOrder::kRgb, kBgr = ColorOrder::kBgr;
constexpr std::array kDefaults{
    DecoderDefaults{"centernet", kBgr, kCenterNetMean, kCenterNetStd, kLetterboxCenter, 0, 0.3f, 0.6f, {0, 0, 1}},
    DecoderDefaults{"fastestdet", kBgr, kZero, kByte, kStretch, 114, 0.6f, 0.6f, {5, 5, 1}},
    DecoderDefaults{"gfl", kBgr, kImageNetMean, kImageNetStd, kStretch, 114, 0.4f, 0.6f, {0, 64, 4}},
    DecoderDefaults{"nanodet", kBgr, kImageNetMean, kImageNetStd, kStretch, 114, 0.4f, 0.6f, {0, 64, 4}},
    DecoderDefaults{"ssd", kRgb, kSsdMean, kSsdStd, kStretch, 114, 0.4f, 0.45f, {0, 1, 1}},
    DecoderDefaults{"yolov5", kRgb, kZero, kByte, kLetterboxCenter, 114, 0.25f, 0.45f, {5, 5, 1}},
    DecoderDefaults{"yolov8", kRgb, kZero, kByte, kLetterboxCenter, 114, 0.25f, 0.45f, {4, 4, 1}},
    DecoderDefaults{"yolox", kBgr, kZero, kOne, kLetterbox, 114, 0.35f, 0.6f, {5, 5, 1}},
    DecoderDefaults{"yunet", kBgr, kZero, kOne, kLetterbox, 0, 0.6f, 0.3f, {0, 0, 1}},
};

const DecoderDefaults* Find(std::string_view type) {
  const auto found = std::find_if(kDefaults.begin(), kDefaults.end(), [&](auto& entry) { return entry.type == type; });
  return found == kDefaults.end() ? nullptr : &*found;
}

}  // namespace

Result<ModelDescription> DefaultDescription(std::string_view decoder_type) {
  ModelDescription description;
  description.version = "1";
  if (decoder_type.empty()) return description;
  const DecoderDefaults* defaults = Find(decoder_type);
  if (defaults == nullptr) {
    std::vector<std::string_view> known;
    for (const DecoderDefaults& entry : kDefaults) known.push_back(entry.type);
    return Status(StatusCode::kNotFound, fmt::format("nothing is known of a decoder '{}'; known are {}. A description "
                                                     "(YAML) may name any other",
                                                     decoder_type, fmt::join(known, ", ")));
  }
  description.decoder.type = decoder_type;
  description.color_order = defaults->order;
  description.mean = defaults->mean;
  description.std = defaults->std;
  description.fit = defaults->fit;
  description.pad_value = defaults->pad;
  description.threshold = defaults->threshold;
  description.nms_iou = defaults->nms_iou;
  return description;
}

bool FitsClassCount(std::string_view decoder_type, std::span<const std::vector<int64_t>> outputs, size_t classes) {
  const DecoderDefaults* defaults = Find(decoder_type);
  if (defaults == nullptr) return true;
  const ClassChannels& channels = defaults->channels;
  for (const std::vector<int64_t>& dims : outputs) {
    for (size_t axis = 1; axis < dims.size(); ++axis) {
      if (dims[axis] < 0) return true;  // left open: the decoder will see
      const int64_t others = dims[axis] - static_cast<int64_t>(classes);
      if (others >= channels.least_others && others <= channels.most_others && others % channels.step == 0) return true;
    }
  }
  return false;
}

std::vector<std::string> DefaultLabels(std::string_view decoder_type, std::span<const std::vector<int64_t>> outputs) {
  if (decoder_type == "yunet") return {"face"};
  constexpr size_t kCocoClasses = 80;
  if (decoder_type.empty() || Find(decoder_type) == nullptr) return {};
  if (!FitsClassCount(decoder_type, outputs, kCocoClasses)) return {};
  auto labels = LoadLabels(ProjectModelFolder() / "coco.labels");
  return labels.ok() ? std::move(*labels) : std::vector<std::string>();
}

}  // namespace npustream::serving
