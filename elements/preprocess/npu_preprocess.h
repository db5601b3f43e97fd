#pragma once

#include <memory>

#include <acl/acl.h>
#include <acl/ops/acl_dvpp.h>

#include "base/status.h"
#include "base/unique_handle.h"
#include "elements/memory/device_block.h"
#include "elements/memory/device_picture.h"
#include "elements/preprocess/geometry.h"
#include "runtime/serving/model_description.h"
#include "runtime/serving/model_runner.h"

namespace npustream::elements {

struct PreprocessOptions {
  std::shared_ptr<const NpuDevice> device;
  int model_width = 0;  // pixels
  int model_height = 0;
  serving::PictureFormat format = serving::PictureFormat::kNv12;
  serving::FitMode fit = serving::FitMode::kLetterbox;
  uint8_t pad_value = 114;  // grey level 0 … 255 of what the picture leaves free
  FrameRegion region;       // the part of a frame that goes to the model
};

// What a model and its description ask for.
PreprocessOptions PreprocessOptionsOf(std::shared_ptr<const NpuDevice> device, const serving::ModelInfo& info,
                                      const serving::ModelDescription& description);

struct PreparedPicture {
  std::shared_ptr<DeviceBlock> picture;  // shared with whoever runs a model on it; goes back to a pool
  PictureTransform transform;
};

// Scales frames into pictures of a model's size, all on the device: crop, resize and paste in one VPC job; padding is
// painted only where a block has not got it yet; full-range luma and chroma are brought to narrow range by a table.
// Made and used by one thread at a time.
class Preprocessor {
 public:
  static Result<std::unique_ptr<Preprocessor>> Create(PreprocessOptions options);
  ~Preprocessor();

  // `frame` must be of the model's pixel format (NV12, or RGB for RGB models): kInvalidArgument otherwise.
  // kUnsupported for sizes beyond the engine's limits. Returns when the picture is ready.
  Result<PreparedPicture> Run(const DevicePicture& frame);

 private:
  explicit Preprocessor(PreprocessOptions options);
  Status Open();
  Status CheckFrame(const DevicePicture& frame, const PictureTransform& transform) const;
  DevicePicture OutputPicture(void* data) const;
  Status PaintPadding(DeviceBlock& block, const PictureTransform& transform, bool full_range);
  Status Paste(const DevicePicture& frame, const PictureTransform& transform, void* output);
  Status NarrowRange(void* input, void* output);
  Status Enqueue(const DevicePicture& frame, const PictureTransform& transform, DeviceBlock& output);

  const PreprocessOptions options_;
  DeviceBlockPool pictures_;
  std::unique_ptr<DeviceBlock> full_range_picture_;  // made for the first full-range frame
  aclrtStream stream_ = nullptr;
  UniqueHandle<acldvppChannelDesc, acldvppDestroyChannelDesc> channel_;
  bool channel_created_ = false;
  UniqueHandle<acldvppResizeConfig, acldvppDestroyResizeConfig> resize_;
  UniqueHandle<acldvppLutMap, acldvppDestroyLutMap> narrow_range_;
};

}  // namespace npustream::elements
