#include "elements/postprocess/box_decoder.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "elements/postprocess/decoders/decoders.h"

namespace npustream::elements {
namespace {

struct DecoderEntry {
  std::string_view name;
  DecoderFactory create;
  std::vector<std::string_view> numbers;  // that its file's head explains
  std::vector<std::string_view> roles;    // of outputs that may be named
};

const std::vector<DecoderEntry>& Decoders() {
  static const std::vector<DecoderEntry> decoders{
      {"centernet", CreateCenterNetDecoder, {"size_scale"}, {"heatmap", "size", "offset"}},
      {"fastestdet", CreateFastestDetDecoder, {"strides"}, {}},
      {"gfl", CreateNanoDetDecoder, {"strides", "cell_offset", "classes"}, {}},
      {"nanodet", CreateNanoDetDecoder, {"strides", "cell_offset", "classes"}, {}},
      {"ssd",
       CreateSsdDecoder,
       {"background", "softmax", "corners", "variances", "priors", "clip_priors", "strides", "min_sizes", "max_sizes",
        "sizes_per_level", "aspect_ratios", "ratios_per_level"},
       {"scores", "locations"}},
      {"yolov5", CreateYoloV5Decoder, {"strides", "anchors"}, {}},
      {"yolov8", CreateYoloV8Decoder, {"strides"}, {}},
      {"yolox", CreateYoloxDecoder, {"strides"}, {}},
      {"yunet", CreateYuNetDecoder, {"strides"}, {}},
  };
  return decoders;
}

const DecoderEntry* Find(std::string_view name) {
  for (const DecoderEntry& entry : Decoders()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// A key that nobody reads is most often another one misspelt.
template <typename Map>
Status CheckKeys(const Map& given, const std::vector<std::string_view>& known, std::string_view kind) {
  for (const auto& [key, value] : given) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return Status(StatusCode::kInvalidArgument,
                  known.empty() ? fmt::format("takes no {}, but '{}' is given", kind, key)
                                : fmt::format("takes no '{}'; its {} are {}", key, kind, fmt::join(known, ", ")));
  }
  return Status();
}

}  // namespace

std::vector<std::string_view> BoxDecoderNames() {
  std::vector<std::string_view> names;
  for (const DecoderEntry& entry : Decoders()) names.push_back(entry.name);
  return names;
}

Status BoxDecoder::CheckDescription(const serving::DecoderDescription& description) {
  const DecoderEntry* entry = Find(description.type);
  if (entry == nullptr) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}; known are {}",
                              description.type.empty() ? "an OM or ONNX file without a description needs a decoder"
                                                       : fmt::format("there is no decoder '{}'", description.type),
                              fmt::join(BoxDecoderNames(), ", ")));
  }
  Status keys = CheckKeys(description.numbers, entry->numbers, "numbers");
  if (keys.ok()) keys = CheckKeys(description.names, entry->roles, "output roles");
  return keys.ok() ? keys : keys.WithContext(fmt::format("decoder {}", description.type));
}

Result<std::unique_ptr<BoxDecoder>> BoxDecoder::Create(const serving::DecoderDescription& description,
                                                       std::span<const OutputShape> outputs, int input_width,
                                                       int input_height, int class_count) {
  if (input_width <= 0 || input_height <= 0) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("a model input of {}x{} pixels is empty", input_width, input_height));
  }
  NPUSTREAM_RETURN_IF_ERROR(CheckDescription(description));
  auto decoder = Find(description.type)->create({description, outputs, input_width, input_height, class_count});
  if (!decoder.ok()) return decoder.status().WithContext(fmt::format("decoder {}", description.type));
  return decoder;
}

}  // namespace npustream::elements
