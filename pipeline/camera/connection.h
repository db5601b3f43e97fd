#pragma once

#include <string>

namespace npustream::pipeline {

// Why no TCP connection to a URI's host can be made ("192.0.2.1:554: Connection refused"), for a source that says only
// that it failed. Empty when one can be made, or when the URI does not name a host by a known scheme. Tries for two
// seconds at most per address.
std::string WhyNotReachable(const std::string& uri);

}  // namespace npustream::pipeline
