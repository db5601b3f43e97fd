#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace npustream {

// A file mapped read-only for the lifetime of the object. Empty files map to an empty span.
class MappedFile {
 public:
  static Result<MappedFile> Open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// The whole file as text. Errors name the file and the system's reason.
Result<std::string> ReadTextFile(const std::filesystem::path& path);

// The first `most_bytes` bytes of a file, a pipe or a device, which are read once and in order.
Result<std::string> ReadUpTo(const std::filesystem::path& path, size_t most_bytes);

// A file in the making, which appears under its path whole, with Commit, or never. Until then it has no name
// (O_TMPFILE), so that not even a process that is killed leaves something behind; only where a file system has no
// nameless files it lies beside its path as "PATH.XXXXXX". Parent folders are made. A symbolic link is followed, and
// stays one. A folder or a special file (device, pipe, socket) is refused with kInvalidArgument.
class NewFile {
 public:
  static Result<NewFile> Create(const std::filesystem::path& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&& other) noexcept;
  ~NewFile();

  int fd() const { return fd_; }
  // Opens the unfinished file while this object lives, in this process only: for writers that want a path.
  std::filesystem::path WorkPath() const;
  Status Write(std::span<const std::byte> content);
  // Puts the file in the place of the file at its path. Once.
  Status Commit();

 private:
  NewFile(std::filesystem::path target, int fd, std::string temporary)
      : target_(std::move(target)), fd_(fd), temporary_(std::move(temporary)) {}
  std::filesystem::path target_;
  int fd_ = -1;
  std::string temporary_;  // the name it has already, if any
};

// A NewFile with that content, so that a reader sees the old content or the new, never a part. A device or pipe is
// written to as it is.
Status WriteFileAtomically(const std::filesystem::path& path, std::span<const std::byte> content);
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content);

// The folder of the running program (/proc/self/exe), and of the shared library or program that holds `symbol`.
std::filesystem::path ProgramFolder();
std::filesystem::path FolderOfSymbol(const void* symbol);

}  // namespace npustream
