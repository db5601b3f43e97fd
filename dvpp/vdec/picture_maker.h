#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "dvpp/picture/picture.h"
#include "dvpp/vdec/frame_pool.h"
#include "dvpp/vdec/libav.h"

namespace npustream::dvpp {

// A finished picture. Nobody writes to its memory while `keep` lives.
struct DecodedPicture {
  PictureView view;  // as the host sees it
  void* device = nullptr;
  size_t bytes = 0;     // PictureBytes of its strides
  uint32_t colour = 0;  // the bits described in README.md
  AvBuffer keep;
};

// Turns decoded frames into pictures of one format in device memory: NV12, NV21, RGB888 or BGR888. For one thread.
class PictureMaker {
 public:
  PictureMaker(acldvppPixelFormat format, AVCodecID codec, std::shared_ptr<FramePool> pool);
  ~PictureMaker();

  // True for the formats listed above.
  static bool Supports(acldvppPixelFormat format);

  // Applies the frame's crop. A frame decoded into the pool (frame_allocator.h) keeps its luma where it is, everything
  // else is converted into a block of the pool. The frame may be changed. kUnsupported: a pixel format that libswscale
  // cannot read; kResourceExhausted: no device memory.
  Result<DecodedPicture> Make(AVFrame& frame);

 private:
  Result<DecodedPicture> FinishInPlace(const AVFrame& frame, const FrameMemory& memory) const;
  Result<DecodedPicture> NewPicture(int width, int height) const;
  Result<DecodedPicture> CopyPlanes(const AVFrame& frame) const;
  Result<DecodedPicture> Scale(const AVFrame& frame);
  uint32_t Colour(const AVFrame& frame) const;
  bool FullRange(const AVFrame& frame) const;

  const acldvppPixelFormat format_;
  const AVCodecID codec_;
  const std::shared_ptr<FramePool> pool_;
  SwsContext* scaler_ = nullptr;  // owned; libswscale replaces it itself when the size changes
};

}  // namespace npustream::dvpp
