#include "runtime/acl/data_buffer.h"

#include "runtime/acl/error.h"

namespace npustream::acl {

HandleTable<DataBuffer>& DataBuffers() {
  static auto* table = new HandleTable<DataBuffer>(HandleKind::kDataBuffer);  // NOLINT: may be used until the very end
  return *table;
}

namespace {

// The buffer behind a handle, or null after the failure was remembered.
std::shared_ptr<DataBuffer> Find(const aclDataBuffer* handle) {
  auto buffer = DataBuffers().Find(handle);
  if (buffer == nullptr) {
    Fail(ACL_ERROR_INVALID_PARAM, "{} is not a data buffer, or was destroyed", static_cast<const void*>(handle));
  }
  return buffer;
}

}  // namespace
}  // namespace npustream::acl

using npustream::acl::DataBuffer;
using npustream::acl::DataBuffers;
using npustream::acl::Find;

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  return static_cast<aclDataBuffer*>(DataBuffers().Add(std::make_shared<DataBuffer>(DataBuffer{data, size})));
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  if (Find(dataBuffer) == nullptr) return ACL_ERROR_INVALID_PARAM;
  DataBuffers().Remove(dataBuffer);
  return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  const auto buffer = Find(dataBuffer);
  if (buffer == nullptr) return ACL_ERROR_INVALID_PARAM;
  *buffer = {data, size};
  return ACL_SUCCESS;
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  const auto buffer = Find(dataBuffer);
  return buffer == nullptr ? nullptr : buffer->data;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  const auto buffer = Find(dataBuffer);
  return buffer == nullptr ? 0 : buffer->size;
}
