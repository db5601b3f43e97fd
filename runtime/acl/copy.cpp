#include <algorithm>
#include <cstring>
#include <latch>
#include <memory>

#include <acl/acl_rt.h>

#include "runtime/acl/context.h"
#include "runtime/acl/error.h"
#include "runtime/acl/memory.h"

namespace npustream::acl {
namespace {

// A copy whose addresses have been looked up: `height` rows of `width` bytes.
struct Copy {
  MemorySpan from;
  MemorySpan to;
  size_t from_pitch = 0;
  size_t to_pitch = 0;
  size_t width = 0;
  size_t height = 1;

  void Run() const {
    for (size_t row = 0; row < height; ++row) {
      std::memmove(to.host + row * to_pitch, from.host + row * from_pitch, width);
    }
    Count();
  }

  void Count() const {
    const uint64_t bytes = uint64_t{width} * height;
    if (to.place == Place::kDevice) {
      to.device->CountCopy(
          from.place == Place::kDevice ? device::CopyDirection::kDeviceToDevice : device::CopyDirection::kHostToDevice,
          bytes);
    } else if (from.place == Place::kDevice) {
      from.device->CountCopy(device::CopyDirection::kDeviceToHost, bytes);
    }
  }

  bool touches_pageable() const { return from.place == Place::kPageable || to.place == Place::kPageable; }
  bool within_host() const { return from.place != Place::kDevice && to.place != Place::kDevice; }
};

aclError CheckKind(aclrtMemcpyKind kind) {
  if (kind >= ACL_MEMCPY_HOST_TO_HOST && kind <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) return ACL_SUCCESS;
  return Fail(ACL_ERROR_INVALID_PARAM, "{} is no kind of copy", static_cast<int>(kind));
}

bool FromDevice(aclrtMemcpyKind kind) {
  return kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE ||
         kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE || kind == ACL_MEMCPY_INTER_DEVICE_TO_DEVICE;
}

bool ToDevice(aclrtMemcpyKind kind) { return kind != ACL_MEMCPY_HOST_TO_HOST && kind != ACL_MEMCPY_DEVICE_TO_HOST; }

// One end of a copy lies where its kind says.
aclError CheckEnd(const char* what, const void* address, const MemorySpan& span, bool on_device) {
  if ((span.place == Place::kDevice) == on_device) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "{} at {} is {} memory, which is not what the kind of the copy says", what,
              address, on_device ? "host" : "device");
}

// ACL_MEMCPY_DEFAULT leaves it to the pointers. Where host and device share their memory, programs copy host memory as
// device to device.
aclError CheckEnds(const void* dst, const void* src, aclrtMemcpyKind kind, const Copy& copy) {
  if (kind == ACL_MEMCPY_DEFAULT || device::Device::SharesHostMemory()) return ACL_SUCCESS;
  const aclError error = CheckEnd("the destination", dst, copy.to, ToDevice(kind));
  return error != ACL_SUCCESS ? error : CheckEnd("the source", src, copy.from, FromDevice(kind));
}

// Bytes from the first to the last of a picture.
size_t Extent(size_t pitch, size_t width, size_t height) { return pitch * (height - 1) + width; }

// Fills in the addresses of `copy`, whose sizes are set.
aclError LookUpBoth(const void* dst, const void* src, aclrtMemcpyKind kind, Copy* copy) {
  const size_t to_bytes = Extent(copy->to_pitch, copy->width, copy->height);
  const size_t from_bytes = Extent(copy->from_pitch, copy->width, copy->height);
  if (const aclError error = LookUp("the destination", dst, to_bytes, Access::kWrite, &copy->to);
      error != ACL_SUCCESS) {
    return error;
  }
  if (const aclError error = LookUp("the source", src, from_bytes, Access::kRead, &copy->from); error != ACL_SUCCESS) {
    return error;
  }
  return CheckEnds(dst, src, kind, *copy);
}

aclError PrepareFlat(void* dst, size_t dest_max, const void* src, size_t count, aclrtMemcpyKind kind, Copy* copy) {
  if (const aclError error = CheckKind(kind); error != ACL_SUCCESS) return error;
  if (CurrentContext() == nullptr) return NoContext();
  if (count == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "a copy of 0 bytes was asked for");
  if (count > dest_max) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "{} bytes do not fit into a destination of {}", count, dest_max);
  }
  copy->width = copy->from_pitch = copy->to_pitch = count;
  return LookUpBoth(dst, src, kind, copy);
}

aclError PrepareRows(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                     aclrtMemcpyKind kind, Copy* copy) {
  if (const aclError error = CheckKind(kind); error != ACL_SUCCESS) return error;
  if (CurrentContext() == nullptr) return NoContext();
  if (width == 0 || height == 0)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "a copy of {}x{} bytes was asked for", width, height);
  if (width > dpitch || width > spitch) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "rows of {} bytes do not fit into pitches of {} and {}", width, dpitch,
                spitch);
  }
  size_t extent = 0;
  if (__builtin_mul_overflow(std::max(dpitch, spitch), height, &extent)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "{} rows of {} bytes are more than there can be", height,
                std::max(dpitch, spitch));
  }
  *copy = Copy{{}, {}, spitch, dpitch, width, height};
  return LookUpBoth(dst, src, kind, copy);
}

// Runs `work` in the order of the stream. `wait`: returns when it has run.
template <typename Work>
aclError OnStream(aclrtStream handle, bool wait, Work work) {
  std::shared_ptr<StreamObject> stream;
  if (const aclError error = FindStream(handle, &stream); error != ACL_SUCCESS) return error;
  if (!wait) {
    const Status status = stream->stream->Submit(device::Engine::kDma, [work] {
      work();
      return Status();
    });
    return status.ok() ? ACL_SUCCESS : Fail(status, Area::kRuntime);
  }
  const auto done = std::make_shared<std::latch>(1);  // shared: the worker still holds it when this thread goes on
  const Status status = stream->stream->Submit(device::Engine::kDma, [work, done] {
    work();
    done->count_down();
    return Status();
  });
  if (!status.ok()) return Fail(status, Area::kRuntime);
  done->wait();
  return ACL_SUCCESS;
}

aclError CopyOnStream(const Copy& copy, aclrtStream stream) {
  if (copy.within_host()) {
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "an asynchronous copy from host to host is not supported");
  }
  return OnStream(stream, copy.touches_pageable(), [copy] { copy.Run(); });
}

aclError PrepareFill(void* address, size_t max_count, size_t count, MemorySpan* span) {
  if (CurrentContext() == nullptr) return NoContext();
  if (count == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "0 bytes are to be set");
  if (count > max_count)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "{} bytes are to be set in memory of {}", count, max_count);
  return LookUp("the memory to be set", address, count, Access::kWrite, span);
}

}  // namespace
}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  Copy copy;
  if (const aclError error = PrepareFlat(dst, destMax, src, count, kind, &copy); error != ACL_SUCCESS) return error;
  copy.Run();
  return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  Copy copy;
  if (const aclError error = PrepareFlat(dst, destMax, src, count, kind, &copy); error != ACL_SUCCESS) return error;
  return CopyOnStream(copy, stream);
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
  Copy copy;
  const aclError error = PrepareRows(dst, dpitch, src, spitch, width, height, kind, &copy);
  if (error != ACL_SUCCESS) return error;
  copy.Run();
  return ACL_SUCCESS;
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream) {
  Copy copy;
  const aclError error = PrepareRows(dst, dpitch, src, spitch, width, height, kind, &copy);
  if (error != ACL_SUCCESS) return error;
  return CopyOnStream(copy, stream);
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  MemorySpan span;
  if (const aclError error = PrepareFill(devPtr, maxCount, count, &span); error != ACL_SUCCESS) return error;
  std::memset(span.host, value, count);
  return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  MemorySpan span;
  if (const aclError error = PrepareFill(devPtr, maxCount, count, &span); error != ACL_SUCCESS) return error;
  return OnStream(stream, span.place == Place::kPageable,
                  [host = span.host, value, count] { std::memset(host, value, count); });
}
