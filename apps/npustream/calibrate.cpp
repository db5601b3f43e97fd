#include "apps/npustream/calibrate.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "apps/atc/compile_options.h"
#include "apps/atc/convert.h"
#include "apps/atc/flags.h"
#include "apps/npustream/console.h"
#include "pipeline/calibration/model_pictures.h"

namespace npustream::apps {
namespace {

namespace fs = std::filesystem;

class ScratchFolder {
 public:
  ScratchFolder() : path_((fs::temp_directory_path() / "npustream-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }  // empty when there is none

 private:
  std::string path_;
};

Status ToStatus(const atc::Failure& failure) { return {StatusCode::kInvalidArgument, failure.message}; }

// As atc reads its command line.
Status ReadAsAtc(const std::vector<std::string>& arguments, Calibrated& calibrated) {
  const atc::Outcome<atc::FlagValues> flags = atc::ParseFlags(arguments);
  if (!flags.ok()) return ToStatus(flags.failure());
  atc::Outcome<compiler::OnnxModel> model = atc::ReadModel(flags.value());
  if (!model.ok()) return ToStatus(model.failure());
  atc::Outcome<compiler::CompileOptions> options = atc::ReadCompileOptions(flags.value(), model.value());
  if (!options.ok()) return ToStatus(options.failure());
  calibrated.model = std::move(model.value());
  calibrated.options = std::move(options.value());
  return {};
}

// Pictures do not depend on batch sizes, for each of which the model would be compiled to get at them.
Result<compiler::CalibrationData> ReadPictures(const CalibrationRequest& request) {
  serving::ModelRequest model = request.model;
  model.gears = {1};
  NPUSTREAM_ASSIGN_OR_RETURN(const pipeline::ModelPictures pictures,
                             pipeline::ReadModelPictures(model, request.images, request.count, request.interval));
  compiler::CalibrationData data;
  data.through_aipp = true;
  om::Bytes& samples = data.inputs.emplace_back();
  for (const std::vector<std::byte>& picture : pictures.pictures)
    samples.insert(samples.end(), picture.begin(), picture.end());
  return data;
}

}  // namespace

Result<Calibrated> Calibrate(const CalibrationRequest& request, const fs::path& om) {
  NPUSTREAM_ASSIGN_OR_RETURN(const serving::ModelDescription description, serving::DescribeModel(request.model));
  if (description.file.extension() != ".onnx") {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} is compiled already; the model to quantise is an ONNX file",
                                                            description.file.string()));
  }
  const ScratchFolder scratch;
  if (scratch.path().empty()) {
    return Status(StatusCode::kIoError, fmt::format("{}: no folder can be made in it; TMPDIR may name another",
                                                    fs::temp_directory_path().string()));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const serving::CompileJob job,
                             serving::DescribeCompilation(request.model, description, scratch.path(), om));
  Calibrated calibrated;
  NPUSTREAM_RETURN_IF_ERROR(ReadAsAtc(serving::AtcArguments(job), calibrated));
  calibrated.options.command_line = fmt::format("npustream quantize {}", request.model.model);
  ShowProgressLine("reading pictures");
  NPUSTREAM_ASSIGN_OR_RETURN(const compiler::CalibrationData data, ReadPictures(request));
  compiler::QuantizationOptions options = request.options;
  options.notify = ShowProgressLine;
  NPUSTREAM_ASSIGN_OR_RETURN(calibrated.scheme,
                             compiler::PlanQuantization(calibrated.model, calibrated.options, data, options));
  WipeProgress();
  return calibrated;
}

}  // namespace npustream::apps
