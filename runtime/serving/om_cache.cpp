#include "runtime/serving/om_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/file.h"
#include "base/sha256.h"
#include "runtime/serving/model_folders.h"

namespace npustream::serving {
namespace {

namespace fs = std::filesystem;

// flock on a file of its own, which stays: removing it would let two holders exist. The system lets go of the lock when
// its process dies.
class FileLock {
 public:
  static Result<FileLock> Take(const fs::path& path) {
    FileLock lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    int outcome = lock.fd_ < 0 ? -1 : 0;
    while (outcome == 0 && (outcome = flock(lock.fd_, LOCK_EX)) != 0 && errno == EINTR) outcome = 0;
    if (outcome == 0) return lock;
    return Status(StatusCode::kIoError,
                  fmt::format("{}: cannot be locked: {}; NPUSTREAM_CACHE may name a folder that can be written",
                              path.string(), std::strerror(errno)));
  }
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~FileLock() {
    if (fd_ >= 0) close(fd_);
  }

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

// Exists while something is being made in it.
class ScratchFolder {
 public:
  explicit ScratchFolder(fs::path path) : path_(std::move(path)) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);  // what a process that died has left
    fs::create_directories(path_, ignored);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  const fs::path path_;
};

std::string FileNameOf(std::string stem) {
  const auto odd = [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_' && c != '.'; };
  std::replace_if(stem.begin(), stem.end(), odd, '_');
  return stem.substr(0, 64);
}

fs::path SealOf(const OmCacheEntry& entry) { return fs::path(entry.om).replace_extension(".sha256"); }

// What the entry's files hold, in short; nothing when one of them cannot be read.
std::string Digest(const fs::path& om, const fs::path& interface_json) {
  const auto model = MappedFile::Open(om), interface = MappedFile::Open(interface_json);
  if (!model.ok() || !interface.ok()) return {};
  return fmt::format("{} {}\n", Sha256Hex(model->bytes()), Sha256Hex(interface->bytes()));
}

// Whether the entry is there as it was made: a disk that was full or a hand that meddled must not spoil later runs.
bool IsIntact(const OmCacheEntry& entry) {
  const auto seal = ReadTextFile(SealOf(entry));
  return seal.ok() && !seal->empty() && *seal == Digest(entry.om, entry.interface_json);
}

Status Publish(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::is_directory(to, error)) fs::remove_all(to, error);
  fs::rename(from, to, error);
  if (!error) return {};
  return Status(StatusCode::kIoError, fmt::format("{}: cannot be written: {}", to.string(), error.message()));
}

}  // namespace

Result<OmCacheEntry> GetOrMakeOm(const std::string& stem, const std::string& key,
                                 const std::function<Status(const fs::path& scratch)>& make) {
  const fs::path folder = CacheFolder() / "om";
  const std::string name = fmt::format("{}-{}", FileNameOf(stem), key.substr(0, 32));
  const OmCacheEntry entry{folder / (name + ".om"), folder / (name + ".json")};
  if (IsIntact(entry)) return entry;

  std::error_code ignored;  // the lock tells what is wrong with the folder
  fs::create_directories(folder, ignored);
  NPUSTREAM_ASSIGN_OR_RETURN(const FileLock lock, FileLock::Take(folder / (name + ".lock")));
  if (IsIntact(entry)) return entry;

  const ScratchFolder scratch(folder / (name + ".tmp"));
  NPUSTREAM_RETURN_IF_ERROR(make(scratch.path()));
  // The seal last: an entry counts from then on.
  const std::string seal = Digest(scratch.path() / "model.om", scratch.path() / "interface.json");
  NPUSTREAM_RETURN_IF_ERROR(Publish(scratch.path() / "interface.json", entry.interface_json));
  NPUSTREAM_RETURN_IF_ERROR(Publish(scratch.path() / "model.om", entry.om));
  NPUSTREAM_RETURN_IF_ERROR(WriteFileAtomically(SealOf(entry), seal));
  return entry;
}

}  // namespace npustream::serving
