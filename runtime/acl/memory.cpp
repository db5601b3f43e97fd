#include "runtime/acl/memory.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>

#include <acl/acl_rt.h>

#include "runtime/acl/context.h"
#include "runtime/acl/error.h"

namespace npustream::acl {
namespace {

constexpr size_t kMallocRounding = 32;
constexpr size_t kMallocExtra = 32;

device::Memory* PinnedMemory() {
  const auto pinned = device::Device::PinnedHostMemory();
  return pinned.ok() ? *pinned : nullptr;
}

// No hole between the ends: the kernel is asked to do nothing with the range, which it refuses for one that is not
// mapped.
bool IsMapped(const void* address, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address) / page * page;
  const size_t extent = reinterpret_cast<uintptr_t>(address) + bytes - begin;
  return msync(reinterpret_cast<void*>(begin), extent, MS_ASYNC) == 0 || errno != ENOMEM;
}

// Asks the kernel instead of the memory itself, which may not be there. Where the kernel does not answer (an old
// container's filter) the program is believed.
bool MayAccess(const void* address, size_t bytes, Access access) {
  if (!IsMapped(address, bytes)) return false;
  std::array<std::byte, 2> values{};
  iovec local{values.data(), values.size()};
  auto* begin = static_cast<std::byte*>(const_cast<void*>(address));
  std::array<iovec, 2> remote{iovec{begin, 1}, iovec{begin + bytes - 1, 1}};
  const auto failed = [](ssize_t moved) { return (moved < 0 && errno == EFAULT) || (moved >= 0 && moved != 2); };
  const pid_t self = getpid();
  if (failed(process_vm_readv(self, &local, 1, remote.data(), remote.size(), 0))) return false;
  // The same bytes are written back: whether it is possible is all that counts.
  return access == Access::kRead || !failed(process_vm_writev(self, &local, 1, remote.data(), remote.size(), 0));
}

aclError ToPolicy(aclrtMemMallocPolicy policy, device::PagePolicy* pages) {
  constexpr uint32_t kKindOfMemory =
      ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_ACCESS_USER_SPACE_READONLY;
  switch (static_cast<uint32_t>(policy) & ~kKindOfMemory) {
    case ACL_MEM_MALLOC_HUGE_FIRST:
    case ACL_MEM_MALLOC_HUGE_FIRST_P2P: *pages = device::PagePolicy::kHugeFirst; return ACL_SUCCESS;
    case ACL_MEM_MALLOC_HUGE_ONLY:
    case ACL_MEM_MALLOC_HUGE_ONLY_P2P: *pages = device::PagePolicy::kHugeOnly; return ACL_SUCCESS;
    case ACL_MEM_MALLOC_NORMAL_ONLY:
    case ACL_MEM_MALLOC_NORMAL_ONLY_P2P: *pages = device::PagePolicy::kNormalOnly; return ACL_SUCCESS;
    case ACL_MEM_MALLOC_HUGE1G_ONLY:
    case ACL_MEM_MALLOC_HUGE1G_ONLY_P2P:
      return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "{} has no pages of 1 GiB", aclrtGetSocName());
    default: return Fail(ACL_ERROR_INVALID_PARAM, "{} is no policy for memory", static_cast<int>(policy));
  }
}

aclError Allocate(void** address, size_t size, size_t extra, aclrtMemMallocPolicy policy) {
  if (address == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the address was given");
  if (size == 0) return Fail(ACL_ERROR_INVALID_PARAM, "0 bytes of device memory were asked for");
  if (size > std::numeric_limits<size_t>::max() / 2) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "{} bytes of device memory were asked for", size);
  }
  device::PagePolicy pages{};
  if (const aclError error = ToPolicy(policy, &pages); error != ACL_SUCCESS) return error;
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  const size_t rounded = (size + kMallocRounding - 1) / kMallocRounding * kMallocRounding + extra;
  const auto block = context->device().memory().Allocate(rounded, pages);
  if (!block.ok()) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "device {}: {}", context->device_id(), block.status().message());
  }
  *address = *block;
  return ACL_SUCCESS;
}

}  // namespace

aclError LookUp(const char* what, const void* address, size_t bytes, Access access, MemorySpan* span) {
  if (address == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "{} is null", what);
  device::Device* device = device::Device::Owning(address);
  device::Memory* pinned = PinnedMemory();
  device::Memory* memory = device != nullptr                                ? &device->memory()
                           : pinned != nullptr && pinned->Contains(address) ? pinned
                                                                            : nullptr;
  if (memory != nullptr) {
    const auto host = memory->Translate(address, bytes);
    if (!host.ok()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "{}: {}", what, host.status().message());
    *span = {device != nullptr ? Place::kDevice : Place::kPinned, *host, device};
    return ACL_SUCCESS;
  }
  if (bytes > 0 && !MayAccess(address, bytes, access)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "{}: {} bytes at {} are not memory that this process may {}", what, bytes,
                address, access == Access::kRead ? "read" : "write");
  }
  *span = {Place::kPageable, static_cast<std::byte*>(const_cast<void*>(address)), nullptr};
  return ACL_SUCCESS;
}

aclError LookUpDevice(const char* what, const void* address, size_t bytes, MemorySpan* span) {
  if (address == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "{} is null", what);
  device::Device* device = device::Device::Owning(address);
  if (device == nullptr) {
    return Fail(ACL_ERROR_RT_INVALID_MEMORY_TYPE, "{}: {} is no device memory", what, address);
  }
  const auto host = device->memory().Translate(address, bytes);
  if (!host.ok()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "{}: {}", what, host.status().message());
  *span = {Place::kDevice, *host, device};
  return ACL_SUCCESS;
}

}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face
namespace device = npustream::device;

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return Allocate(devPtr, size, kMallocExtra, policy);
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return Allocate(devPtr, size, 0, policy);
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return Allocate(devPtr, size, kMallocExtra, policy);
}

aclError aclrtFree(void* devPtr) {
  if (devPtr == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtFree was given no address");
  if (CurrentContext() == nullptr) return NoContext();
  device::Device* owner = device::Device::Owning(devPtr);
  if (owner == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree: {} is no device memory", devPtr);
  const auto status = owner->memory().Free(devPtr);
  return status.ok() ? ACL_SUCCESS : Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree: {}", status.message());
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  if (hostPtr == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtMallocHost was given no place for the address");
  if (size == 0) return Fail(ACL_ERROR_INVALID_PARAM, "0 bytes of host memory were asked for");
  if (CurrentContext() == nullptr) return NoContext();
  const auto pinned = device::Device::PinnedHostMemory();
  if (!pinned.ok()) return Fail(pinned.status(), Area::kRuntime);
  const auto block = (*pinned)->Allocate(size, device::PagePolicy::kHugeFirst);
  if (!block.ok()) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "host memory: {}", block.status().message());
  *hostPtr = *block;
  return ACL_SUCCESS;
}

aclError aclrtFreeHost(void* hostPtr) {
  if (hostPtr == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "aclrtFreeHost was given no address");
  if (CurrentContext() == nullptr) return NoContext();
  device::Memory* pinned = PinnedMemory();
  if (pinned == nullptr)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFreeHost: {} is not from aclrtMallocHost", hostPtr);
  const auto status = pinned->Free(hostPtr);
  return status.ok() ? ACL_SUCCESS : Fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFreeHost: {}", status.message());
}

// Device memory is coherent with this process, so that there is nothing to flush; the arguments are checked as if.
aclError aclrtMemFlush(void* devPtr, size_t size) {
  if (CurrentContext() == nullptr) return NoContext();
  MemorySpan span;
  return LookUpDevice("aclrtMemFlush", devPtr, size, &span);
}

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
  if (CurrentContext() == nullptr) return NoContext();
  MemorySpan span;
  return LookUpDevice("aclrtMemInvalidate", devPtr, size, &span);
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  if (free == nullptr || total == nullptr)
    return Fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo needs places for both sizes");
  if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{} is no kind of memory", static_cast<int>(attr));
  }
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  const device::MemoryInfo info = context->device().memory().Info();
  *free = info.free_bytes;
  *total = info.total_bytes;
  return ACL_SUCCESS;
}
