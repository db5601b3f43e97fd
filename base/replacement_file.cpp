#include "base/replacement_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace npustream {
namespace {

namespace fs = std::filesystem;

Status SystemError(const fs::path& path, std::string_view action) {
  const int error = errno;
  return Status(error == ENOENT ? StatusCode::kNotFound : StatusCode::kIoError,
                fmt::format("{}: cannot {}: {}", path.string(), action, std::strerror(error)));
}

// mkostemp makes private files; the result gets what the process's umask allows, like any other file.
int MakeNamed(std::string& name) {
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  const mode_t mask = umask(0);
  umask(mask);
  if (fd >= 0) (void)fchmod(fd, 0666 & ~mask);
  return fd;
}

fs::path NameBeside(const fs::path& target) {
  static std::atomic<unsigned> count = 0;
  return fmt::format("{}.{}.{}", target.string(), getpid(), count++);
}

bool LinkTo(int fd, const fs::path& name) {
  const std::string open_file = fmt::format("/proc/self/fd/{}", fd);
  return linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

}  // namespace

Result<ReplacementFile> ReplacementFile::Create(const fs::path& target) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const int unnamed = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (unnamed >= 0) return ReplacementFile(target, unnamed, {});
  std::string name = target.string() + ".XXXXXX";
  const int named = MakeNamed(name);
  if (named < 0) return SystemError(target, "create");
  return ReplacementFile(target, named, name);
}

ReplacementFile::ReplacementFile(ReplacementFile&& other) noexcept
    : target_(std::move(other.target_)), fd_(std::exchange(other.fd_, -1)), named_(std::exchange(other.named_, {})) {}

ReplacementFile::~ReplacementFile() {
  if (fd_ >= 0) close(fd_);
  if (!named_.empty()) unlink(named_.c_str());
}

Status ReplacementFile::Commit() {
  if (named_.empty()) {
    if (LinkTo(fd_, target_)) return {};
    // A link never replaces a file, a rename does.
    const fs::path beside = NameBeside(target_);
    if (!LinkTo(fd_, beside)) return SystemError(target_, "create");
    named_ = beside;
  }
  if (rename(named_.c_str(), target_.c_str()) != 0) return SystemError(target_, "replace");
  named_.clear();
  return {};
}

}  // namespace npustream
