#pragma once

// The bodies of the C interface's getters and setters.

#include <cstddef>
#include <cstring>
#include <new>

#include "runtime/acl/internal.h"

namespace npustream::dvpp {

// Null when there is no memory.
template <typename T>
T* CreateHandle() {
  return new (std::nothrow) T();  // its owner is the C program
}

template <typename T>
aclError DestroyHandle(T* handle, const char* function) {
  if (handle == nullptr) return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the description is null", function);
  delete handle;
  return ACL_SUCCESS;
}

template <typename T, typename V>
aclError SetField(T* handle, V T::*field, V value, const char* function) {
  if (handle == nullptr) return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the description is null", function);
  handle->*field = value;
  return ACL_SUCCESS;
}

template <typename T, typename V>
V GetField(const T* handle, V T::*field) {
  return handle == nullptr ? V{} : handle->*field;
}

// A parameter passed as (type, length, pointer): copied into or out of a field of exactly that size.
template <typename V>
aclError SetParameter(V& field, size_t length, const void* parameter, const char* function) {
  if (parameter == nullptr || length != sizeof(V)) {
    return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: the parameter is null or not of {} bytes", function, sizeof(V));
  }
  std::memcpy(&field, parameter, sizeof(V));
  return ACL_SUCCESS;
}

template <typename V>
aclError GetParameter(const V& field, size_t length, size_t* size, void* parameter, const char* function) {
  if (parameter == nullptr || size == nullptr || length < sizeof(V)) {
    return acl::Fail(ACL_ERROR_INVALID_PARAM, "{}: no room for a parameter of {} bytes", function, sizeof(V));
  }
  std::memcpy(parameter, &field, sizeof(V));
  *size = sizeof(V);
  return ACL_SUCCESS;
}

}  // namespace npustream::dvpp
