#include "apps/atc/fusion_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/atc/shapes.h"
#include "base/file.h"
#include "base/log.h"
#include "base/trim.h"
#include "npu_sim/compiler/compile.h"

namespace npustream::atc {
namespace {

using Switches = std::vector<std::pair<std::string, std::string>>;

// JSON objects nested deeper than this are no switch file.
constexpr int kMaxDepth = 8;

void CollectJson(const nlohmann::json& node, int depth, Switches& switches) {
  if (!node.is_object() || depth > kMaxDepth) return;
  for (const auto& [name, value] : node.items()) {
    if (const auto* text = value.get_ptr<const std::string*>()) switches.emplace_back(name, *text);
    CollectJson(value, depth + 1, switches);
  }
}

Check CollectLines(const std::string& text, const std::string& file, Switches& switches) {
  int number = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = Trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const size_t colon = line.rfind(':');
    if (colon == std::string_view::npos) {
      return InvalidValue("fusion_switch_file", file, fmt::format("line {} is not of the form Pass:off", number));
    }
    switches.emplace_back(Trimmed(line.substr(0, colon)), Trimmed(line.substr(colon + 1)));
  }
  return std::nullopt;
}

}  // namespace

Outcome<std::set<std::string>> ReadFusionSwitches(const std::filesystem::path& path) {
  const auto text = ReadTextFile(path);
  if (!text.ok()) return FileFailure(text.status());
  Switches switches;
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) {
    CollectJson(json, 0, switches);
  } else if (Check failure = CollectLines(*text, path.string(), switches)) {
    return *failure;
  }
  const auto passes = compiler::PassNames();
  std::set<std::string> disabled;
  for (const auto& [name, value] : switches) {
    if (value != "on" && value != "off") {
      return InvalidValue("fusion_switch_file", path.string(), fmt::format("{} is '{}', not on or off", name, value));
    }
    const bool all = name == "ALL" || name == "GraphFusion" || name == "UBFusion";
    const bool known = std::find(passes.begin(), passes.end(), name) != passes.end();
    if (!all && !known) Log(LogLevel::kWarning, "atc", "{}: there is no pass '{}'", path.string(), name);
    if (value == "off" && all) disabled.insert(passes.begin(), passes.end());
    if (value == "off" && known) disabled.insert(name);
    if (value == "on" && known) disabled.erase(name);
  }
  return disabled;
}

}  // namespace npustream::atc
