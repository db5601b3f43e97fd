// make_om_seeds FOLDER MODEL.onnx…: compiles each model to FOLDER/MODEL.om, the seeds of the OM target, and, where the model
// allows, to MODEL-gears.om (batches 1, 2 and 4), MODEL-aipp.om (its input a picture) and MODEL-bf16.om, MODEL-fp16.om. They
// are made anew rather than kept, as an OM belongs to the instruction set and version that made it.
#include <filesystem>
#include <fstream>
#include <functional>

#include <fmt/format.h>

#include "npu_sim/compiler/aipp/aipp_file.h"
#include "npu_sim/compiler/aipp/resolve_aipp.h"
#include "npu_sim/compiler/compile.h"
#include "npu_sim/om/om_writer.h"

namespace npustream {
namespace {

Status WriteSeed(const compiler::OnnxModel& model, compiler::CompileOptions options, const std::filesystem::path& path) {
  options.model_name = path.stem().string();
  options.soc = "Ascend310P3";
  NPUSTREAM_ASSIGN_OR_RETURN(const auto compiled, compiler::Compile(model, options));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Bytes bytes, om::WriteOm(compiled));
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? Status() : Status(StatusCode::kIoError, fmt::format("{}: cannot be written", path.string()));
}

om::Dims DimsOf(const compiler::OnnxValue& input) {
  om::Dims dims;
  for (const compiler::OnnxDim& dim : input.dims) dims.push_back(dim.size);
  return dims;
}

// Options of a variant, or none where the model is not of the kind.
std::optional<compiler::CompileOptions> WithGears(const compiler::OnnxModel& model) {
  compiler::CompileOptions options;
  for (const compiler::OnnxValue& input : model.graph.inputs) {
    om::Dims dims = DimsOf(input);
    if (dims.size() < 2) return std::nullopt;
    dims[0] = -1;
    options.input_shapes[input.name] = dims;
  }
  options.gears = {1, 2, 4};
  return options;
}

std::optional<compiler::CompileOptions> WithAipp(const compiler::OnnxModel& model) {
  if (model.graph.inputs.size() != 1) return std::nullopt;
  const om::Dims dims = DimsOf(model.graph.inputs[0]);
  if (dims.size() != 4 || dims[1] != 3) return std::nullopt;
  compiler::CompileOptions options;
  om::AippConfig aipp;
  aipp.aipp_mode = "static";
  aipp.input_format = "YUV420SP_U8";
  aipp.csc_switch = aipp.crop = aipp.padding = true;
  aipp.src_image_size_w = static_cast<int32_t>(dims[3]) + 2, aipp.src_image_size_h = static_cast<int32_t>(dims[2]) + 2;
  aipp.load_start_pos_w = aipp.load_start_pos_h = 2;
  aipp.crop_size_w = static_cast<int32_t>(dims[3]) - 2, aipp.crop_size_h = static_cast<int32_t>(dims[2]) - 2;
  aipp.left_padding_size = aipp.right_padding_size = aipp.top_padding_size = aipp.bottom_padding_size = 1;
  aipp.matrix = {256, 0, 359, 256, -88, -183, 256, 454, 0};
  aipp.input_bias = {0, 128, 128};
  aipp.var_reci_chn = {0.0039f, 0.0039f, 0.0039f, 0};
  options.aipp = {aipp};
  return options;
}

std::optional<compiler::CompileOptions> WithPrecision(om::DataType type) {
  compiler::CompileOptions options;
  options.precision.type = type;
  options.precision.by_kernels = type == om::DataType::kBFloat16;
  return options;
}

struct Variant {
  const char* suffix;
  std::function<std::optional<compiler::CompileOptions>(const compiler::OnnxModel&)> options;
};

// The plain one must succeed, a variant need not be possible.
Status MakeSeeds(const std::filesystem::path& model_file, const std::filesystem::path& folder) {
  NPUSTREAM_ASSIGN_OR_RETURN(const auto model, compiler::ReadOnnxModel(model_file));
  NPUSTREAM_RETURN_IF_ERROR(WriteSeed(model, {}, folder / model_file.stem().concat(".om")));
  const Variant variants[] = {
      {"-gears", WithGears},
      {"-aipp", WithAipp},
      {"-bf16", [](const auto&) { return WithPrecision(om::DataType::kBFloat16); }},
      {"-fp16", [](const auto&) { return WithPrecision(om::DataType::kFloat16); }},
  };
  for (const Variant& variant : variants) {
    const auto options = variant.options(model);
    if (!options) continue;
    const auto path = folder / model_file.stem().concat(variant.suffix).concat(".om");
    if (const Status made = WriteSeed(model, *options, path); !made.ok())
      fmt::print(stderr, "no {}: {}\n", path.filename().string(), made.message());
  }
  return {};
}

}  // namespace
}  // namespace npustream

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::filesystem::create_directories(argv[1]);
  for (int i = 2; i < argc; ++i) {
    if (const auto status = npustream::MakeSeeds(argv[i], argv[1]); !status.ok()) {
      fmt::print(stderr, "{}: {}\n", argv[i], status.message());
      return 1;
    }
  }
  return 0;
}
