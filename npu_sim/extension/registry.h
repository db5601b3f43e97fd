#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "npu_sim/extension/npustream_extension.h"

// The extension libraries of this process. They stay loaded until it ends. Thread-safe.
namespace npustream::extension {

// Loads a library and takes up what it offers; again, nothing happens. kNotFound, kInvalidArgument: no library, one without
// the entry function, of another version, with gaps in its tables, or with names that are taken.
Status LoadLibrary(const std::string& path);

// The operator "domain.type", null when no library has it. The first call loads the libraries that NPUSTREAM_EXTENSIONS
// names, separated by ':'; what could not be loaded is logged.
const NpustreamOperator* FindOperator(std::string_view name);

// In the order in which they were loaded.
std::vector<NpustreamPass> Passes();

}  // namespace npustream::extension
