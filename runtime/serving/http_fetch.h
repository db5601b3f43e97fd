#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"

namespace npustream::serving {

// The body of an http or https address, following redirects; at most 2 GiB. Proxies come from the usual variables of
// the environment. kNotFound for 404 and 410, kUnavailable for everything else that keeps the whole body from coming.
// `progress(bytes, total)` may be empty; total is 0 while unknown. Any thread.
Result<std::string> FetchUrl(const std::string& url, const std::function<void(uint64_t, uint64_t)>& progress);

}  // namespace npustream::serving
