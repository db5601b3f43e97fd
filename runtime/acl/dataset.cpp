#include "runtime/acl/dataset.h"

#include "runtime/acl/data_buffer.h"
#include "runtime/acl/error.h"

namespace npustream::acl {

HandleTable<Dataset>& Datasets() {
  static auto* table = new HandleTable<Dataset>(HandleKind::kDataset);  // NOLINT: may be used until the very end
  return *table;
}

namespace {

// The dataset behind a handle, or null after the failure was remembered.
std::shared_ptr<Dataset> Find(const aclmdlDataset* handle) {
  auto dataset = Datasets().Find(handle);
  if (dataset == nullptr) {
    Fail(ACL_ERROR_INVALID_PARAM, "{} is not a dataset, or was destroyed", static_cast<const void*>(handle));
  }
  return dataset;
}

}  // namespace
}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face

aclmdlDataset* aclmdlCreateDataset() {
  return static_cast<aclmdlDataset*>(Datasets().Add(std::make_shared<Dataset>()));
}

aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  if (Find(dataset) == nullptr) return ACL_ERROR_INVALID_PARAM;
  Datasets().Remove(dataset);
  return ACL_SUCCESS;
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  const auto found = Find(dataset);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (DataBuffers().Find(dataBuffer) == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, "{} is not a data buffer, or was destroyed", static_cast<void*>(dataBuffer));
  }
  found->buffers.push_back(dataBuffer);
  return ACL_SUCCESS;
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) {
  const auto found = Find(dataset);
  return found == nullptr ? 0 : found->buffers.size();
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  const auto found = Find(dataset);
  if (found == nullptr) return nullptr;
  if (index >= found->buffers.size()) {
    Fail(ACL_ERROR_INVALID_PARAM, "buffer {} of a dataset with {} was asked for", index, found->buffers.size());
    return nullptr;
  }
  return found->buffers[index];
}
