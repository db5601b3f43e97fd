#pragma once

#include <string_view>
#include <utility>

#include <acl/acl_base.h>
#include <fmt/format.h>

#include "base/status.h"

namespace npustream::acl {

// Whose codes a failure is told in: 107xxx … 507xxx or 145xxx … 545xxx.
enum class Area { kRuntime, kModel };

// Remembers `sentence` as the calling thread's last failure (aclGetRecentErrMsg, aclrtGetLastError) and returns `code`.
aclError Fail(aclError code, std::string_view sentence);

template <typename First, typename... Rest>
aclError Fail(aclError code, fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  return Fail(code, fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}

// The same for a failure of the floors below, whose code is translated into the documented one of `area`.
aclError Fail(const Status& status, Area area);
aclError ToAclError(StatusCode code, Area area);

}  // namespace npustream::acl
