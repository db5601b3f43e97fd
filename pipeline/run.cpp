#include "pipeline/run.h"

#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <gst/gst.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/percentile.h"
#include "base/thread_budget.h"
#include "elements/infer/model_binding.h"
#include "elements/postprocess/box_decoder.h"
#include "elements/postprocess/result_builder.h"
#include "pipeline/camera/camera.h"
#include "pipeline/camera/gst_handles.h"
#include "pipeline/camera_set.h"
#include "pipeline/config/check_outputs.h"
#include "pipeline/metrics/process_counters.h"

namespace npustream::pipeline {
namespace {

struct LoadedModel {
  std::shared_ptr<const elements::ModelBinding> binding;  // shared with the elements that run it; null on failure
  Status status;
};

// Loaded before the cameras start, so that they start together and a wrong model is reported once.
LoadedModel Load(const ModelConfig& model, const serving::SchedulerOptions& scheduling, const RunOptions& options) {
  elements::ModelSelection selection;
  selection.request = model.request;
  selection.request.notify = options.on_notice;
  selection.runner.device_id = model.device;
  selection.runner.batch_size = model.batch_size;
  selection.runner.batch_timeout_ms = model.batch_timeout_ms;
  selection.runner.queue_size = model.queue_size;
  selection.runner.queue_policy = model.queue_policy;
  selection.runner.weight = model.weight;
  selection.runner.scheduling = scheduling;
  auto binding = elements::AcquireModel(std::move(selection));
  if (!binding.ok()) return {nullptr, binding.status()};
  // A model of tensors is refused by the element that would prepare its pictures, with what to do about it.
  if ((*binding)->info().picture_width == 0) return {*binding, Status()};
  return {*binding, elements::ResultBuilder({}).Check(**binding)};
}

ModelFigures FiguresOf(const serving::RunnerStats& stats) {
  ModelFigures figures;
  figures.batches = stats.batches;
  for (size_t size = 0; size < stats.batches_by_size.size(); ++size)
    figures.images += size * stats.batches_by_size[size];
  figures.queue_wait_p50_ns = Percentile(stats.queue_wait_ns, 0.50);
  figures.queue_wait_p99_ns = Percentile(stats.queue_wait_ns, 0.99);
  return figures;
}

// By name, the models of the cameras whose sources are there: a wrong path shall not wait for a model to be compiled.
std::map<std::string, LoadedModel> LoadModels(const RunConfig& config, const std::vector<Status>& sources,
                                              const RunOptions& options) {
  std::set<std::string> used;
  for (size_t i = 0; i < config.cameras.size(); ++i) {
    if (sources[i].ok()) used.insert(config.cameras[i].model);
  }
  std::map<std::string, LoadedModel> models;
  for (const ModelConfig& model : config.models) {
    if (used.contains(model.name)) models.emplace(model.name, Load(model, config.scheduling, options));
  }
  return models;
}

CopiedBytes Difference(const CopiedBytes& after, const CopiedBytes& before) {
  return {after.host_to_device - before.host_to_device, after.device_to_host - before.device_to_host,
          after.device_to_device - before.device_to_device};
}

}  // namespace

Status InitializeGStreamer() {
  static const Status status = [] {
    GError* raw_error = nullptr;
    if (!gst_init_check(nullptr, nullptr, &raw_error)) {
      const UniqueError error(raw_error);
      return Status(StatusCode::kInternal, fmt::format("GStreamer does not start: {}", error->message));
    }
    const auto folder = ProgramFolder() / ".." / "lib" / "gstreamer-1.0";
    gst_registry_scan_path(gst_registry_get(), folder.lexically_normal().c_str());
    return Status();
  }();
  return status;
}

Status CheckModelRequest(const serving::ModelRequest& request) {
  NPUSTREAM_ASSIGN_OR_RETURN(const serving::ModelDescription description, serving::DescribeModel(request));
  return elements::BoxDecoder::CheckDescription(description.decoder);
}

Result<RunSummary> RunCameras(const RunConfig& config, const RunOptions& options) {
  if (config.threads > 0) SetThreadBudget(config.threads);
  NPUSTREAM_RETURN_IF_ERROR(CheckOutputs(config));
  NPUSTREAM_RETURN_IF_ERROR(InitializeGStreamer());
  std::vector<Status> sources;
  for (const CameraConfig& camera : config.cameras) sources.push_back(Camera::CheckSource(camera));
  const std::map<std::string, LoadedModel> models = LoadModels(config, sources, options);
  CameraSet cameras(config, options);
  NPUSTREAM_RETURN_IF_ERROR(cameras.OpenOutputs());
  for (size_t i = 0; i < config.cameras.size(); ++i) {
    const Status& able = sources[i].ok() ? models.at(config.cameras[i].model).status : sources[i];
    if (!able.ok()) cameras.Refuse(i, able);
  }
  // What loading the models cost belongs to no frame.
  const ProcessCounters before = ReadProcessCounters();
  const int64_t begin_ns = Clock::System().NowNs();
  cameras.Run();
  const ProcessCounters after = ReadProcessCounters();
  RunSummary summary;
  summary.wall_s = static_cast<double>(Clock::System().NowNs() - begin_ns) / 1e9;
  summary.cpu_s = after.cpu_s - before.cpu_s;
  summary.copied = Difference(after.copied, before.copied);
  NPUSTREAM_RETURN_IF_ERROR(cameras.Close());
  summary.cameras = cameras.Outcomes();
  for (const auto& [name, model] : models) {
    if (model.binding != nullptr) summary.models[name] = FiguresOf(model.binding->runner->stats());
  }
  return summary;
}

}  // namespace npustream::pipeline
