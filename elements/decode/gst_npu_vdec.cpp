#include "elements/decode/gst_npu_vdec.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "elements/decode/npu_vdec.h"
#include "elements/decode/stream_formats.h"
#include "elements/memory/gst_npu_memory.h"
#include "elements/meta/npu_metas.h"
#include "elements/support/gst_support.h"

GST_DEBUG_CATEGORY_STATIC(npu_vdec_debug);
#define GST_CAT_DEFAULT npu_vdec_debug

using namespace npustream;            // NOLINT: a shell's own file
using namespace npustream::elements;  // NOLINT

namespace {

enum class OutputFormat { kAuto, kNv12, kRgb, kBgr };

constexpr guint kDefaultMaxPending = 32;
constexpr guint kLeastMaxPending = 20;  // codecs hold up to 16 packets back to reorder pictures

enum Property : guint { kPropDeviceId = 1, kPropCameraId, kPropSource, kPropOutputFormat, kPropMaxPending, kPropStats };

GType OutputFormatType() {
  static const GType type = [] {
    static const GEnumValue kValues[] = {
        {static_cast<gint>(OutputFormat::kAuto), "the first that downstream takes, NV12 by preference", "auto"},
        {static_cast<gint>(OutputFormat::kNv12), "NV12", "nv12"},
        {static_cast<gint>(OutputFormat::kRgb), "packed RGB, 8 bits a channel", "rgb"},
        {static_cast<gint>(OutputFormat::kBgr), "packed BGR, 8 bits a channel", "bgr"},
        {0, nullptr, nullptr}};
    return g_enum_register_static("GstNpuVdecOutputFormat", kValues);
  }();
  return type;
}

// What a channel was opened for; another one is needed when this changes.
struct ChannelKey {
  const StreamFormat* format = nullptr;
  std::vector<std::byte> codec_data;
  int width = 0;
  int height = 0;
  bool operator==(const ChannelKey&) const = default;
};

struct VdecState {
  // Guarded by the object lock.
  int device_id = 0;
  std::string camera_id;
  std::string source;
  OutputFormat output_format = OutputFormat::kAuto;
  guint max_pending = kDefaultMaxPending;

  // Guarded by the decoder's stream lock.
  std::shared_ptr<const NpuDevice> device;  // shared with the memory that is on its way
  std::unique_ptr<VdecChannel> channel;
  ChannelKey key;
  GstVideoCodecState* input_state = nullptr;
  DevicePicture negotiated;
  PictureColors negotiated_colors;
  FrameInfo frame_template;
  uint64_t corrupt_run = 0;

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

GstCaps* SinkCaps() {
  GstCaps* caps = gst_caps_new_empty();
  for (const StreamFormat& format : StreamFormats()) gst_caps_append(caps, gst_caps_from_string(format.caps));
  return caps;
}

const StreamFormat* FormatOf(const GstCaps* caps) {
  for (const StreamFormat& format : StreamFormats()) {
    const UniqueCaps own(gst_caps_from_string(format.caps));
    if (gst_caps_can_intersect(caps, own.get())) return &format;
  }
  return nullptr;
}

// For the time of a wait, the thread that delivers pictures may have the decoder's lock.
class StreamUnlock {
 public:
  explicit StreamUnlock(GstVideoDecoder* decoder) : decoder_(decoder) { GST_VIDEO_DECODER_STREAM_UNLOCK(decoder_); }
  ~StreamUnlock() { GST_VIDEO_DECODER_STREAM_LOCK(decoder_); }

 private:
  GstVideoDecoder* decoder_;
};

acldvppPixelFormat ChooseOutputFormat(GstNpuVdec* self) {
  {
    ObjectLock lock(self);
    switch (self->state.output_format) {
      case OutputFormat::kNv12: return PIXEL_FORMAT_YUV_SEMIPLANAR_420;
      case OutputFormat::kRgb: return PIXEL_FORMAT_RGB_888;
      case OutputFormat::kBgr: return PIXEL_FORMAT_BGR_888;
      case OutputFormat::kAuto: break;
    }
  }
  const UniqueCaps allowed(gst_pad_get_allowed_caps(GST_VIDEO_DECODER_SRC_PAD(self)));
  if (allowed == nullptr || gst_caps_is_empty(allowed.get()) || gst_caps_is_any(allowed.get())) {
    return PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  }
  const UniqueCaps first(gst_caps_fixate(gst_caps_copy(allowed.get())));
  const gchar* name = gst_structure_get_string(gst_caps_get_structure(first.get(), 0), "format");
  const GstVideoFormat format = name == nullptr ? GST_VIDEO_FORMAT_NV12 : gst_video_format_from_string(name);
  const acldvppPixelFormat chosen = PixelFormatOf(format);
  return chosen == PIXEL_FORMAT_UNKNOWN ? PIXEL_FORMAT_YUV_SEMIPLANAR_420 : chosen;
}

GstVideoColorMatrix MatrixOf(int h273_matrix, GstVideoColorMatrix otherwise) {
  switch (h273_matrix) {
    case 1: return GST_VIDEO_COLOR_MATRIX_BT709;
    case 5:
    case 6: return GST_VIDEO_COLOR_MATRIX_BT601;
    case 9: return GST_VIDEO_COLOR_MATRIX_BT2020;
    default: return otherwise;
  }
}

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
  const GstVideoFormat format = VideoFormatOf(now.format);
  GstVideoCodecState* output =
      gst_video_decoder_set_output_state(decoder, format, now.width, now.height, state.input_state);
  GstVideoColorimetry& colors = output->info.colorimetry;
  if (colors.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN) {  // the packets' caps did not say: what the size suggests
    GstVideoInfo usual;
    gst_video_info_set_format(&usual, format, now.width, now.height);
    colors = usual.colorimetry;
  }
  if (format == GST_VIDEO_FORMAT_NV12) {
    colors.range = decoded.colors.full_range ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235;
    colors.matrix = MatrixOf(decoded.colors.matrix, colors.matrix);
  } else {
    gst_video_colorimetry_from_string(&colors, GST_VIDEO_COLORIMETRY_SRGB);
  }
  gst_caps_replace(&output->caps, nullptr);
  output->caps = gst_video_info_to_caps(&output->info);
  gst_caps_set_features_simple(output->caps, gst_caps_features_new(NPUSTREAM_CAPS_FEATURE_MEMORY, nullptr));
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
                        ("A packet at %" GST_TIME_FORMAT " could not be decoded; it and those that "
                         "follow it are left out and counted.",
                         GST_TIME_ARGS(frame->pts)),
                        (nullptr));
  }
  gst_video_decoder_release_frame(GST_VIDEO_DECODER(self), frame);
}

// Runs on the channel's thread, without any lock of ours.
void DeliverPicture(GstNpuVdec* self, DecodedPicture decoded) {
  GstVideoDecoder* decoder = GST_VIDEO_DECODER(self);
  VdecState& state = self->state;
  GST_VIDEO_DECODER_STREAM_LOCK(decoder);
  GstVideoCodecFrame* frame = gst_video_decoder_get_frame(decoder, static_cast<int>(decoded.tag));
  if (frame == nullptr) {
    GST_VIDEO_DECODER_STREAM_UNLOCK(decoder);  // flushed in the meantime
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
  VdecOptions options;
  options.device = state.device;
  options.stream_format = state.key.format->format;
  options.output_format = ChooseOutputFormat(self);
  options.coded_width = state.key.width;
  options.coded_height = state.key.height;
  options.on_picture = [self](DecodedPicture decoded) { DeliverPicture(self, std::move(decoded)); };
  {
    ObjectLock lock(self);
    options.max_pending = state.max_pending;
    state.frame_template.camera_id = state.camera_id;
    state.frame_template.source = state.source;
  }
  if (state.frame_template.source.empty()) {
    state.frame_template.source = SourceNameOf(GST_VIDEO_DECODER_SINK_PAD(self));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(state.channel, VdecChannel::Create(std::move(options)));
  if (!state.key.format->codec_data) return Status();
  return state.channel->SendCodecData(state.key.codec_data);
}

// Lets every packet on its way come out (or be lost, after Abort) and closes the channel.
Status CloseChannel(GstNpuVdec* self, bool drain) {
  VdecState& state = self->state;
  std::unique_ptr<VdecChannel> channel = std::move(state.channel);
  if (channel == nullptr) return Status();
  StreamUnlock unlock(GST_VIDEO_DECODER(self));
  Status status;
  if (drain) {
    status = channel->Drain();
  } else {
    channel->Abort();
  }
  channel.reset();
  return status;
}

ChannelKey KeyOf(const StreamFormat* format, const GstVideoCodecState& input) {
  ChannelKey key{format, {}, 0, 0};
  if (input.codec_data != nullptr && format->codec_data) {
    GstMapInfo map;
    if (gst_buffer_map(input.codec_data, &map, GST_MAP_READ)) {
      const auto* data = reinterpret_cast<const std::byte*>(map.data);
      key.codec_data.assign(data, data + map.size);
      gst_buffer_unmap(input.codec_data, &map);
    }
  }
  const bool size_in_stream = format->format < 0x1002;  // H.264 and H.265 change size in mid-stream
  if (!size_in_stream) {
    key.width = GST_VIDEO_INFO_WIDTH(&input.info);
    key.height = GST_VIDEO_INFO_HEIGHT(&input.info);
  }
  return key;
}

// Timestamps which a source has put on the buffer: UTC of its capture, −1 without.
int64_t CaptureTimeOf(GstBuffer* buffer) {
  constexpr int64_t kNtpToUnixNs = 2208988800LL * GST_SECOND;
  static GstCaps* const unix_time = gst_caps_new_empty_simple("timestamp/x-unix");
  static GstCaps* const ntp_time = gst_caps_new_empty_simple("timestamp/x-ntp");
  if (const auto* meta = gst_buffer_get_reference_timestamp_meta(buffer, unix_time)) {
    return static_cast<int64_t>(meta->timestamp);
  }
  if (const auto* meta = gst_buffer_get_reference_timestamp_meta(buffer, ntp_time)) {
    return static_cast<int64_t>(meta->timestamp) - kNtpToUnixNs;
  }
  return -1;
}

void DestroyFrameInfo(gpointer info) { std::unique_ptr<FrameInfo>(static_cast<FrameInfo*>(info)).reset(); }

}  // namespace

static gboolean gst_npu_vdec_open(GstVideoDecoder* decoder) {
  auto* self = GST_NPU_VDEC(decoder);
  int device_id = 0;
  {
    ObjectLock lock(self);
    device_id = self->state.device_id;
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
  const StreamFormat* format = FormatOf(input->caps);
  if (format == nullptr) return FALSE;
  ChannelKey key = KeyOf(format, *input);
  if (!(key == state.key)) {
    if (Status status = CloseChannel(self, true); !status.ok()) PostWarning(GST_ELEMENT(self), status);
    state.key = std::move(key);
  }
  g_clear_pointer(&state.input_state, gst_video_codec_state_unref);
  state.input_state = gst_video_codec_state_ref(input);
  state.negotiated = {};  // frame rate and the like may differ
  return TRUE;
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
  return status.ok();
}

static gboolean gst_npu_vdec_sink_event(GstVideoDecoder* decoder, GstEvent* event) {
  auto* self = GST_NPU_VDEC(decoder);
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START) {
    self->state.flow = GST_FLOW_OK;
  }
  return GST_VIDEO_DECODER_CLASS(gst_npu_vdec_parent_class)->sink_event(decoder, event);
}

static void gst_npu_vdec_set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  VdecState& state = GST_NPU_VDEC(object)->state;
  ObjectLock lock(object);
  switch (id) {
    case kPropDeviceId: state.device_id = g_value_get_int(value); break;
    case kPropCameraId: state.camera_id = StringOf(value); break;
    case kPropSource: state.source = StringOf(value); break;
    case kPropOutputFormat: state.output_format = static_cast<OutputFormat>(g_value_get_enum(value)); break;
    case kPropMaxPending: state.max_pending = g_value_get_uint(value); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
}

static void gst_npu_vdec_get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  const VdecState& state = GST_NPU_VDEC(object)->state;
  ObjectLock lock(object);
  switch (id) {
    case kPropDeviceId: g_value_set_int(value, state.device_id); break;
    case kPropCameraId: g_value_set_string(value, state.camera_id.c_str()); break;
    case kPropSource: g_value_set_string(value, state.source.c_str()); break;
    case kPropOutputFormat: g_value_set_enum(value, static_cast<gint>(state.output_format)); break;
    case kPropMaxPending: g_value_set_uint(value, state.max_pending); break;
    case kPropStats:
      g_value_take_boxed(value, gst_structure_new("npuvdec-stats", "frames-in", G_TYPE_UINT64, state.packets_in.load(),
                                                  "frames-out", G_TYPE_UINT64, state.frames_out.load(), "errors",
                                                  G_TYPE_UINT64, state.errors.load(), nullptr));
      break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec); break;
  }
}

static void gst_npu_vdec_finalize(GObject* object) {
  std::destroy_at(&GST_NPU_VDEC(object)->state);
  G_OBJECT_CLASS(gst_npu_vdec_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kPropDeviceId,
      g_param_spec_int("device-id", "Device", "Number of the NPU that decodes", 0, 15, 0, kReadWrite));
  g_object_class_install_property(
      klass, kPropCameraId,
      g_param_spec_string("camera-id", "Camera", "Name of the camera in NpuFrameMeta and in records", "", kReadWrite));
  g_object_class_install_property(
      klass, kPropSource,
      g_param_spec_string("source", "Source",
                          "Name of the clip or picture in NpuFrameMeta and in records; empty: file "
                          "name that upstream tells",
                          "", kReadWrite));
  g_object_class_install_property(
      klass, kPropOutputFormat,
      g_param_spec_enum("output-format", "Output format", "Pixel format of the decoded pictures", OutputFormatType(),
                        static_cast<gint>(OutputFormat::kAuto), kReadWrite));
  g_object_class_install_property(
      klass, kPropMaxPending,
      g_param_spec_uint("max-pending", "Pending packets",
                        "Packets on the way through the decoder, in frames; upstream "
                        "waits when there are so many. At most 8 of them are decoded pictures that wait for downstream",
                        kLeastMaxPending, 256, kDefaultMaxPending, kReadWrite));
  g_object_class_install_property(
      klass, kPropStats,
      g_param_spec_boxed("stats", "Statistics",
                         "frames-in (packets received), frames-out (pictures pushed), errors "
                         "(packets that gave no picture), all in frames since the start",
                         GST_TYPE_STRUCTURE, kReadOnly));
}

static void gst_npu_vdec_class_init(GstNpuVdecClass* klass) {
  GST_DEBUG_CATEGORY_INIT(npu_vdec_debug, "npuvdec", 0, "NPU video decoder");
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_npu_vdec_set_property;
  object_class->get_property = gst_npu_vdec_get_property;
  object_class->finalize = gst_npu_vdec_finalize;
  install_properties(object_class);

  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element_class, "NPU video and picture decoder", "Codec/Decoder/Video/Image/Hardware",
      "Decodes video and pictures with the NPU's media engine; the pictures stay in device memory", "npustream");
  const UniqueCaps sink_caps(SinkCaps());
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
