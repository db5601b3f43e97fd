// Any bytes as an ONNX model: read, imported, compiled; what compiles is written, read again and, when small, run. What is
// wrong with a model is a Status; a model that was compiled can be loaded.
#include <onnx/onnx_pb.h>

#include <cstring>
#include <filesystem>
#include <span>
#include <string>

#include "npu_sim/compiler/compile.h"
#include "npu_sim/om/om_writer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_onnx.h"
#include "tests/fuzz/run_om.h"

namespace npustream::fuzz {
namespace {

// How a model is compiled follows from its bytes, so that all ways are taken and an input stands for itself.
compiler::CompileOptions OptionsFor(std::span<const uint8_t> bytes) {
  uint32_t hash = 2166136261u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 16777619u;
  compiler::CompileOptions options;
  options.model_name = "fuzz";
  options.soc = "Ascend310P3";
  const uint32_t way = hash >> 8 & 7;
  if (way == 1) options.precision.type = om::DataType::kFloat16;
  if (way == 2 || way == 3) options.precision.type = om::DataType::kBFloat16;
  options.precision.by_kernels = way == 3;
  if (way == 4) {
    for (const std::string_view pass : compiler::PassNames()) {
      if ((hash = hash * 1664525u + 1013904223u) >> 31) options.disabled_passes.emplace(pass);
    }
  }
  return options;
}

void Compile(std::span<const uint8_t> bytes) {
  const auto model = compiler::ParseOnnxModel(std::as_bytes(bytes), std::filesystem::path("/nonexistent"));
  if (!model.ok()) return;
  const auto compiled = compiler::Compile(*model, OptionsFor(bytes));
  if (!compiled.ok()) {
    Require(compiled.status().code() != StatusCode::kInternal, "a model's fault is not the compiler's",
            compiled.status().message().c_str());
    return;
  }
  const auto om = om::WriteOm(*compiled);
  Require(om.ok(), "a compiled model can be written", om.status().message().c_str());
  const Status ran = TryOm(*om);
  // A custom operator may have its own reasons.
  Require(ran.ok() || ran.code() == StatusCode::kInternal, "a compiled model can be loaded and run", ran.message().c_str());
}

}  // namespace
}  // namespace npustream::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  npustream::fuzz::Compile({data, size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  npustream::fuzz::Random random(seed);
  onnx::ModelProto model;
  if (random.OneIn(8) || !model.ParseFromArray(data, static_cast<int>(size))) return LLVMFuzzerMutate(data, size, max_size);
  npustream::fuzz::MutateOnnx(model, random);
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > max_size) return size;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
