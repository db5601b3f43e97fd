#include "apps/atc/convert.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/atc/compile_options.h"
#include "apps/atc/om_info.h"
#include "apps/atc/quantize.h"
#include "base/file.h"
#include "npu_sim/om/om_writer.h"

namespace npustream::atc {
namespace {

namespace fs = std::filesystem;

// The OM's bytes.
Outcome<om::Bytes> CompileToBytes(const FlagValues& flags, const std::string& command_line) {
  const Outcome<compiler::OnnxModel> model = ReadModel(flags);
  if (!model.ok()) return model.failure();
  Outcome<compiler::CompileOptions> options = ReadCompileOptions(flags, model.value());
  if (!options.ok()) return options.failure();
  options.value().command_line = command_line;
  if (Check failure = Quantize(flags, model.value(), options.value())) return *failure;
  const Result<om::OmModel> compiled = compiler::Compile(model.value(), options.value());
  if (!compiled.ok()) return ModelFailure(compiled.status().WithContext(flags.Get("model")));
  Result<om::Bytes> bytes = om::WriteOm(*compiled);
  if (!bytes.ok()) return Failure{"E19999", bytes.status().message()};
  return std::move(*bytes);
}

// The file that --output names; ".om" is appended unless it is there.
Outcome<fs::path> OutputPath(const FlagValues& flags) {
  if (!flags.Has("output")) return Failure{"E10007", "Parameter [--output] is required"};
  fs::path path = flags.Get("output");
  std::error_code error;
  if (!flags.Get("output").ends_with(".om")) path += ".om";
  const std::string stem = path.filename() == ".om" ? "" : path.stem().string();
  if (stem.empty() || stem == "." || stem == ".." || fs::is_directory(path, error)) {
    return InvalidValue("output", flags.Get("output"), "it names a folder, not a file");
  }
  return path;
}

}  // namespace

Outcome<compiler::OnnxModel> ReadModel(const FlagValues& flags) {
  for (const char* required : {"model", "framework"}) {
    if (!flags.Has(required)) return Failure{"E10007", fmt::format("Parameter [--{}] is required", required)};
  }
  if (const std::string framework = flags.Get("framework"); framework != "5") {
    return InvalidValue("framework", framework, "only 5 (ONNX) can be read");
  }
  Result<compiler::OnnxModel> model = compiler::ReadOnnxModel(flags.Get("model"));
  if (!model.ok()) return ModelFailure(model.status());
  if (model->graph.inputs.empty())
    return Failure{"E16001", fmt::format("{}: the model has no input", flags.Get("model"))};
  if (model->graph.outputs.empty()) {
    return Failure{"E16001", fmt::format("{}: the model has no output", flags.Get("model"))};
  }
  return std::move(*model);
}

Check ConvertModel(const FlagValues& flags, const std::string& command_line) {
  const Outcome<fs::path> output = OutputPath(flags);
  if (!output.ok()) return output.failure();
  const Outcome<om::Bytes> bytes = CompileToBytes(flags, command_line);
  if (!bytes.ok()) return bytes.failure();
  const fs::path& path = output.value();
  if (const Status status = WriteFileAtomically(path, std::span<const std::byte>(bytes.value())); !status.ok()) {
    return Failure{"E13004", status.message()};
  }
  return flags.Get("display_model_info") == "1" ? PrintOmInfo(path) : std::nullopt;
}

Check PrecheckModel(const FlagValues& flags, const std::string& command_line) {
  const Outcome<om::Bytes> bytes = CompileToBytes(flags, command_line);
  nlohmann::json report;
  report["model_name"] = fs::path(flags.Get("model")).filename().string();
  report["result"] = bytes.ok() ? "success" : "failed";
  if (!bytes.ok()) report["error"] = {{"code", bytes.failure().code}, {"reason", bytes.failure().message}};
  const std::string text = report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (const Status status = WriteFileAtomically(flags.Get("check_report"), std::string_view(text)); !status.ok()) {
    return Failure{"E13004", status.message()};
  }
  return bytes.ok() ? Check() : bytes.failure();
}

}  // namespace npustream::atc
