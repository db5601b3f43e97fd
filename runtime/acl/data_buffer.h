#pragma once

#include <cstddef>

#include <acl/acl_base.h>

#include "runtime/acl/handle_table.h"

namespace npustream::acl {

struct DataBuffer {
  void* data = nullptr;
  size_t size = 0;
};

HandleTable<DataBuffer>& DataBuffers();

}  // namespace npustream::acl
