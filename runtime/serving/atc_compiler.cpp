#include "runtime/serving/atc_compiler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "runtime/serving/child_process.h"

namespace npustream::serving {
namespace {

namespace fs = std::filesystem;

fs::path FindOnPath() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / "atc";
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

Result<fs::path> FindProgram() {
  if (const char* chosen = std::getenv("NPUSTREAM_ATC"); chosen != nullptr && *chosen != '\0') {
    if (access(chosen, X_OK) == 0) return fs::path(chosen);
    return Status(StatusCode::kNotFound, fmt::format("NPUSTREAM_ATC names {}, which cannot be run", chosen));
  }
  const fs::path library = FolderOfSymbol(reinterpret_cast<const void*>(&ParseOnnxJson));
  for (const fs::path& program : {library / ".." / "bin" / "atc", ProgramFolder() / "atc", FindOnPath()}) {
    if (!program.empty() && access(program.c_str(), X_OK) == 0) return program.lexically_normal();
  }
  return Status(StatusCode::kNotFound,
                "the compiler 'atc' is neither beside npustream nor in PATH; NPUSTREAM_ATC may name it");
}

// What atc said without the lines that it says always.
std::string Complaint(const std::string& output) {
  std::istringstream lines(output);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const bool always = line.empty() || line == "..." || line.starts_with("ATC start working now") ||
                        line.starts_with("ATC run failed");
    if (!always) kept += (kept.empty() ? "" : "\n") + line;
  }
  return kept.empty() ? "it gave no reason" : kept;
}

}  // namespace

Result<AtcCompiler> AtcCompiler::Find() {
  NPUSTREAM_ASSIGN_OR_RETURN(const fs::path program, FindProgram());
  struct stat info {};
  if (stat(program.c_str(), &info) != 0) {
    return Status(StatusCode::kIoError, fmt::format("{}: cannot be examined", program.string()));
  }
  std::string identity = fmt::format("{} {} {}.{:09}", fs::absolute(program).string(), info.st_size,
                                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  return AtcCompiler(program, std::move(identity));
}

Status AtcCompiler::Run(const std::vector<std::string>& arguments, const fs::path& onnx) const {
  NPUSTREAM_ASSIGN_OR_RETURN(const ProcessOutcome outcome, RunProgram(program_, arguments));
  if (outcome.exit_code == 0) return {};
  return Status(StatusCode::kInvalidArgument,
                fmt::format("atc cannot compile {}: {}", onnx.string(), Complaint(outcome.output)));
}

Result<OnnxInterface> AtcCompiler::ReadInterface(const fs::path& onnx, const fs::path& scratch) const {
  const fs::path json = scratch / "model.json";
  NPUSTREAM_RETURN_IF_ERROR(Run(
      {"--mode=1", "--framework=5", fmt::format("--model={}", onnx.string()), fmt::format("--json={}", json.string())},
      onnx));
  NPUSTREAM_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(json));
  Result<OnnxInterface> parsed = ParseOnnxJson(text);
  if (!parsed.ok()) return parsed.status().WithContext(onnx.string());
  return parsed;
}

std::vector<std::string> AtcArguments(const CompileJob& job) {
  // atc appends ".om" to what --output says.
  const std::string output = fs::path(job.om).replace_extension().string();
  std::vector<std::string> arguments{"--mode=0",
                                     "--framework=5",
                                     fmt::format("--model={}", job.onnx.string()),
                                     fmt::format("--output={}", output),
                                     fmt::format("--input_shape={}", job.input_shape),
                                     fmt::format("--soc_version={}", job.soc_version),
                                     fmt::format("--insert_op_conf={}", job.aipp_config.string())};
  if (!job.gears.empty()) arguments.push_back(fmt::format("--dynamic_batch_size={}", fmt::join(job.gears, ",")));
  if (!job.precision_mode.empty()) arguments.push_back(fmt::format("--precision_mode={}", job.precision_mode));
  return arguments;
}

Status AtcCompiler::Compile(const CompileJob& job) const {
  NPUSTREAM_RETURN_IF_ERROR(Run(AtcArguments(job), job.onnx));
  std::error_code ignored;
  if (fs::is_regular_file(job.om, ignored)) return {};
  return Status(StatusCode::kInternal, fmt::format("atc reported success for {} but wrote no OM", job.onnx.string()));
}

}  // namespace npustream::serving
