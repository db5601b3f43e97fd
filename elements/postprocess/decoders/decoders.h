#pragma once

#include <memory>
#include <span>

#include "base/status.h"
#include "elements/postprocess/box_decoder.h"

namespace npustream::elements {

// What a decoder is made from: the arguments of BoxDecoder::Create.
struct DecoderInputs {
  const serving::DecoderDescription& description;
  std::span<const OutputShape> outputs;
  int input_width = 0;
  int input_height = 0;
  int class_count = 0;  // 0: unknown
};

// One function per file of this folder; box_decoder.cpp lists them by name.
using DecoderFactory = Result<std::unique_ptr<BoxDecoder>> (*)(const DecoderInputs&);

Result<std::unique_ptr<BoxDecoder>> CreateCenterNetDecoder(const DecoderInputs& inputs);
Result<std::unique_ptr<BoxDecoder>> CreateFastestDetDecoder(const DecoderInputs& inputs);
Result<std::unique_ptr<BoxDecoder>> CreateNanoDetDecoder(const DecoderInputs& inputs);
Result<std::unique_ptr<BoxDecoder>> CreateSsdDecoder(const DecoderInputs& inputs);
Result<std::unique_ptr<BoxDecoder>> CreateYoloV5Decoder(const DecoderInputs& inputs);
Result<std::unique_ptr<BoxDecoder>> CreateYoloV8Decoder(const DecoderInputs& inputs);
Result<std::unique_ptr<BoxDecoder>> CreateYoloxDecoder(const DecoderInputs& inputs);
Result<std::unique_ptr<BoxDecoder>> CreateYuNetDecoder(const DecoderInputs& inputs);

}  // namespace npustream::elements
