#pragma once

#include <map>
#include <string>

namespace npustream::compiler {

// ONNX's node tests that cannot be run, by name, with the reason why. No case whose result is another than ours is
// among them but those whose reason says so.
std::map<std::string, std::string> NodeExclusions();

}  // namespace npustream::compiler
