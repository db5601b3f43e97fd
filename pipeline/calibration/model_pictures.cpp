#include "pipeline/calibration/model_pictures.h"

#include <memory>

#include <acl/acl.h>
#include <fmt/format.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include "elements/meta/npu_metas.h"
#include "pipeline/camera/gst_handles.h"
#include "pipeline/camera/picture_feeder.h"
#include "pipeline/config/source_kind.h"
#include "pipeline/graph/launch_line.h"
#include "pipeline/run.h"

namespace npustream::pipeline {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Spread(std::vector<fs::path> all, size_t count) {
  if (all.size() <= count) return all;
  std::vector<fs::path> some;
  for (size_t i = 0; i < count; ++i) some.push_back(all[i * all.size() / count]);
  return some;
}

LaunchLine Describe(const serving::ModelRequest& request, SourceKind kind, const std::string& source, int interval) {
  ModelConfig model;
  model.request = request;
  CameraConfig camera;
  camera.name = "calibration";
  camera.kind = kind;
  camera.location = source;
  if (kind != SourceKind::kPictures) camera.interval = interval;
  return DescribeCamera(camera, model, "", PipelineEnd::kModelInput);
}

class Reader {
 public:
  explicit Reader(size_t count) : count_(count) {}

  Result<ModelPictures> Run(const LaunchLine& line, std::unique_ptr<PictureFeeder> feeder) {
    GError* raw_error = nullptr;
    pipeline_.reset(gst_parse_launch_full(line.ForParser().c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &raw_error));
    const UniqueError error(raw_error);
    if (pipeline_ == nullptr || error != nullptr)
      return Status(StatusCode::kInternal, fmt::format("the pipeline cannot be built: {}", error ? error->message : "?"));
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    if (feeder != nullptr) {
      const UniqueElement source(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "pictures"));
      feeder->Start(GST_APP_SRC(source.get()));
    }
    const Status status = Pull();
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    if (feeder != nullptr) feeder->Join();
    if (!failure_.ok() && found_.pictures.empty()) return failure_;
    if (!status.ok()) return status;
    return std::move(found_);
  }

 private:
  Status Pull() {
    const UniqueElement sink(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "records"));
    while (found_.pictures.size() < count_ && failure_.ok()) {
      // An element that fails may send neither pictures nor an end.
      const UniqueSample sample(gst_app_sink_try_pull_sample(GST_APP_SINK(sink.get()), 50 * GST_MSECOND));
      if (sample == nullptr) {
        if (gst_app_sink_is_eos(GST_APP_SINK(sink.get()))) break;
        failure_ = Failure();
        continue;
      }
      const elements::ModelInput* input = elements::NpuModelInputMeta::Get(gst_sample_get_buffer(sample.get()));
      if (input != nullptr) NPUSTREAM_RETURN_IF_ERROR(Take(*input));
    }
    return {};
  }

  Status Take(const elements::ModelInput& input) {
    NPUSTREAM_RETURN_IF_ERROR(input.picture->device()->Bind());
    const serving::ModelInfo& info = input.model->info();
    found_.width = info.picture_width, found_.height = info.picture_height;
    std::vector<std::byte> picture(info.input.bytes);
    if (picture.size() > input.picture->bytes() ||
        aclrtMemcpy(picture.data(), picture.size(), input.picture->data(), picture.size(),
                    ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS)
      return {StatusCode::kInternal, "a picture cannot be brought from the device"};
    found_.pictures.push_back(std::move(picture));
    return {};
  }

  // The first error on the bus.
  Status Failure() const {
    const UniqueBus bus(gst_element_get_bus(pipeline_.get()));
    const UniqueMessage message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
    if (message == nullptr) return {};
    GError* raw = nullptr;
    gst_message_parse_error(message.get(), &raw, nullptr);
    const UniqueError error(raw);
    return {StatusCode::kUnavailable, error->message};
  }

  const size_t count_;
  UniqueElement pipeline_;
  Status failure_;
  ModelPictures found_;
};

}  // namespace

Result<ModelPictures> ReadModelPictures(const serving::ModelRequest& request, const std::string& source, size_t count,
                                        int interval) {
  NPUSTREAM_RETURN_IF_ERROR(InitializeGStreamer());
  const SourceKind kind = SourceKindOf(source);
  const std::string location = kind == SourceKind::kUri ? source : PathOfSource(source);
  std::error_code ignored;
  if (kind != SourceKind::kUri && !fs::exists(location, ignored))
    return Status(StatusCode::kNotFound, fmt::format("{} cannot be opened: no such file", location));
  std::unique_ptr<PictureFeeder> feeder;
  if (kind == SourceKind::kPictures) {
    NPUSTREAM_ASSIGN_OR_RETURN(std::vector<fs::path> pictures, ListPictures(location));
    feeder = std::make_unique<PictureFeeder>(Spread(std::move(pictures), count));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(
      ModelPictures found,
      Reader(count).Run(Describe(request, kind, location, interval), std::move(feeder)));
  if (found.pictures.empty())
    return Status(StatusCode::kCorruptData, fmt::format("{} has no picture that can be decoded", location));
  return found;
}

}  // namespace npustream::pipeline
