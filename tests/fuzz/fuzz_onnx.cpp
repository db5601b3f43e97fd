// Any bytes as an ONNX model: read, imported and, when small, compiled. Whatever is wrong is a Status.
#include <filesystem>

#include "npu_sim/compiler/compile.h"
#include "npu_sim/compiler/onnx/import_model.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace npustream;
  const auto model =
      compiler::ParseOnnxModel(std::as_bytes(std::span(data, size)), std::filesystem::path("/nonexistent"));
  if (!model.ok()) return 0;
  const auto graph = compiler::ImportModel(*model, {});
  if (!graph.ok() || fuzz::TensorBytes(*graph) > fuzz::kMaxBytes) return 0;
  compiler::CompileOptions options;
  options.model_name = "fuzz";
  options.soc = "Ascend310P3";
  static_cast<void>(compiler::Compile(*model, options));
  return 0;
}
