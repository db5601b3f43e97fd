#include "elements/postprocess/box_decoder.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "elements/postprocess/decoders/decoders.h"

namespace npustream::elements {
namespace {

struct DecoderEntry {
  std::string_view name;
  DecoderFactory create;
};

constexpr std::array<DecoderEntry, 9> kDecoders{{
    {"centernet", CreateCenterNetDecoder},
    {"fastestdet", CreateFastestDetDecoder},
    {"gfl", CreateNanoDetDecoder},
    {"nanodet", CreateNanoDetDecoder},
    {"ssd", CreateSsdDecoder},
    {"yolov5", CreateYoloV5Decoder},
    {"yolov8", CreateYoloV8Decoder},
    {"yolox", CreateYoloxDecoder},
    {"yunet", CreateYuNetDecoder},
}};

}  // namespace

std::vector<std::string_view> BoxDecoderNames() {
  std::vector<std::string_view> names;
  for (const DecoderEntry& entry : kDecoders) names.push_back(entry.name);
  return names;
}

Result<std::unique_ptr<BoxDecoder>> BoxDecoder::Create(const serving::DecoderDescription& description,
                                                       std::span<const OutputShape> outputs, int input_width,
                                                       int input_height, int class_count) {
  if (input_width <= 0 || input_height <= 0) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("a model input of {}x{} pixels is empty", input_width, input_height));
  }
  for (const DecoderEntry& entry : kDecoders) {
    if (entry.name != description.type) continue;
    auto decoder = entry.create({description, outputs, input_width, input_height, class_count});
    if (!decoder.ok()) return decoder.status().WithContext(fmt::format("decoder {}", description.type));
    return decoder;
  }
  return Status(StatusCode::kInvalidArgument, fmt::format("there is no decoder '{}'; known are {}", description.type,
                                                          fmt::join(BoxDecoderNames(), ", ")));
}

}  // namespace npustream::elements
