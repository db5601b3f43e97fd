#include "base/file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

// Makes `temporary` (a template for mkostemp) with the content; `path` is what messages name.
Status WriteTemporary(std::string& temporary, const fs::path& path, std::span<const std::byte> content) {
  const FileDescriptor fd(mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0) return SystemError(path, "create");
  NPUSTREAM_RETURN_IF_ERROR(WriteAll(fd.get(), content, path));
  // mkostemp makes private files; the result gets what the process's umask allows, like any other file.
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(fd.get(), 0666 & ~mask) != 0) return SystemError(path, "set the mode of");
  return {};
}

}  // namespace

Result<MappedFile> MappedFile::Open(const fs::path& path) {
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return SystemError(path, "open");
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return SystemError(path, "stat");
  if (!S_ISREG(info.st_mode)) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{}: not a regular file", path.string()));
  }
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
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

Status WriteFileAtomically(const fs::path& path, std::span<const std::byte> content) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  // A link stays a link: what it points to is replaced.
  const fs::path target = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : path;
  // Devices and pipes are written to; renaming onto them would replace them by a file.
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) return WriteInPlace(target, content);
  std::string temporary = target.string() + ".XXXXXX";
  Status written = WriteTemporary(temporary, target, content);
  if (written.ok() && rename(temporary.c_str(), target.c_str()) != 0) written = SystemError(target, "replace");
  if (!written.ok()) unlink(temporary.c_str());
  return written;
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
