#pragma once

#include <cstddef>

#include <acl/acl_base.h>

#include "npu_sim/device/device.h"

namespace npustream::acl {

// Where memory lies, which is what its address says.
enum class Place {
  kDevice,
  kPinned,    // from aclrtMallocHost
  kPageable,  // any other memory of the program
};

struct MemorySpan {
  Place place = Place::kPageable;
  std::byte* host = nullptr;         // where this process finds the bytes
  device::Device* device = nullptr;  // of kDevice
};

enum class Access { kRead, kWrite };

// Looks up [address, address + bytes): it must lie in one live block of a device, or of pinned memory, or be memory
// which the program may access; for the last, both ends are tried and a hole between them is found. `what` names the
// argument in the sentence of ACL_ERROR_RT_PARAM_INVALID.
aclError LookUp(const char* what, const void* address, size_t bytes, Access access, MemorySpan* span);

// Device memory on the same terms; anything else is ACL_ERROR_RT_INVALID_MEMORY_TYPE.
aclError LookUpDevice(const char* what, const void* address, size_t bytes, MemorySpan* span);

}  // namespace npustream::acl
