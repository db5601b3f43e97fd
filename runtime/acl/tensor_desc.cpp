#include <string>
#include <vector>

#include <acl/acl_base.h>

#include "runtime/acl/error.h"
#include "runtime/acl/handle_table.h"

namespace npustream::acl {
namespace {

struct TensorDescription {
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> dims;
  bool unknown_rank = false;
  std::string name;

  // 0 while a dimension is unknown.
  size_t ElementCount() const {
    if (unknown_rank) return 0;
    size_t count = 1;
    for (const int64_t dim : dims) count *= dim < 0 ? 0 : static_cast<size_t>(dim);
    return count;
  }
};

HandleTable<TensorDescription>& Descriptions() {
  static auto* table =
      new HandleTable<TensorDescription>(HandleKind::kTensorDescription);  // NOLINT: used until the end
  return *table;
}

// The description behind a handle, or null after the failure was remembered.
std::shared_ptr<TensorDescription> Find(const aclTensorDesc* handle) {
  auto description = Descriptions().Find(handle);
  if (description == nullptr) {
    Fail(ACL_ERROR_INVALID_PARAM, "{} is not a tensor description, or was destroyed", static_cast<const void*>(handle));
  }
  return description;
}

bool SetShape(TensorDescription& description, int count, const int64_t* dims) {
  if (count < 0 || (count > 0 && dims == nullptr)) {
    Fail(ACL_ERROR_INVALID_PARAM, "a shape of {} dimensions was given without them", count);
    return false;
  }
  description.dims.assign(dims, dims + count);
  // One dimension of −2 says that not even their number is known.
  description.unknown_rank = count == 1 && dims[0] == -2;
  return true;
}

}  // namespace
}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims, aclFormat format) {
  auto description = std::make_shared<TensorDescription>();
  description->type = dataType;
  description->format = format;
  if (!SetShape(*description, numDims, dims)) return nullptr;
  return static_cast<aclTensorDesc*>(Descriptions().Add(std::move(description)));
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) { Descriptions().Remove(desc); }

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  const auto found = Find(desc);
  return found == nullptr ? ACL_DT_UNDEFINED : found->type;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  const auto found = Find(desc);
  return found == nullptr ? ACL_FORMAT_UNDEFINED : found->format;
}

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  const auto found = Find(desc);
  return found == nullptr ? 0 : found->ElementCount() * aclDataTypeSize(found->type);
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
  const auto found = Find(desc);
  return found == nullptr ? 0 : found->ElementCount();
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  const auto found = Find(desc);
  if (found == nullptr) return 0;
  return found->unknown_rank ? static_cast<size_t>(ACL_UNKNOWN_RANK) : found->dims.size();
}

int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index) {
  int64_t dim = -1;
  return aclGetTensorDescDimV2(desc, index, &dim) == ACL_SUCCESS ? dim : -1;
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  const auto found = Find(desc);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (dimSize == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no place for the dimension was given");
  if (index >= found->dims.size()) {
    return Fail(ACL_ERROR_INVALID_PARAM, "dimension {} of a tensor with {} was asked for", index, found->dims.size());
  }
  *dimSize = found->dims[index];
  return ACL_SUCCESS;
}

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  if (const auto found = Find(desc)) found->name = name == nullptr ? "" : name;
}

const char* aclGetTensorDescName(aclTensorDesc* desc) {
  const auto found = Find(desc);
  return found == nullptr ? "" : found->name.c_str();
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  const auto found = Find(desc);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  found->format = format;
  return ACL_SUCCESS;
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  const auto found = Find(desc);
  if (found == nullptr || !SetShape(*found, numDims, dims)) return ACL_ERROR_INVALID_PARAM;
  return ACL_SUCCESS;
}
