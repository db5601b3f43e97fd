#pragma once

#include <cstdint>
#include <vector>

#include <acl/acl_mdl.h>

#include "runtime/acl/handle_table.h"

namespace npustream::acl {

// The inputs or outputs of a run, by the order of the model's description.
struct Dataset {
  std::vector<aclDataBuffer*> buffers;
  uint64_t batch = 0;  // set by aclmdlSetDynamicBatchSize; 0: the largest gear
};

HandleTable<Dataset>& Datasets();

}  // namespace npustream::acl
