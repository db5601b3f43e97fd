#pragma once

#include <cstdint>
#include <memory>

#include "elements/infer/model_binding.h"
#include "elements/memory/device_block.h"
#include "elements/preprocess/geometry.h"
#include "runtime/serving/model_runner.h"

namespace npustream::elements {

// A frame made ready for a model: its picture in device memory in the model's size and format, and how it got there.
struct ModelInput {
  std::shared_ptr<DeviceBlock> picture;  // shared with the request that is running on it
  PictureTransform transform;
  std::shared_ptr<const ModelBinding> model;
};

// What the model said about a frame. The tensors are in pinned host memory.
struct ModelOutput {
  std::shared_ptr<const serving::InferenceOutputs> tensors;
  PictureTransform transform;
  std::shared_ptr<const ModelBinding> model;
  int batch = 0;  // how many frames ran together
  int64_t queue_wait_ns = 0;
  int64_t run_ns = 0;
};

}  // namespace npustream::elements
