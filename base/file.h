#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

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

// Writes to a temporary file beside `path` and renames it, so that a reader sees the old content or the new, never a
// part; parent folders are made. A symbolic link is followed; a device or pipe is written to as it is.
Status WriteFileAtomically(const std::filesystem::path& path, std::span<const std::byte> content);
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content);

// The folder of the running program (/proc/self/exe), and of the shared library or program that holds `symbol`.
std::filesystem::path ProgramFolder();
std::filesystem::path FolderOfSymbol(const void* symbol);

}  // namespace npustream
