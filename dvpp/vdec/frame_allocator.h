#pragma once

#include <memory>

#include "dvpp/vdec/frame_pool.h"
#include "dvpp/vdec/libav.h"

namespace npustream::dvpp {

// True for planar 8-bit YUV and grey: formats whose luma plane is that of NV12.
bool HasNv12Luma(int pixel_format);

// Makes `context` decode into `pool` where the format has NV12's luma: luma lies in the device block with a stride that
// is a multiple of 64 and room behind it for the interleaved chroma of the picture, planar chroma beside it. Other
// formats get libav's own buffers. The pool must outlive the context, which keeps a pointer to it.
void DecodeInto(FramePool* pool, AVCodecContext* context);

// The memory of a frame whose buffer came from DecodeInto; null for every other frame.
const FrameMemory* MemoryOf(const AVFrame& frame);

// A libav reference to pool memory; null when there is no host memory left.
AvBuffer ReferTo(std::shared_ptr<FrameMemory> memory, uint8_t* data, size_t bytes);

}  // namespace npustream::dvpp
