#pragma once

#include <filesystem>

#include "base/status.h"

namespace npustream {

// A new file that takes the place of `target` as a whole with Commit(), or not at all. Until then it has no name, so that
// nothing is left behind whatever ends the process (only a file system without O_TMPFILE keeps a file `target`.XXXXXX when
// the process is killed).
class ReplacementFile {
 public:
  // The folder must exist. Errors name the target and the system's reason.
  static Result<ReplacementFile> Create(const std::filesystem::path& target);
  ReplacementFile(ReplacementFile&& other) noexcept;
  ReplacementFile& operator=(ReplacementFile&&) = delete;
  ~ReplacementFile();

  // To be written to; owned by this object.
  int fd() const { return fd_; }
  // Puts the file in the target's place. Once.
  Status Commit();

 private:
  ReplacementFile(std::filesystem::path target, int fd, std::filesystem::path named)
      : target_(std::move(target)), fd_(fd), named_(std::move(named)) {}

  std::filesystem::path target_;
  int fd_ = -1;
  std::filesystem::path named_;  // empty while the file has no name
};

}  // namespace npustream
