#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/atc/outcome.h"

namespace npustream::atc {

// What this program does with a flag of the vendor's tool.
enum class Handling {
  kUsed,      // has an effect
  kAccepted,  // checked, without effect on a machine that computes in FP32 on CPUs
  kRefused,   // would change the result and cannot be done yet: an error unless it has its default value
};

struct Flag {
  std::string_view name;
  Handling handling;
  std::string_view default_value;
  // Allowed values separated by '|'; empty: anything.
  std::string_view allowed;
  std::string_view help;  // one line, for flags with an effect
};

// All flags that exist, sorted by name.
const std::vector<Flag>& AllFlags();

// The flags given on a command line; flags that are absent have their default value.
class FlagValues {
 public:
  bool Has(std::string_view name) const { return given_.count(name) != 0; }
  std::string Get(std::string_view name) const;
  void Set(std::string name, std::string value) { given_[std::move(name)] = std::move(value); }

 private:
  std::map<std::string, std::string, std::less<>> given_;
};

// Reads --flag=value and --flag value (one dash is taken as well). A flag that does not exist has the code E10003;
// the message names it. Values are checked against what the flag allows.
Outcome<FlagValues> ParseFlags(const std::vector<std::string>& arguments);

// What --help prints.
std::string HelpText();

}  // namespace npustream::atc
