#pragma once

#include <string>
#include <string_view>

#include "npu_sim/om/aipp_config.h"

namespace npustream::compiler {

enum class AippKind { kWord, kBool, kInteger, kReal };

// A field of an aipp_op block: its kind, its range and where it goes.
struct AippField {
  std::string_view name;
  AippKind kind;
  double low, high;
  void (*set_number)(om::AippConfig& config, double value);  // null for words and for fields that must stay at 0
  void (*set_word)(om::AippConfig& config, std::string_view value);
};

// Null for a name that does not exist.
const AippField* FindAippField(std::string_view name);

// `value` rounded to IEEE 754 binary16 (to nearest, ties to even) and back.
float RoundToHalf(float value);

}  // namespace npustream::compiler
