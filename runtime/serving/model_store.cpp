#include "runtime/serving/model_store.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/log.h"
#include "base/sha256.h"
#include "runtime/serving/acl_session.h"
#include "runtime/serving/aipp_config.h"
#include "runtime/serving/atc_compiler.h"
#include "runtime/serving/model_catalog.h"
#include "runtime/serving/model_defaults.h"
#include "runtime/serving/om_cache.h"

namespace npustream::serving {
namespace {

namespace fs = std::filesystem;

// To be raised when this file compiles otherwise than before under the same options.
constexpr int kCacheGeneration = 1;

enum class Kind { kDescription, kOm, kOnnx, kName };

Result<Kind> KindOf(const std::string& model) {
  const fs::path path = model;
  const std::string extension = path.extension().string();
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(path, ignored);
  if (fs::is_directory(path, ignored) && !FindDescription(model).ok()) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{} is a folder; a model is a description (.yaml), an OM (.om) or an ONNX file (.onnx)", model));
  }
  const bool has_kind = extension == ".yaml" || extension == ".yml" || extension == ".om" || extension == ".onnx";
  if (has_kind && !is_file) return Status(StatusCode::kNotFound, fmt::format("{}: there is no such file", model));
  if (has_kind) return extension == ".om" ? Kind::kOm : extension == ".onnx" ? Kind::kOnnx : Kind::kDescription;
  if (is_file) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}: neither a description (.yaml), an OM (.om) nor an ONNX file (.onnx)", model));
  }
  return Kind::kName;
}

Result<ModelDescription> LoadDescribed(const ModelRequest& request, const fs::path& yaml) {
  NPUSTREAM_ASSIGN_OR_RETURN(ModelDescription description, LoadModelDescription(yaml));
  if (!request.decoder.empty() && request.decoder != description.decoder.type) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} says decoder '{}'; '{}' can be chosen only for a model without a description",
                              yaml.string(), description.decoder.type, request.decoder));
  }
  NPUSTREAM_ASSIGN_OR_RETURN(description.file, LocateModelFile(description));
  return description;
}

Result<ModelDescription> DescribeBareFile(const ModelRequest& request) {
  NPUSTREAM_ASSIGN_OR_RETURN(ModelDescription description, DefaultDescription(request.decoder));
  const fs::path path = request.model;
  description.name = path.stem().string();
  description.file = fs::absolute(path).lexically_normal();
  return description;
}

// The file's sha256, held against what the description says; empty for an OM about which it says nothing.
Result<std::string> CheckedSha256(const ModelDescription& description) {
  if (description.sha256.empty() && description.file.extension() == ".om") return std::string();
  NPUSTREAM_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(description.file));
  std::string sha256 = Sha256Hex(file.bytes());
  if (description.sha256.empty() || description.sha256 == sha256) return sha256;
  return Status(StatusCode::kCorruptData,
                fmt::format("{}: sha256 is {}, but the description of {} says {}; it is another file, or damaged",
                            description.file.string(), sha256, description.name, description.sha256));
}

Result<std::string> PrecisionMode(const std::string& precision) {
  if (precision == "fp32") return std::string("force_fp32");
  if (precision == "fp16") return std::string("force_fp16");
  if (precision == "bf16") return std::string("allow_fp32_to_bf16");
  return Status(StatusCode::kInvalidArgument, fmt::format("precision '{}' is none of fp32, fp16, bf16", precision));
}

struct PictureSize {
  int width = 0, height = 0;
};

// The size of the model's picture: from the file, or from the description where the file leaves it open.
Result<PictureSize> SizeOfPicture(const ModelDescription& description, PictureFormat format, const OnnxPort& input) {
  const auto fail = [&](std::string_view reason) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: input '{}' [{}] {}", description.file.string(), input.name,
                                                        fmt::join(input.dims, ","), reason));
  };
  if (input.dims.size() != 4 || input.dims[1] != 3) return fail("is not a picture of shape N,3,H,W");
  PictureSize size{static_cast<int>(input.dims[3]), static_cast<int>(input.dims[2])};
  const bool described = description.input_width > 0;
  if (size.width < 0 || size.height < 0) {
    if (!described) return fail("leaves the picture's size open; 'input-size' in a description decides it");
    size = {description.input_width, description.input_height};
  } else if (described && (size.width != description.input_width || size.height != description.input_height)) {
    return fail(
        fmt::format("is not the description's input-size of {}x{}", description.input_width, description.input_height));
  }
  if (format == PictureFormat::kNv12 && (size.width % 2 != 0 || size.height % 2 != 0)) {
    return fail("has an odd size, which NV12 cannot have; use picture format rgb");
  }
  return size;
}

std::string InterfaceJson(const OnnxInterface& interface) {
  const auto port_json = [](const OnnxPort& port) {
    nlohmann::json dims = nlohmann::json::array();
    for (const int64_t dim : port.dims) dims.push_back({{"dim_value", dim}});
    return nlohmann::json{{"name", port.name}, {"type", {{"tensor_type", {{"shape", {{"dim", dims}}}}}}}};
  };
  nlohmann::json graph{{"input", nlohmann::json::array()}, {"output", nlohmann::json::array()}};
  for (const OnnxPort& port : interface.inputs) graph["input"].push_back(port_json(port));
  for (const OnnxPort& port : interface.outputs) graph["output"].push_back(port_json(port));
  return nlohmann::json{{"graph", graph}}.dump(1);
}

// Everything that decides what the OM contains.
struct CompilePlan {
  const ModelRequest& request;
  const ModelDescription& description;
  const AtcCompiler& atc;
  std::vector<int> gears;
  std::string soc_version;
  std::string precision_mode;

  std::string Key(const std::string& file_sha256) const {
    const std::string text =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}x{}\n{}", kCacheGeneration, file_sha256, atc.identity(), soc_version,
                    precision_mode, fmt::join(gears, ","), description.input_width, description.input_height,
                    AippConfig(description, request.picture_format, 0, 0));
    return Sha256Hex(std::as_bytes(std::span(text)));
  }
};

Result<CompilePlan> MakePlan(const ModelRequest& request, const ModelDescription& description,
                             const AtcCompiler& atc) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::string precision_mode, PrecisionMode(request.precision));
  CompilePlan plan{request, description, atc, request.gears, request.soc_version, precision_mode};
  if (plan.soc_version.empty()) plan.soc_version = SocName();
  if (plan.gears.empty()) plan.gears = {1};
  std::sort(plan.gears.begin(), plan.gears.end());
  plan.gears.erase(std::unique(plan.gears.begin(), plan.gears.end()), plan.gears.end());
  if (plan.gears.front() >= 1) return plan;
  return Status(StatusCode::kInvalidArgument, fmt::format("a batch of {} is empty", plan.gears.front()));
}

struct DescribedJob {
  CompileJob job;
  OnnxInterface interface;
};

// Leaves aipp.cfg in `scratch`.
Result<DescribedJob> DescribeJob(const CompilePlan& plan, const fs::path& scratch, const fs::path& om) {
  const ModelDescription& description = plan.description;
  NPUSTREAM_ASSIGN_OR_RETURN(OnnxInterface interface, plan.atc.ReadInterface(description.file, scratch));
  if (interface.inputs.size() != 1) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: has {} inputs, a model of pictures has one",
                                                        description.file.string(), interface.inputs.size()));
  }
  const OnnxPort& input = interface.inputs[0];
  NPUSTREAM_ASSIGN_OR_RETURN(const PictureSize size, SizeOfPicture(description, plan.request.picture_format, input));
  const std::string aipp = AippConfig(description, plan.request.picture_format, size.width, size.height);
  NPUSTREAM_RETURN_IF_ERROR(WriteFileAtomically(scratch / "aipp.cfg", aipp));

  CompileJob job{description.file, om, scratch / "aipp.cfg", "", {}, plan.soc_version, plan.precision_mode};
  int64_t batch = plan.gears.front();
  if (input.dims[0] > 1) {
    batch = input.dims[0];
  } else if (plan.gears.size() > 1) {
    batch = -1;
    job.gears = plan.gears;
  }
  job.input_shape = fmt::format("{}:{},3,{},{}", input.name, batch, size.height, size.width);
  return DescribedJob{std::move(job), std::move(interface)};
}

// Leaves model.om and interface.json in `scratch`.
Status CompileInto(const CompilePlan& plan, const fs::path& scratch) {
  NPUSTREAM_ASSIGN_OR_RETURN(const DescribedJob described, DescribeJob(plan, scratch, scratch / "model.om"));
  NPUSTREAM_RETURN_IF_ERROR(plan.atc.Compile(described.job));
  return WriteFileAtomically(scratch / "interface.json", InterfaceJson(described.interface));
}

// Gives a model without labels its usual ones, and refuses labels that cannot be the model's.
Status SettleLabels(const OmCacheEntry& entry, ModelDescription& description) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::string json, ReadTextFile(entry.interface_json));
  NPUSTREAM_ASSIGN_OR_RETURN(const OnnxInterface interface, ParseOnnxJson(json));
  std::vector<std::vector<int64_t>> outputs;
  for (const OnnxPort& port : interface.outputs) outputs.push_back(port.dims);
  if (description.labels.empty()) description.labels = DefaultLabels(description.decoder.type, outputs);
  const size_t count = description.labels.size();
  if (count == 0 || FitsClassCount(description.decoder.type, outputs, count)) return {};
  std::vector<std::string> shapes;
  for (const OnnxPort& port : interface.outputs) {
    shapes.push_back(fmt::format("{} [{}]", port.name, fmt::join(port.dims, ",")));
  }
  return Status(StatusCode::kInvalidArgument,
                fmt::format("model {}: {} labels do not fit decoder '{}' and the outputs {}", description.name, count,
                            description.decoder.type, fmt::join(shapes, ", ")));
}

Result<fs::path> CompileOnnx(const ModelRequest& request, const std::string& file_sha256,
                             ModelDescription& description) {
  NPUSTREAM_ASSIGN_OR_RETURN(const AtcCompiler atc, AtcCompiler::Find());
  NPUSTREAM_ASSIGN_OR_RETURN(const CompilePlan plan, MakePlan(request, description, atc));
  const auto make = [&](const fs::path& scratch) {
    const std::string news = fmt::format("compiling {} for batches of {} (first use)", description.file.string(),
                                         fmt::join(plan.gears, ", "));
    Log(LogLevel::kInfo, "serving", "{}", news);
    if (request.notify) request.notify(news);
    return CompileInto(plan, scratch);
  };
  NPUSTREAM_ASSIGN_OR_RETURN(const OmCacheEntry entry, GetOrMakeOm(description.name, plan.Key(file_sha256), make));
  NPUSTREAM_RETURN_IF_ERROR(SettleLabels(entry, description));
  return entry.om;
}

}  // namespace

Result<ModelDescription> DescribeModel(const ModelRequest& request) {
  if (request.model.empty()) return Status(StatusCode::kInvalidArgument, "no model is named");
  NPUSTREAM_ASSIGN_OR_RETURN(const Kind kind, KindOf(request.model));
  Result<ModelDescription> description = Status(StatusCode::kInternal, "unreached");
  if (kind == Kind::kName) {
    NPUSTREAM_ASSIGN_OR_RETURN(const fs::path yaml, FindDescription(request.model));
    description = LoadDescribed(request, yaml);
  } else {
    description = kind == Kind::kDescription ? LoadDescribed(request, request.model) : DescribeBareFile(request);
  }
  if (description.ok() && !request.labels_file.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(description->labels, LoadLabels(request.labels_file));
  }
  return description;
}

Result<CompileJob> DescribeCompilation(const ModelRequest& request, const ModelDescription& description,
                                       const fs::path& scratch, const fs::path& om) {
  NPUSTREAM_RETURN_IF_ERROR(CheckedSha256(description).status());
  NPUSTREAM_ASSIGN_OR_RETURN(const AtcCompiler atc, AtcCompiler::Find());
  NPUSTREAM_ASSIGN_OR_RETURN(const CompilePlan plan, MakePlan(request, description, atc));
  NPUSTREAM_ASSIGN_OR_RETURN(DescribedJob described, DescribeJob(plan, scratch, om));
  return std::move(described.job);
}

Result<ResolvedModel> ResolveModel(const ModelRequest& request) {
  NPUSTREAM_ASSIGN_OR_RETURN(ModelDescription description, DescribeModel(request));
  NPUSTREAM_ASSIGN_OR_RETURN(const std::string file_sha256, CheckedSha256(description));
  fs::path om = description.file;
  if (om.extension() != ".om") {
    NPUSTREAM_ASSIGN_OR_RETURN(om, CompileOnnx(request, file_sha256, description));
  }
  return ResolvedModel{std::move(description), std::move(om)};
}

}  // namespace npustream::serving
