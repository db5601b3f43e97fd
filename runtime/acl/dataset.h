#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <acl/acl_mdl.h>

#include "runtime/acl/handle_table.h"

namespace npustream::acl {

// The inputs or outputs of a run, by the order of the model's description.
struct Dataset {
  std::vector<aclDataBuffer*> buffers;
  // What aclmdlSetDynamic… was given last, also when it refused it: then a run is refused too. Nothing: the largest
  // gear.
  std::optional<std::vector<int64_t>> choice;
};

HandleTable<Dataset>& Datasets();

}  // namespace npustream::acl
