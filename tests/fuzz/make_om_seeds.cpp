// make_om_seeds FOLDER MODEL.onnx…: compiles each model to FOLDER/MODEL.om, and a small one with gears of each kind: the
// seeds of the OM target. They are made
// anew rather than kept, as an OM belongs to the instruction set and version that made it.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "npu_sim/compiler/compile.h"
#include "npu_sim/om/om_writer.h"

namespace npustream {
namespace {

Status MakeSeed(const compiler::OnnxModel& model, const compiler::CompileOptions& options,
                const std::filesystem::path& path) {
  NPUSTREAM_ASSIGN_OR_RETURN(const auto compiled, compiler::Compile(model, options));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Bytes bytes, om::WriteOm(compiled));
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? Status() : Status(StatusCode::kIoError, fmt::format("{}: cannot be written", path.string()));
}

// y = relu(x) for x [n, 2, h, w] with gears of each kind.
Status MakeSeedsOfGears(const std::filesystem::path& folder) {
  compiler::OnnxModel model;
  model.ir_version = 8, model.opset = 13;
  model.graph.inputs = {{"x", om::DataType::kFloat32, true, {{-1, "n"}, {2, ""}, {-1, "h"}, {-1, "w"}}}};
  model.graph.outputs = {{"y", om::DataType::kFloat32, false, {}}};
  compiler::OnnxNode relu;
  relu.op = "Relu", relu.name = "relu", relu.inputs = {"x"}, relu.outputs = {"y"};
  model.graph.nodes = {relu};
  compiler::CompileOptions options;
  options.soc = "Ascend310P3";
  options.input_shapes["x"] = {-1, 2, 4, 4};
  options.gears = compiler::GearOptions::Batches({1, 2});
  NPUSTREAM_RETURN_IF_ERROR(MakeSeed(model, options, folder / "batches.om"));
  options.input_shapes["x"] = {1, 2, -1, -1};
  options.gears = {om::Dynamic::kImageSize, {{4, 4}, {2, 6}}, {}};
  NPUSTREAM_RETURN_IF_ERROR(MakeSeed(model, options, folder / "sizes.om"));
  options.input_shapes["x"] = {-1, 2, 4, -1};
  options.gears = {om::Dynamic::kDims, {{1, 4}, {3, 2}}, {}};
  return MakeSeed(model, options, folder / "dims.om");
}

Status MakeSeed(const std::filesystem::path& model_file, const std::filesystem::path& folder) {
  NPUSTREAM_ASSIGN_OR_RETURN(const auto model, compiler::ReadOnnxModel(model_file));
  compiler::CompileOptions options;
  options.model_name = model_file.stem().string();
  options.soc = "Ascend310P3";
  return MakeSeed(model, options, folder / model_file.stem().concat(".om"));
}

}  // namespace
}  // namespace npustream

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::filesystem::create_directories(argv[1]);
  if (const auto status = npustream::MakeSeedsOfGears(argv[1]); !status.ok()) {
    fmt::print(stderr, "{}\n", status.message());
    return 1;
  }
  for (int i = 2; i < argc; ++i) {
    if (const auto status = npustream::MakeSeed(argv[i], argv[1]); !status.ok()) {
      fmt::print(stderr, "{}: {}\n", argv[i], status.message());
      return 1;
    }
  }
  return 0;
}
