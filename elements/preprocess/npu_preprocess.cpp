#include "elements/preprocess/npu_preprocess.h"

#include <fmt/format.h>

#include "runtime/serving/acl_status.h"

namespace npustream::elements {
namespace {

constexpr size_t kIdlePictures = 32;
constexpr int kNeutralChroma = 128;

// Tells blocks apart by the place that the picture takes in them. Never 0.
uint64_t PlaceTag(const PixelRect& place) {
  return static_cast<uint64_t>(place.width) << 48 | static_cast<uint64_t>(place.height) << 32 |
         static_cast<uint64_t>(place.left) << 16 | static_cast<uint64_t>(place.top);
}

UniqueRoi MakeRoi(const PixelRect& rect) {
  return UniqueRoi(acldvppCreateRoiConfig(rect.left, rect.left + rect.width - 1, rect.top, rect.top + rect.height - 1));
}

Status FillNarrowRangeTables(acldvppLutMap* map) {
  for (uint32_t dimension = 0; dimension < acldvppGetLutMapDims(map); ++dimension) {
    uint8_t* table = nullptr;
    uint32_t length = 0;
    NPUSTREAM_RETURN_IF_ACL_ERROR(acldvppGetLutMapData(map, dimension, &table, &length), "filling a table");
    for (uint32_t value = 0; value < length; ++value) {
      table[value] = static_cast<uint8_t>(dimension == 0 ? NarrowRangeLuma(value) : NarrowRangeChroma(value));
    }
  }
  return Status();
}

}  // namespace

PreprocessOptions PreprocessOptionsOf(std::shared_ptr<const NpuDevice> device, const serving::ModelInfo& info,
                                      const serving::ModelDescription& description) {
  return {.device = std::move(device),
          .model_width = info.picture_width,
          .model_height = info.picture_height,
          .format = info.picture_format,
          .fit = description.fit,
          .pad_value = description.pad_value,
          .region = {}};
}

Preprocessor::Preprocessor(PreprocessOptions options)
    : options_(std::move(options)), pictures_(options_.device, kIdlePictures) {}

Result<std::unique_ptr<Preprocessor>> Preprocessor::Create(PreprocessOptions options) {
  std::unique_ptr<Preprocessor> preprocessor(new Preprocessor(std::move(options)));  // private constructor
  NPUSTREAM_RETURN_IF_ERROR(preprocessor->Open());
  return preprocessor;
}

Status Preprocessor::Open() {
  if (options_.model_width <= 0 || options_.model_height <= 0) {
    return Status(
        StatusCode::kInvalidArgument,
        "the model takes tensors, not pictures: compile it with static AIPP (atc --insert_op_conf=FILE), or give "
        "the ONNX file, which is then compiled so");
  }
  NPUSTREAM_RETURN_IF_ERROR(options_.device->Bind());
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtCreateStream(&stream_), "creating a stream for preprocessing");
  channel_.reset(acldvppCreateChannelDesc());
  resize_.reset(acldvppCreateResizeConfig());
  if (channel_ == nullptr || resize_ == nullptr) {
    return Status(StatusCode::kResourceExhausted, "no memory for a picture channel");
  }
  NPUSTREAM_RETURN_IF_ACL_ERROR(acldvppCreateChannel(channel_.get()), "creating a picture channel");
  channel_created_ = true;
  return Status();
}

Preprocessor::~Preprocessor() {
  if (!options_.device->Bind().ok()) return;
  if (channel_created_) acldvppDestroyChannel(channel_.get());
  if (stream_ != nullptr) aclrtDestroyStream(stream_);
}

Status Preprocessor::CheckFrame(const DevicePicture& frame, const PictureTransform& transform) const {
  const bool nv12 = options_.format == serving::PictureFormat::kNv12;
  if (frame.format != (nv12 ? PIXEL_FORMAT_YUV_SEMIPLANAR_420 : PIXEL_FORMAT_RGB_888)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the model takes {} pictures, the frame is of another format", nv12 ? "NV12" : "RGB"));
  }
  return CheckMediaEngineLimits(transform);
}

DevicePicture Preprocessor::OutputPicture(void* data) const {
  const bool nv12 = options_.format == serving::PictureFormat::kNv12;
  DevicePicture picture;
  picture.data = data;
  picture.format = nv12 ? PIXEL_FORMAT_YUV_SEMIPLANAR_420 : PIXEL_FORMAT_RGB_888;
  picture.width = options_.model_width;
  picture.height = options_.model_height;
  picture.width_stride = nv12 ? picture.width : picture.width * 3;
  picture.height_stride = picture.height;
  picture.bytes = PictureBytes(picture.format, picture.width_stride, picture.height_stride);
  return picture;
}

Status Preprocessor::PaintPadding(DeviceBlock& block, const PictureTransform& transform, bool full_range) {
  const uint64_t tag = PlaceTag(transform.pasted);
  if (block.content_tag == tag) return Status();
  block.content_tag = tag;
  const PixelRect whole{0, 0, options_.model_width, options_.model_height};
  if (transform.pasted == whole) return Status();
  const DevicePicture picture = OutputPicture(block.data());
  auto* bytes = static_cast<std::byte*>(block.data());
  const bool nv12 = options_.format == serving::PictureFormat::kNv12;
  const size_t first_plane = static_cast<size_t>(picture.width_stride) * picture.height_stride;
  const int luma = nv12 && !full_range ? NarrowRangeLuma(options_.pad_value) : options_.pad_value;
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtMemsetAsync(bytes, first_plane, luma, first_plane, stream_), "painting padding");
  if (!nv12) return Status();
  const size_t chroma = picture.bytes - first_plane;
  NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtMemsetAsync(bytes + first_plane, chroma, kNeutralChroma, chroma, stream_),
                                "painting padding");
  return Status();
}

Status Preprocessor::Paste(const DevicePicture& frame, const PictureTransform& transform, void* output) {
  NPUSTREAM_ASSIGN_OR_RETURN(UniquePicDesc from, MakePicDesc(frame));
  NPUSTREAM_ASSIGN_OR_RETURN(UniquePicDesc to, MakePicDesc(OutputPicture(output)));
  const UniqueRoi crop = MakeRoi(transform.source);
  const UniqueRoi paste = MakeRoi(transform.pasted);
  NPUSTREAM_RETURN_IF_ACL_ERROR(acldvppVpcCropResizePasteAsync(channel_.get(), from.get(), to.get(), crop.get(),
                                                               paste.get(), resize_.get(), stream_),
                                "scaling a frame");
  return Status();
}

Status Preprocessor::NarrowRange(void* input, void* output) {
  if (narrow_range_ == nullptr) {
    narrow_range_.reset(acldvppCreateLutMap());
    if (narrow_range_ == nullptr) return Status(StatusCode::kResourceExhausted, "no memory for a table");
    NPUSTREAM_RETURN_IF_ERROR(FillNarrowRangeTables(narrow_range_.get()));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(UniquePicDesc from, MakePicDesc(OutputPicture(input)));
  NPUSTREAM_ASSIGN_OR_RETURN(UniquePicDesc to, MakePicDesc(OutputPicture(output)));
  NPUSTREAM_RETURN_IF_ACL_ERROR(
      acldvppVpcEqualizeHistAsync(channel_.get(), from.get(), to.get(), narrow_range_.get(), stream_),
      "bringing a frame to narrow range");
  return Status();
}

Status Preprocessor::Enqueue(const DevicePicture& frame, const PictureTransform& transform, DeviceBlock& output) {
  const bool convert_range = frame.full_range && options_.format == serving::PictureFormat::kNv12;
  if (!convert_range) {
    NPUSTREAM_RETURN_IF_ERROR(PaintPadding(output, transform, false));
    return Paste(frame, transform, output.data());
  }
  // By way of a second picture: the table changes the padding too, so it must not meet padding twice.
  if (full_range_picture_ == nullptr) {
    NPUSTREAM_ASSIGN_OR_RETURN(full_range_picture_, DeviceBlock::Allocate(options_.device, output.bytes()));
  }
  NPUSTREAM_RETURN_IF_ERROR(PaintPadding(*full_range_picture_, transform, true));
  NPUSTREAM_RETURN_IF_ERROR(Paste(frame, transform, full_range_picture_->data()));
  output.content_tag = 0;
  return NarrowRange(full_range_picture_->data(), output.data());
}

Result<PreparedPicture> Preprocessor::Run(const DevicePicture& frame) {
  const PictureTransform transform = FitPicture(frame.width, frame.height, options_.model_width, options_.model_height,
                                                options_.fit, options_.format, options_.region);
  NPUSTREAM_RETURN_IF_ERROR(CheckFrame(frame, transform));
  NPUSTREAM_RETURN_IF_ERROR(options_.device->Bind());
  NPUSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<DeviceBlock> output, pictures_.Acquire(OutputPicture(nullptr).bytes));
  const Status queued = Enqueue(frame, transform, *output);
  if (!queued.ok()) output->content_tag = 0;
  // Also after a failure: nothing may still be writing when the block goes back to the pool.
  const Status done = serving::AclStatus(aclrtSynchronizeStream(stream_), "waiting for the media engine");
  NPUSTREAM_RETURN_IF_ERROR(queued);
  NPUSTREAM_RETURN_IF_ERROR(done);
  return PreparedPicture{std::move(output), transform};
}

}  // namespace npustream::elements
