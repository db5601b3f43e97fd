#include "dvpp/api/access.h"
#include "dvpp/api/descriptions.h"

using namespace npustream::dvpp;  // NOLINT: the file holds nothing but C functions

// Pictures of a batch: more than any card takes, and few enough to be no mistake.
constexpr uint32_t kMaxBatch = 256;

acldvppPicDesc *acldvppCreatePicDesc() { return CreateHandle<acldvppPicDesc>(); }
aclError acldvppDestroyPicDesc(acldvppPicDesc *handle) { return DestroyHandle(handle, __func__); }

aclError acldvppSetPicDescData(acldvppPicDesc *handle, void* value) {
  return SetField(handle, &acldvppPicDesc::data, value, __func__);
}
aclError acldvppSetPicDescSize(acldvppPicDesc *handle, uint32_t value) {
  return SetField(handle, &acldvppPicDesc::size, value, __func__);
}
aclError acldvppSetPicDescFormat(acldvppPicDesc *handle, acldvppPixelFormat value) {
  return SetField(handle, &acldvppPicDesc::format, value, __func__);
}
aclError acldvppSetPicDescWidth(acldvppPicDesc *handle, uint32_t value) {
  return SetField(handle, &acldvppPicDesc::width, value, __func__);
}
aclError acldvppSetPicDescHeight(acldvppPicDesc *handle, uint32_t value) {
  return SetField(handle, &acldvppPicDesc::height, value, __func__);
}
aclError acldvppSetPicDescWidthStride(acldvppPicDesc *handle, uint32_t value) {
  return SetField(handle, &acldvppPicDesc::width_stride, value, __func__);
}
aclError acldvppSetPicDescHeightStride(acldvppPicDesc *handle, uint32_t value) {
  return SetField(handle, &acldvppPicDesc::height_stride, value, __func__);
}
aclError acldvppSetPicDescRetCode(acldvppPicDesc *handle, uint32_t value) {
  return SetField(handle, &acldvppPicDesc::ret_code, value, __func__);
}

void *acldvppGetPicDescData(const acldvppPicDesc *handle) { return GetField(handle, &acldvppPicDesc::data); }
uint32_t acldvppGetPicDescSize(const acldvppPicDesc *handle) { return GetField(handle, &acldvppPicDesc::size); }
acldvppPixelFormat acldvppGetPicDescFormat(const acldvppPicDesc *handle) {
  return GetField(handle, &acldvppPicDesc::format);
}
uint32_t acldvppGetPicDescWidth(const acldvppPicDesc *handle) { return GetField(handle, &acldvppPicDesc::width); }
uint32_t acldvppGetPicDescHeight(const acldvppPicDesc *handle) { return GetField(handle, &acldvppPicDesc::height); }
uint32_t acldvppGetPicDescWidthStride(const acldvppPicDesc *handle) {
  return GetField(handle, &acldvppPicDesc::width_stride);
}
uint32_t acldvppGetPicDescHeightStride(const acldvppPicDesc *handle) {
  return GetField(handle, &acldvppPicDesc::height_stride);
}
uint32_t acldvppGetPicDescRetCode(const acldvppPicDesc *handle) { return GetField(handle, &acldvppPicDesc::ret_code); }

acldvppBatchPicDesc *acldvppCreateBatchPicDesc(uint32_t batchSize) {
  if (batchSize == 0 || batchSize > kMaxBatch) return nullptr;
  acldvppBatchPicDesc *batch = CreateHandle<acldvppBatchPicDesc>();
  if (batch != nullptr) batch->pictures.resize(batchSize);
  return batch;
}
aclError acldvppDestroyBatchPicDesc(acldvppBatchPicDesc *handle) { return DestroyHandle(handle, __func__); }
acldvppPicDesc *acldvppGetPicDesc(acldvppBatchPicDesc *handle, uint32_t index) {
  return handle == nullptr || index >= handle->pictures.size() ? nullptr : &handle->pictures[index];
}
