#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace npustream::e2e {

inline nlohmann::json ReadJson(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return nlohmann::json::parse(stream, nullptr, false);
}

inline std::vector<nlohmann::json> ReadJsonLines(const std::filesystem::path& path) {
  std::vector<nlohmann::json> records;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) records.push_back(nlohmann::json::parse(line, nullptr, false));
  return records;
}

// Frames that were dropped, all reasons together.
inline int64_t TotalDropped(const nlohmann::json& camera) {
  int64_t total = 0;
  for (const auto& [reason, count] : camera.at("dropped").items()) total += count.get<int64_t>();
  return total;
}

}  // namespace npustream::e2e
