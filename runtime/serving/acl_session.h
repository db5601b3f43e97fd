#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/status.h"

namespace npustream::serving {

// The process's use of AscendCL. aclInit may be called once in a process, so whoever needs AscendCL (a runner, an
// element that decodes) holds a session instead of calling it. Thread-safe.
class AclSession {
 public:
  // Calls aclInit the first time; an application that has done so itself is fine. A failure is not remembered: the next
  // call tries again.
  static Result<std::shared_ptr<AclSession>> Acquire();

  // Ends AscendCL, for a program about to leave main. kFailedPrecondition while anybody holds a session. Nothing
  // happens when it never began, or when the application has called aclInit itself. A vendor's runtime cannot be
  // started again afterwards; so nobody calls this on the way, and dropping the last session ends nothing.
  static Status Finalize();

 private:
  AclSession() = default;
};

// Name of the chip as `atc --soc_version` wants it, "Ascend310P3" when the runtime does not say.
std::string SocName();
// AI cores of a device that run side by side; 1 when the runtime does not say.
size_t AiCoreCount(int device_id);

}  // namespace npustream::serving
