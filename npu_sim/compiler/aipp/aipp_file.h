#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "npu_sim/om/aipp_config.h"

namespace npustream::compiler {

// One aipp_op block as written: fields that are absent keep AippConfig's defaults.
struct AippBlock {
  om::AippConfig config;
  std::set<std::string, std::less<>> given;  // names of the fields that the block sets
  std::string where;                         // "file:line" of its start, for messages

  bool Has(std::string_view field) const { return given.count(field) != 0; }
};

// Reads repeated `aipp_op { field: value … }` with # comments. Refuses, with file and line, unknown fields, values of
// the wrong kind or out of the field's own range, fields given twice and blocks without aipp_mode. Rules between fields
// and the model are ResolveAipp's.
Result<std::vector<AippBlock>> ReadAippFile(const std::filesystem::path& path);
Result<std::vector<AippBlock>> ParseAipp(std::string_view text, std::string_view file_name);

}  // namespace npustream::compiler
