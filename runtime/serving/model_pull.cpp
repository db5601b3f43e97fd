#include "runtime/serving/model_pull.h"

#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

#include "base/file.h"
#include "base/sha256.h"
#include "runtime/serving/http_fetch.h"
#include "runtime/serving/model_catalog.h"
#include "runtime/serving/model_folders.h"

namespace npustream::serving {
namespace {

namespace fs = std::filesystem;

bool IsUrl(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

bool HasSha256(const fs::path& path, const std::string& sha256) {
  const auto file = MappedFile::Open(path);
  return file.ok() && Sha256Hex(file->bytes()) == sha256;
}

// The project's own folder is left alone: it belongs to the source tree or to root.
fs::path FolderToWrite() {
  const fs::path project = ProjectModelFolder();
  for (const fs::path& folder : ModelFolders()) {
    std::error_code ignored;
    if (!fs::equivalent(folder, project, ignored) && access(folder.c_str(), W_OK) == 0) return folder;
  }
  return UserModelFolder();
}

// Where the file comes from: a path or a URL.
std::string SourceOf(const ModelDescription& description) {
  const char* mirror = std::getenv("NPUSTREAM_MODEL_MIRROR");
  if (mirror == nullptr || *mirror == '\0') return description.source_url;
  const std::string file_name = description.file.filename().string();
  if (!IsUrl(mirror)) return (fs::path(mirror) / file_name).string();
  std::string base = mirror;
  while (base.ends_with('/')) base.pop_back();
  return base + "/" + file_name;
}

Result<std::string> Fetch(const std::string& source, const PullOptions& options) {
  if (IsUrl(source)) return FetchUrl(source, options.progress);
  Result<std::string> content = ReadTextFile(source);
  if (content.ok() && options.progress) options.progress(content->size(), content->size());
  return content;
}

}  // namespace

Result<PulledModel> PullModel(const std::string& name, const PullOptions& options) {
  NPUSTREAM_ASSIGN_OR_RETURN(const fs::path yaml, FindDescription(name));
  NPUSTREAM_ASSIGN_OR_RETURN(const ModelDescription description, LoadModelDescription(yaml));
  if (description.sha256.empty()) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: without sha256 a file cannot be pulled", yaml.string()));
  }
  if (const auto there = LocateModelFile(description); there.ok() && HasSha256(*there, description.sha256)) {
    return PulledModel{*there, true};
  }
  const std::string source = SourceOf(description);
  if (source.empty()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: says no source-url, and NPUSTREAM_MODEL_MIRROR is not set", yaml.string()));
  }
  auto content = Fetch(source, options);
  if (!content.ok()) return content.status().WithContext(fmt::format("pulling {}", name));
  const std::string sha256 = Sha256Hex(std::as_bytes(std::span(*content)));
  if (sha256 != description.sha256) {
    return Status(StatusCode::kCorruptData,
                  fmt::format("pulling {}: {} has sha256 {} ({} bytes) instead of {}; nothing was written", name,
                              source, sha256, content->size(), description.sha256));
  }
  const fs::path target = FolderToWrite() / description.file.filename();
  NPUSTREAM_RETURN_IF_ERROR(WriteFileAtomically(target, std::string_view(*content)));
  return PulledModel{target, false};
}

}  // namespace npustream::serving
