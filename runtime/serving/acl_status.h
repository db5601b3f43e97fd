#pragma once

#include <string_view>

#include <acl/acl.h>

#include "base/status.h"

namespace npustream::serving {

// The edge from AscendCL to Status: ok for ACL_SUCCESS, else "`action`: <sentence of aclGetRecentErrMsg> (code)". To be
// called on the thread whose call gave `error`, before its next one.
Status AclStatus(aclError error, std::string_view action);

}  // namespace npustream::serving

// Returns early when a call of AscendCL failed: `NPUSTREAM_RETURN_IF_ACL_ERROR(aclrtMalloc(…), "allocating x")`.
#define NPUSTREAM_RETURN_IF_ACL_ERROR(call, action) \
  NPUSTREAM_RETURN_IF_ERROR(::npustream::serving::AclStatus((call), (action)))
