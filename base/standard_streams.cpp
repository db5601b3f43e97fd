#include "base/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace npustream {

void ClaimStandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // The lowest free descriptor is this one. Read-only, so that writing to it fails as it would have.
    if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDONLY) != fd) return;
  }
}

bool FlushStandardOutput() {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failed_before) return true;
  Print(stderr, "standard output cannot be written: {}\n",
        std::strerror(errno != 0 ? errno : EIO));
  return false;
}

}  // namespace npustream
