#pragma once

#include "base/unique_handle.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace npustream::dvpp {

inline void FreeAvFrame(AVFrame* frame) { av_frame_free(&frame); }
inline void FreeAvPacket(AVPacket* packet) { av_packet_free(&packet); }
inline void FreeAvContext(AVCodecContext* context) { avcodec_free_context(&context); }
inline void FreeAvBuffer(AVBufferRef* buffer) { av_buffer_unref(&buffer); }

using AvFrame = UniqueHandle<AVFrame, FreeAvFrame>;
using AvPacket = UniqueHandle<AVPacket, FreeAvPacket>;
using AvContext = UniqueHandle<AVCodecContext, FreeAvContext>;
using AvBuffer = UniqueHandle<AVBufferRef, FreeAvBuffer>;
using AvScaler = UniqueHandle<SwsContext, sws_freeContext>;

}  // namespace npustream::dvpp
