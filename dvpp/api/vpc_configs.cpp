#include <numeric>

#include "dvpp/api/access.h"
#include "dvpp/api/descriptions.h"

using namespace npustream::dvpp;  // NOLINT: the file holds nothing but C functions

acldvppRoiConfig *acldvppCreateRoiConfig(uint32_t left, uint32_t right, uint32_t top, uint32_t bottom) {
  acldvppRoiConfig *config = CreateHandle<acldvppRoiConfig>();
  if (config != nullptr) *config = {left, right, top, bottom};
  return config;
}
aclError acldvppDestroyRoiConfig(acldvppRoiConfig *handle) { return DestroyHandle(handle, __func__); }
aclError acldvppSetRoiConfig(acldvppRoiConfig *handle, uint32_t left, uint32_t right, uint32_t top, uint32_t bottom) {
  if (handle == nullptr) return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the description is null", __func__);
  *handle = {left, right, top, bottom};
  return ACL_SUCCESS;
}
aclError acldvppSetRoiConfigLeft(acldvppRoiConfig *handle, uint32_t value) {
  return SetField(handle, &acldvppRoiConfig::left, value, __func__);
}
aclError acldvppSetRoiConfigRight(acldvppRoiConfig *handle, uint32_t value) {
  return SetField(handle, &acldvppRoiConfig::right, value, __func__);
}
aclError acldvppSetRoiConfigTop(acldvppRoiConfig *handle, uint32_t value) {
  return SetField(handle, &acldvppRoiConfig::top, value, __func__);
}
aclError acldvppSetRoiConfigBottom(acldvppRoiConfig *handle, uint32_t value) {
  return SetField(handle, &acldvppRoiConfig::bottom, value, __func__);
}

acldvppResizeConfig *acldvppCreateResizeConfig() { return CreateHandle<acldvppResizeConfig>(); }
aclError acldvppDestroyResizeConfig(acldvppResizeConfig *handle) { return DestroyHandle(handle, __func__); }
aclError acldvppSetResizeConfigInterpolation(acldvppResizeConfig *handle, uint32_t value) {
  return SetField(handle, &acldvppResizeConfig::interpolation, value, __func__);
}
uint32_t acldvppGetResizeConfigInterpolation(const acldvppResizeConfig *handle) {
  return GetField(handle, &acldvppResizeConfig::interpolation);
}

acldvppBorderConfig *acldvppCreateBorderConfig() { return CreateHandle<acldvppBorderConfig>(); }
aclError acldvppDestroyBorderConfig(acldvppBorderConfig *handle) { return DestroyHandle(handle, __func__); }
aclError acldvppSetBorderConfigBorderType(acldvppBorderConfig *handle, acldvppBorderType value) {
  return SetField(handle, &acldvppBorderConfig::type, value, __func__);
}
aclError acldvppSetBorderConfigTop(acldvppBorderConfig *handle, uint32_t value) {
  return SetField(handle, &acldvppBorderConfig::top, value, __func__);
}
aclError acldvppSetBorderConfigBottom(acldvppBorderConfig *handle, uint32_t value) {
  return SetField(handle, &acldvppBorderConfig::bottom, value, __func__);
}
aclError acldvppSetBorderConfigLeft(acldvppBorderConfig *handle, uint32_t value) {
  return SetField(handle, &acldvppBorderConfig::left, value, __func__);
}
aclError acldvppSetBorderConfigRight(acldvppBorderConfig *handle, uint32_t value) {
  return SetField(handle, &acldvppBorderConfig::right, value, __func__);
}
acldvppBorderType acldvppGetBorderConfigBorderType(const acldvppBorderConfig *handle) {
  return GetField(handle, &acldvppBorderConfig::type);
}
uint32_t acldvppGetBorderConfigTop(const acldvppBorderConfig *handle) {
  return GetField(handle, &acldvppBorderConfig::top);
}
uint32_t acldvppGetBorderConfigBottom(const acldvppBorderConfig *handle) {
  return GetField(handle, &acldvppBorderConfig::bottom);
}
uint32_t acldvppGetBorderConfigLeft(const acldvppBorderConfig *handle) {
  return GetField(handle, &acldvppBorderConfig::left);
}
uint32_t acldvppGetBorderConfigRight(const acldvppBorderConfig *handle) {
  return GetField(handle, &acldvppBorderConfig::right);
}
aclError acldvppSetBorderConfigValue(acldvppBorderConfig *handle, uint32_t index, double value) {
  if (handle == nullptr || index >= handle->value.size()) {
    return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the description is null or has no channel {}", __func__,
                                index);
  }
  handle->value[index] = value;
  return ACL_SUCCESS;
}
double acldvppGetBorderConfigValue(const acldvppBorderConfig *handle, uint32_t index) {
  return handle == nullptr || index >= handle->value.size() ? -1.0 : handle->value[index];
}

acldvppLutMap *acldvppCreateLutMap() {
  acldvppLutMap *map = CreateHandle<acldvppLutMap>();
  if (map == nullptr) return nullptr;
  for (LookupTable &table : map->tables) std::iota(table.begin(), table.end(), uint8_t{0});
  return map;
}
aclError acldvppDestroyLutMap(acldvppLutMap *handle) { return DestroyHandle(handle, __func__); }
uint32_t acldvppGetLutMapDims(const acldvppLutMap *handle) {
  return handle == nullptr ? 0 : static_cast<uint32_t>(handle->tables.size());
}
aclError acldvppGetLutMapData(const acldvppLutMap *handle, uint32_t dim, uint8_t **data, uint32_t *len) {
  if (handle == nullptr || data == nullptr || len == nullptr || dim >= handle->tables.size()) {
    return npustream::acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: an argument is null or there is no dimension {}",
                                __func__, dim);
  }
  // The interface hands the tables out for writing although the map is const in its signature.
  *data = const_cast<uint8_t *>(handle->tables[dim].data());
  *len = static_cast<uint32_t>(handle->tables[dim].size());
  return ACL_SUCCESS;
}
