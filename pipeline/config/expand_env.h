#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace npustream::pipeline {

// Replaces ${NAME} by the environment variable's value and ${NAME:-text} by `text` when the variable is unset or empty.
// kNotFound with the variable's name when ${NAME} is not set, kInvalidArgument for a ${ that is not closed or names
// nothing.
Result<std::string> ExpandEnvironment(std::string_view text);

// A URI without its password, for messages: rtsp://user:***@host/path. Other text comes back unchanged.
std::string WithoutPassword(std::string_view uri);

}  // namespace npustream::pipeline
