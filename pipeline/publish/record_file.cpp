#include "pipeline/publish/record_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace npustream::pipeline {
namespace {

constexpr std::string_view kStandardOutput = "-";

}  // namespace

Result<std::unique_ptr<RecordFile>> RecordFile::Open(const std::string& path, Visibility visibility) {
  if (path == kStandardOutput) return std::unique_ptr<RecordFile>(new RecordFile(path, std::nullopt, stdout));
  const std::filesystem::path target(path);
  std::error_code error;
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), error);
  if (error)
    return Status(StatusCode::kIoError, fmt::format("cannot make the folder of {}: {}", path, error.message()));
  if (std::filesystem::is_directory(target, error)) {
    return Status(StatusCode::kIoError, fmt::format("cannot write {}: it is a folder", path));
  }
  // Devices and pipes cannot be renamed onto.
  const bool special = std::filesystem::exists(target, error) && !std::filesystem::is_regular_file(target, error);
  std::optional<NewFile> replacement;
  if (visibility == Visibility::kOnCommit && !special) {
    auto made = NewFile::Create(target);
    if (!made.ok()) return made.status();
    replacement.emplace(std::move(*made));
  }
  // The stream closes its own copy of the descriptor.
  std::FILE* file =
      replacement ? fdopen(fcntl(replacement->fd(), F_DUPFD_CLOEXEC, 0), "w") : std::fopen(path.c_str(), "we");
  if (file == nullptr)
    return Status(StatusCode::kIoError, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  return std::unique_ptr<RecordFile>(new RecordFile(path, std::move(replacement), file));
}

RecordFile::~RecordFile() {
  MutexLock lock(mutex_);
  if (file_ == nullptr || file_ == stdout) return;
  std::fclose(file_);
}

Status RecordFile::Failure(std::string_view what) const {
  return Status(StatusCode::kIoError, fmt::format("cannot {} {}: {}", what, path_, std::strerror(errno)));
}

Status RecordFile::Write(std::string_view line) {
  MutexLock lock(mutex_);
  if (!status_.ok() || file_ == nullptr) return status_;
  const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size() && std::fputc('\n', file_) != EOF;
  // Whoever follows the file sees whole lines.
  const bool shown = replacement_ || std::fflush(file_) == 0;
  if (!written || !shown) status_ = Failure("write");
  return status_;
}

Status RecordFile::Commit() {
  MutexLock lock(mutex_);
  if (file_ == nullptr) return status_;
  if (file_ == stdout) {
    if (std::fflush(stdout) != 0 && status_.ok()) status_ = Failure("write");
    return status_;
  }
  std::FILE* file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0 && status_.ok()) status_ = Failure("write");
  if (replacement_ && status_.ok()) status_ = replacement_->Commit();
  replacement_.reset();
  return status_;
}

Result<RecordFile*> RecordFiles::For(const std::string& path) {
  if (path.empty()) return static_cast<RecordFile*>(nullptr);
  std::unique_ptr<RecordFile>& file = files_[path];
  if (file == nullptr) {
    NPUSTREAM_ASSIGN_OR_RETURN(file, RecordFile::Open(path, visibility_));
  }
  return file.get();
}

Status RecordFiles::CommitAll() {
  Status first;
  for (auto& [path, file] : files_) {
    if (file == nullptr) continue;
    if (Status status = file->Commit(); first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace npustream::pipeline
