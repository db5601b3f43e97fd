#include "elements/decode/gst_npu_vdec.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "elements/decode/gst_vdec_caps.h"
#include "elements/decode/gst_vdec_properties.h"
#include "elements/decode/jpeg_boundary.h"
#include "elements/decode/npu_vdec.h"
#include "elements/memory/gst_npu_memory.h"
#include "elements/meta/npu_metas.h"
#include "elements/support/gst_support.h"

GST_DEBUG_CATEGORY_STATIC(npu_vdec_debug);
#define GST_CAT_DEFAULT npu_vdec_debug

using namespace npustream;            // NOLINT: a shell's own file
using namespace npustream::elements;  // NOLINT

namespace {

struct VdecState {
  VdecSettings settings;  // guarded by the object lock

  // Guarded by the decoder's stream lock.
  std::shared_ptr<const NpuDevice> device;  // shared with the memory that is on its way
  std::unique_ptr<VdecChannel> channel;
  ChannelKey key;
  JpegBoundary boundary;     // of pictures that come in pieces
  size_t scanned_bytes = 0;  // of those that wait, looked at by `boundary`
  GstVideoCodecState* input_state = nullptr;
  DevicePicture negotiated;
  PictureColors negotiated_colors;
  FrameInfo frame_template;
  uint64_t corrupt_run = 0;
  bool discarding = false;  // pictures that still come out are of no use

  std::atomic<GstFlowReturn> flow{GST_FLOW_OK};  // of the last push
  std::atomic<uint64_t> packets_in{0};
  std::atomic<uint64_t> frames_out{0};
  std::atomic<uint64_t> errors{0};
};

}  // namespace

struct _GstNpuVdec {
  GstVideoDecoder parent;
  VdecState state;
};

G_DEFINE_TYPE(GstNpuVdec, gst_npu_vdec, GST_TYPE_VIDEO_DECODER)

namespace {

// For the time of a wait, the thread that delivers pictures may have the decoder's lock.
class StreamUnlock {
 public:
  explicit StreamUnlock(GstVideoDecoder* decoder) : decoder_(decoder) { GST_VIDEO_DECODER_STREAM_UNLOCK(decoder_); }
  ~StreamUnlock() { GST_VIDEO_DECODER_STREAM_LOCK(decoder_); }

 private:
  GstVideoDecoder* decoder_;
};

// Tells downstream size, format and colours of the pictures from here on.
bool NegotiatePicture(GstNpuVdec* self, const DecodedPicture& decoded) {
  VdecState& state = self->state;
  const DevicePicture& now = decoded.picture;
  const DevicePicture& before = state.negotiated;
  if (now.width == before.width && now.height == before.height && now.format == before.format &&
      decoded.colors.full_range == state.negotiated_colors.full_range &&
      decoded.colors.matrix == state.negotiated_colors.matrix) {
    return true;
  }
  GstVideoDecoder* decoder = GST_VIDEO_DECODER(self);
  GstVideoCodecState* output =
      gst_video_decoder_set_output_state(decoder, VideoFormatOf(now.format), now.width, now.height, state.input_state);
  SetOutputCaps(*output, decoded.colors);
  gst_video_codec_state_unref(output);
  state.negotiated = now;
  state.negotiated_colors = decoded.colors;
  return gst_video_decoder_negotiate(decoder) != FALSE;
}

void CountLostPacket(GstNpuVdec* self, GstVideoCodecFrame* frame) {
  VdecState& state = self->state;
  const uint64_t errors = ++state.errors;
  ++state.corrupt_run;
  GST_WARNING_OBJECT(self, "packet %u gave no picture (%" G_GUINT64_FORMAT " so far)", frame->system_frame_number,
                     errors);
  if (errors == 1) {
    GST_ELEMENT_WARNING(self, STREAM, DECODE,
                        ("A packet could not be decoded; those that give no picture are left out and counted."),
                        ("time stamp %" GST_TIME_FORMAT, GST_TIME_ARGS(frame->pts)));
  }
  gst_video_decoder_release_frame(GST_VIDEO_DECODER(self), frame);
}

// Runs on the channel's thread, without any lock of ours.
void DeliverPicture(GstNpuVdec* self, DecodedPicture decoded) {
  GstVideoDecoder* decoder = GST_VIDEO_DECODER(self);
  VdecState& state = self->state;
  GST_VIDEO_DECODER_STREAM_LOCK(decoder);
  GstVideoCodecFrame* frame = gst_video_decoder_get_frame(decoder, static_cast<int>(decoded.tag));
  if (frame == nullptr || state.discarding) {
    // A flush has taken the frame's segment event away; the base class drops the frame itself.
    if (frame != nullptr) gst_video_codec_frame_unref(frame);
    GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
    return;
  }
  if (decoded.block == nullptr) {
    CountLostPacket(self, frame);
  } else if (!NegotiatePicture(self, decoded)) {
    state.flow = GST_PAD_IS_FLUSHING(GST_VIDEO_DECODER_SRC_PAD(decoder)) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
    state.negotiated = {};
    gst_video_decoder_release_frame(decoder, frame);
  } else {
    frame->output_buffer = WrapDevicePicture(std::move(decoded.block), decoded.picture);
    FrameInfo info = state.frame_template;
    info.corrupt_before = std::exchange(state.corrupt_run, 0);
    if (const auto* arrival = static_cast<const FrameInfo*>(gst_video_codec_frame_get_user_data(frame))) {
      info.decode_begin_ns = arrival->decode_begin_ns;
      info.capture_time_ns = arrival->capture_time_ns;
    }
    NpuFrameMeta::Add(frame->output_buffer, std::move(info));
    state.flow = gst_video_decoder_finish_frame(decoder, frame);
  }
  GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
}

// Frames outside the segment never get here: only what downstream sees is counted and numbered.
GstPadProbeReturn NumberFrame(GstPad*, GstPadProbeInfo* info, gpointer user_data) {
  auto* self = static_cast<GstNpuVdec*>(user_data);
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const uint64_t number = self->state.frames_out.fetch_add(1);
  if (FrameInfo* frame = NpuFrameMeta::Get(buffer)) frame->frame_id = number;
  return GST_PAD_PROBE_OK;
}

Status OpenChannel(GstNpuVdec* self) {
  VdecState& state = self->state;
  VdecSettings settings;
  {
    ObjectLock lock(self);
    settings = state.settings;
  }
  VdecOptions options;
  options.device = state.device;
  options.stream_format = state.key.format->format;
  options.output_format = ChoosePixelFormat(settings.output_format, GST_VIDEO_DECODER_SRC_PAD(self));
  options.coded_width = state.key.width;
  options.coded_height = state.key.height;
  options.on_picture = [self](DecodedPicture decoded) { DeliverPicture(self, std::move(decoded)); };
  options.max_pending = settings.max_pending;
  state.frame_template.camera_id = settings.camera_id.empty() ? GST_OBJECT_NAME(self) : settings.camera_id;
  state.frame_template.source = settings.source;
  if (state.frame_template.source.empty()) {
    state.frame_template.source = SourceNameOf(GST_VIDEO_DECODER_SINK_PAD(self));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(state.channel, VdecChannel::Create(std::move(options)));
  if (!state.key.format->codec_data) return Status();
  return state.channel->SendCodecData(state.key.codec_data);
}

// Lets every packet on its way come out, or be lost, and closes the channel.
Status CloseChannel(GstNpuVdec* self, bool drain) {
  VdecState& state = self->state;
  std::unique_ptr<VdecChannel> channel = std::move(state.channel);
  if (channel == nullptr) return Status();
  state.discarding = !drain;
  Status status;
  {
    StreamUnlock unlock(GST_VIDEO_DECODER(self));
    if (drain) {
      status = channel->Drain();
    } else {
      channel->Abort();
    }
    channel.reset();
  }
  state.discarding = false;
  return status;
}

// A file's bytes come in pieces of any size; demuxers and parsers give whole packets. Pictures alone can do without a
// parser: GStreamer's own for JPEG is of rank none, so parsebin leaves it out.
bool ComesInPieces(GstNpuVdec* self, GstEvent* segment_event) {
  const GstSegment* segment = nullptr;
  gst_event_parse_segment(segment_event, &segment);
  const StreamFormat* format = self->state.key.format;
  return segment->format == GST_FORMAT_BYTES && format != nullptr &&
         std::string_view(format->caps).starts_with("image/");
}

void ForgetPieces(VdecState& state) {
  state.boundary = {};
  state.scanned_bytes = 0;
}

// Bytes of the picture at the front of the adapter; 0: its end has not come yet.
size_t FindJpegEnd(VdecState& state, GstAdapter* adapter) {
  std::array<std::byte, 4096> block;
  while (const size_t left = gst_adapter_available(adapter) - state.scanned_bytes) {
    const size_t bytes = std::min(left, block.size());
    gst_adapter_copy(adapter, block.data(), state.scanned_bytes, bytes);
    if (const auto end = state.boundary.Scan({block.data(), bytes})) return state.scanned_bytes + *end;
    state.scanned_bytes += bytes;
  }
  return 0;
}

// Puts the adapter's front where a picture starts; false: there is none yet.
bool SkipToJpeg(VdecState& state, GstAdapter* adapter, bool at_eos) {
  if (state.scanned_bytes > 0) return true;  // already within one
  const size_t available = gst_adapter_available(adapter);
  const gssize start =
      available < 4 ? -1 : gst_adapter_masked_scan_uint32(adapter, 0xffffff00, 0xffd8ff00, 0, available);
  const size_t kept = at_eos ? 0 : std::min<size_t>(available, 3);  // may be the beginning of a start
  gst_adapter_flush(adapter, start < 0 ? available - kept : static_cast<size_t>(start));
  return start >= 0;
}

void DestroyFrameInfo(gpointer info) { std::unique_ptr<FrameInfo>(static_cast<FrameInfo*>(info)).reset(); }

}  // namespace

static gboolean gst_npu_vdec_open(GstVideoDecoder* decoder) {
  auto* self = GST_NPU_VDEC(decoder);
  int device_id = 0;
  {
    ObjectLock lock(self);
    device_id = self->state.settings.device_id;
  }
  auto device = NpuDevice::Open(device_id);
  if (!device.ok()) {
    PostError(GST_ELEMENT(self), device.status());
    return FALSE;
  }
  self->state.device = std::move(*device);
  return TRUE;
}

static gboolean gst_npu_vdec_close(GstVideoDecoder* decoder) {
  GST_NPU_VDEC(decoder)->state.device.reset();
  return TRUE;
}

static gboolean gst_npu_vdec_start(GstVideoDecoder* decoder) {
  VdecState& state = GST_NPU_VDEC(decoder)->state;
  state.flow = GST_FLOW_OK;
  state.packets_in = state.frames_out = state.errors = 0;
  state.corrupt_run = 0;
  state.negotiated = {};
  ForgetPieces(state);
  return TRUE;
}

static gboolean gst_npu_vdec_stop(GstVideoDecoder* decoder) {
  auto* self = GST_NPU_VDEC(decoder);
  GST_VIDEO_DECODER_STREAM_LOCK(decoder);
  const Status status = CloseChannel(self, false);
  if (!status.ok()) GST_WARNING_OBJECT(self, "%s", status.message().c_str());
  g_clear_pointer(&self->state.input_state, gst_video_codec_state_unref);
  self->state.key = {};
  GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);
  return TRUE;
}

static gboolean gst_npu_vdec_set_format(GstVideoDecoder* decoder, GstVideoCodecState* input) {
  auto* self = GST_NPU_VDEC(decoder);
  VdecState& state = self->state;
  const StreamFormat* format = StreamFormatOf(input->caps);
  if (format == nullptr) return FALSE;
  ChannelKey key = ChannelKeyOf(*format, *input);
  if (!(key == state.key)) {
    if (Status status = CloseChannel(self, true); !status.ok()) PostWarning(GST_ELEMENT(self), status);
    state.key = std::move(key);
  }
  g_clear_pointer(&state.input_state, gst_video_codec_state_unref);
  state.input_state = gst_video_codec_state_ref(input);
  state.negotiated = {};  // frame rate and the like may differ
  return TRUE;
}

// Called for pictures in pieces: JPEG ends where it says, of the other kinds a stream holds one.
static GstFlowReturn gst_npu_vdec_parse(GstVideoDecoder* decoder, GstVideoCodecFrame*, GstAdapter* adapter,
                                        gboolean at_eos) {
  VdecState& state = GST_NPU_VDEC(decoder)->state;
  size_t bytes = 0;
  if (std::string_view(state.key.format->caps) == "image/jpeg") {
    if (!SkipToJpeg(state, adapter, at_eos)) return GST_VIDEO_DECODER_FLOW_NEED_DATA;
    bytes = FindJpegEnd(state, adapter);
  }
  if (bytes == 0 && at_eos) bytes = gst_adapter_available(adapter);
  if (bytes == 0) return GST_VIDEO_DECODER_FLOW_NEED_DATA;
  ForgetPieces(state);
  gst_video_decoder_add_to_frame(decoder, static_cast<int>(bytes));
  return gst_video_decoder_have_frame(decoder);
}

static GstFlowReturn gst_npu_vdec_handle_frame(GstVideoDecoder* decoder, GstVideoCodecFrame* frame) {
  auto* self = GST_NPU_VDEC(decoder);
  VdecState& state = self->state;
  ++state.packets_in;
  auto arrival = std::make_unique<FrameInfo>();
  arrival->decode_begin_ns = Clock::System().NowNs();
  arrival->capture_time_ns = CaptureTimeOf(frame->input_buffer);
  gst_video_codec_frame_set_user_data(frame, arrival.release(), DestroyFrameInfo);

  Status status;
  if (state.channel == nullptr) status = OpenChannel(self);
  GstMapInfo map;
  if (status.ok() && !gst_buffer_map(frame->input_buffer, &map, GST_MAP_READ)) {
    status = Status(StatusCode::kInternal, "the packet cannot be mapped");
  } else if (status.ok()) {
    const std::span<const std::byte> packet(reinterpret_cast<const std::byte*>(map.data), map.size);
    if (packet.empty()) {
      CountLostPacket(self, gst_video_codec_frame_ref(frame));
    } else {
      StreamUnlock unlock(decoder);
      status = state.channel->Send(packet, frame->system_frame_number);
    }
    gst_buffer_unmap(frame->input_buffer, &map);
  }
  if (status.ok()) {
    gst_video_codec_frame_unref(frame);
    return state.flow;
  }
  gst_video_decoder_release_frame(decoder, frame);
  if (status.code() == StatusCode::kUnavailable) return GST_FLOW_FLUSHING;
  PostError(GST_ELEMENT(self), status);
  return GST_FLOW_ERROR;
}

static GstFlowReturn gst_npu_vdec_drain(GstVideoDecoder* decoder) {
  auto* self = GST_NPU_VDEC(decoder);
  if (Status status = CloseChannel(self, true); !status.ok()) {
    PostError(GST_ELEMENT(self), status);
    return GST_FLOW_ERROR;
  }
  return self->state.flow;
}

static gboolean gst_npu_vdec_flush(GstVideoDecoder* decoder) {
  auto* self = GST_NPU_VDEC(decoder);
  const Status status = CloseChannel(self, false);
  self->state.flow = GST_FLOW_OK;
  self->state.corrupt_run = 0;
  ForgetPieces(self->state);
  return status.ok();
}

static gboolean gst_npu_vdec_sink_event(GstVideoDecoder* decoder, GstEvent* event) {
  auto* self = GST_NPU_VDEC(decoder);
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START) {
    self->state.flow = GST_FLOW_OK;
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    gst_video_decoder_set_packetized(decoder, !ComesInPieces(self, event));
  }
  return GST_VIDEO_DECODER_CLASS(gst_npu_vdec_parent_class)->sink_event(decoder, event);
}

static void gst_npu_vdec_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  ObjectLock lock(object);
  if (SetVdecProperty(GST_NPU_VDEC(object)->state.settings, id, value)) return;
  G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_npu_vdec_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  const VdecState& state = GST_NPU_VDEC(object)->state;
  if (id == kPropVdecStats) {
    g_value_take_boxed(value, gst_structure_new("npuvdec-stats", "frames-in", G_TYPE_UINT64, state.packets_in.load(),
                                                "frames-out", G_TYPE_UINT64, state.frames_out.load(), "errors",
                                                G_TYPE_UINT64, state.errors.load(), nullptr));
    return;
  }
  ObjectLock lock(object);
  if (GetVdecProperty(state.settings, id, value)) return;
  G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_npu_vdec_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_VDEC(object)->state);
  G_OBJECT_CLASS(gst_npu_vdec_parent_class)->finalize(object);
}

static void gst_npu_vdec_class_init(GstNpuVdecClass* klass) {
  GST_DEBUG_CATEGORY_INIT(npu_vdec_debug, "npuvdec", 0, "NPU video decoder");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_vdec_set_property;
  object_class->get_property = gst_npu_vdec_get_property;
  object_class->finalize = gst_npu_vdec_finalize;
  InstallVdecProperties(object_class);

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element_class, "NPU video and picture decoder", "Codec/Decoder/Video/Image/Hardware",
      "Decodes video and pictures with the NPU's media engine; the pictures stay in device memory", "npustream");
  const UniqueCaps sink_caps(VdecSinkCaps());
  const UniqueCaps src_caps(
      gst_caps_from_string(GST_VIDEO_CAPS_MAKE_WITH_FEATURES(NPUSTREAM_CAPS_FEATURE_MEMORY, "{ NV12, RGB, BGR }")));
  gst_element_class_add_pad_template(element_class,
                                     gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink_caps.get()));
  gst_element_class_add_pad_template(element_class,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, src_caps.get()));

  GstVideoDecoderClass* decoder_class = GST_VIDEO_DECODER_CLASS(klass);
  decoder_class->open = gst_npu_vdec_open;
  decoder_class->close = gst_npu_vdec_close;
  decoder_class->start = gst_npu_vdec_start;
  decoder_class->stop = gst_npu_vdec_stop;
  decoder_class->set_format = gst_npu_vdec_set_format;
  decoder_class->parse = gst_npu_vdec_parse;
  decoder_class->handle_frame = gst_npu_vdec_handle_frame;
  decoder_class->drain = gst_npu_vdec_drain;
  decoder_class->finish = gst_npu_vdec_drain;
  decoder_class->flush = gst_npu_vdec_flush;
  decoder_class->sink_event = gst_npu_vdec_sink_event;
}

static void gst_npu_vdec_init(GstNpuVdec* self) {
  std::construct_at(&self->state);
  gst_video_decoder_set_packetized(GST_VIDEO_DECODER(self), TRUE);
  gst_video_decoder_set_needs_format(GST_VIDEO_DECODER(self), TRUE);
  gst_pad_add_probe(GST_VIDEO_DECODER_SRC_PAD(self), GST_PAD_PROBE_TYPE_BUFFER, NumberFrame, self, nullptr);
}
