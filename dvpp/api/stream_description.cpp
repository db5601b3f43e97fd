#include "dvpp/api/access.h"
#include "dvpp/api/descriptions.h"

using namespace npustream::dvpp;  // NOLINT: the file holds nothing but C functions

acldvppStreamDesc *acldvppCreateStreamDesc() { return CreateHandle<acldvppStreamDesc>(); }
aclError acldvppDestroyStreamDesc(acldvppStreamDesc *handle) { return DestroyHandle(handle, __func__); }

aclError acldvppSetStreamDescData(acldvppStreamDesc *handle, void* value) {
  return SetField(handle, &acldvppStreamDesc::data, value, __func__);
}
aclError acldvppSetStreamDescSize(acldvppStreamDesc *handle, uint32_t value) {
  return SetField(handle, &acldvppStreamDesc::size, value, __func__);
}
aclError acldvppSetStreamDescFormat(acldvppStreamDesc *handle, acldvppStreamFormat value) {
  return SetField(handle, &acldvppStreamDesc::format, value, __func__);
}
aclError acldvppSetStreamDescTimestamp(acldvppStreamDesc *handle, uint64_t value) {
  return SetField(handle, &acldvppStreamDesc::timestamp, value, __func__);
}
aclError acldvppSetStreamDescRetCode(acldvppStreamDesc *handle, uint32_t value) {
  return SetField(handle, &acldvppStreamDesc::ret_code, value, __func__);
}
aclError acldvppSetStreamDescEos(acldvppStreamDesc *handle, uint8_t value) {
  return SetField(handle, &acldvppStreamDesc::eos, value, __func__);
}

void *acldvppGetStreamDescData(const acldvppStreamDesc *handle) { return GetField(handle, &acldvppStreamDesc::data); }
uint32_t acldvppGetStreamDescSize(const acldvppStreamDesc *handle) {
  return GetField(handle, &acldvppStreamDesc::size);
}
acldvppStreamFormat acldvppGetStreamDescFormat(const acldvppStreamDesc *handle) {
  return GetField(handle, &acldvppStreamDesc::format);
}
uint64_t acldvppGetStreamDescTimestamp(const acldvppStreamDesc *handle) {
  return GetField(handle, &acldvppStreamDesc::timestamp);
}
uint32_t acldvppGetStreamDescRetCode(const acldvppStreamDesc *handle) {
  return GetField(handle, &acldvppStreamDesc::ret_code);
}
uint8_t acldvppGetStreamDescEos(const acldvppStreamDesc *handle) { return GetField(handle, &acldvppStreamDesc::eos); }

aclvdecFrameConfig *aclvdecCreateFrameConfig() { return CreateHandle<aclvdecFrameConfig>(); }
aclError aclvdecDestroyFrameConfig(aclvdecFrameConfig *handle) { return DestroyHandle(handle, __func__); }
