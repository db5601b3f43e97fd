// make_om_seeds FOLDER MODEL.onnx…: compiles each model to FOLDER/MODEL.om, the seeds of the OM target. They are made
// anew rather than kept, as an OM belongs to the instruction set and version that made it.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "npu_sim/compiler/compile.h"
#include "npu_sim/om/om_writer.h"

namespace npustream {
namespace {

Status MakeSeed(const std::filesystem::path& model_file, const std::filesystem::path& folder) {
  NPUSTREAM_ASSIGN_OR_RETURN(const auto model, compiler::ReadOnnxModel(model_file));
  compiler::CompileOptions options;
  options.model_name = model_file.stem().string();
  options.soc = "Ascend310P3";
  NPUSTREAM_ASSIGN_OR_RETURN(const auto compiled, compiler::Compile(model, options));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Bytes bytes, om::WriteOm(compiled));
  const auto path = folder / model_file.stem().concat(".om");
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? Status() : Status(StatusCode::kIoError, fmt::format("{}: cannot be written", path.string()));
}

}  // namespace
}  // namespace npustream

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::filesystem::create_directories(argv[1]);
  for (int i = 2; i < argc; ++i) {
    if (const auto status = npustream::MakeSeed(argv[i], argv[1]); !status.ok()) {
      fmt::print(stderr, "{}: {}\n", argv[i], status.message());
      return 1;
    }
  }
  return 0;
}
