#include "base/file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace npustream {
namespace {

namespace fs = std::filesystem;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Status SystemError(const fs::path& path, std::string_view action) {
  const int error = errno;
  const StatusCode code = error == ENOENT ? StatusCode::kNotFound : StatusCode::kIoError;
  return Status(code, fmt::format("{}: cannot {}: {}", path.string(), action, std::strerror(error)));
}

Status WriteAll(int fd, std::span<const std::byte> content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError(path, "write");
    content = content.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status WriteInPlace(const fs::path& path, std::span<const std::byte> content) {
  const FileDescriptor fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) return SystemError(path, "open");
  return WriteAll(fd.get(), content, path);
}

// mkostemp makes private files; the result gets what the process's umask allows, like any other file.
bool AllowWhatUmaskAllows(int fd) {
  const mode_t mask = umask(0);
  umask(mask);
  return fchmod(fd, 0666 & ~mask) == 0;
}

// A name beside `target` that nothing has. Names are tried until one is free, as mkostemp does for files.
Result<std::string> LinkUnderFreeName(const std::string& source, const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  while (true) {
    std::string name = fmt::format("{}.{}-{}", target.string(), getpid(), counter++);
    if (linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
    if (errno != EEXIST) return SystemError(target, "create");
  }
}

}  // namespace

Result<MappedFile> MappedFile::Open(const fs::path& path) {
  // Nobody waits for the other end of a pipe, which is refused below.
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0) return SystemError(path, "open");
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return SystemError(path, "stat");
  if (!S_ISREG(info.st_mode)) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{}: not a regular file", path.string()));
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  // Whoever maps a file reads all of it: its pages come at once instead of one fault after another.
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd.get(), 0);
  if (data == MAP_FAILED) return SystemError(path, "map");
  return MappedFile(static_cast<const std::byte*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

Result<std::string> ReadTextFile(const fs::path& path) {
  NPUSTREAM_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
}

Result<std::string> ReadUpTo(const fs::path& path, size_t most_bytes) {
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return SystemError(path, "open");
  constexpr size_t kStep = 64 * 1024;
  std::string text;
  while (text.size() < most_bytes) {
    const size_t before = text.size(), step = std::min(kStep, most_bytes - before);
    text.resize(before + step);
    const ssize_t count = read(fd.get(), text.data() + before, step);
    if (count < 0 && errno != EINTR) return SystemError(path, "read");
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) break;
  }
  return text;
}

Result<NewFile> NewFile::Create(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : path;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  fs::create_directories(folder, error);
  if (fs::is_directory(target, error)) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{}: is a folder, not a file", target.string()));
  }
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}: is a device, pipe or socket, which a file cannot replace", target.string()));
  }
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (fd >= 0) return NewFile(target, fd, "");
  std::string temporary = target.string() + ".XXXXXX";
  NewFile named(target, mkostemp(temporary.data(), O_CLOEXEC), "");
  if (named.fd_ < 0) return SystemError(target, "create");
  named.temporary_ = std::move(temporary);
  if (!AllowWhatUmaskAllows(named.fd_)) return SystemError(target, "set the mode of");
  return named;
}

NewFile::NewFile(NewFile&& other) noexcept
    : target_(std::move(other.target_)),
      fd_(std::exchange(other.fd_, -1)),
      temporary_(std::exchange(other.temporary_, {})) {}

NewFile& NewFile::operator=(NewFile&& other) noexcept {
  std::swap(target_, other.target_);
  std::swap(fd_, other.fd_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

NewFile::~NewFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
  if (fd_ >= 0) close(fd_);
}

fs::path NewFile::WorkPath() const { return fmt::format("/proc/self/fd/{}", fd_); }

Status NewFile::Write(std::span<const std::byte> content) { return WriteAll(fd_, content, target_); }

Status NewFile::Commit() {
  if (temporary_.empty()) {
    const std::string source = WorkPath().string();
    if (linkat(AT_FDCWD, source.c_str(), AT_FDCWD, target_.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
    if (errno != EEXIST) return SystemError(target_, "create");
    // A link never replaces a file, a renaming does.
    NPUSTREAM_ASSIGN_OR_RETURN(temporary_, LinkUnderFreeName(source, target_));
  }
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return SystemError(target_, "replace");
  temporary_.clear();
  return {};
}

Status WriteFileAtomically(const fs::path& path, std::span<const std::byte> content) {
  // Devices and pipes are written to; a new file would take their place.
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    return WriteInPlace(path, content);
  }
  NPUSTREAM_ASSIGN_OR_RETURN(NewFile file, NewFile::Create(path));
  NPUSTREAM_RETURN_IF_ERROR(file.Write(content));
  return file.Commit();
}

Status WriteFileAtomically(const fs::path& path, std::string_view content) {
  return WriteFileAtomically(path, std::as_bytes(std::span(content)));
}

fs::path ProgramFolder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

fs::path FolderOfSymbol(const void* symbol) {
  Dl_info info{};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return ProgramFolder();
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? ProgramFolder() : file.parent_path();
}

}  // namespace npustream
