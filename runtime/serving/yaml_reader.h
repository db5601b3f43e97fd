#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace YAML {
class Node;
}

namespace npustream::serving {

class YamlReader;

// A mapping in a YAML file, read key by key. Each reader gives `otherwise` when the key is absent or wrong; the first
// mistake stays with the YamlReader, so that a loader reads straight through and asks once at its end.
class YamlMap {
 public:
  ~YamlMap();
  YamlMap(YamlMap&&) noexcept;

  bool Has(std::string_view key) const;
  bool IsList(std::string_view key) const;

  // A scalar that is not empty. Required: its absence is a mistake.
  std::string Text(std::string_view key, std::string otherwise = "");
  std::string RequiredText(std::string_view key);
  // One of `choices`; the index of the one that was found.
  size_t Choice(std::string_view key, const std::vector<std::string_view>& choices, size_t otherwise);
  // A finite number, least ≤ number ≤ most.
  double Number(std::string_view key, double least, double most, double otherwise);
  int Integer(std::string_view key, int least, int most, int otherwise);
  bool Bool(std::string_view key, bool otherwise);
  // A number, or a list of numbers.
  std::vector<double> Numbers(std::string_view key);
  // A list of scalars.
  std::vector<std::string> Texts(std::string_view key);
  // A mapping below this one; empty when the key is absent.
  YamlMap Map(std::string_view key);

  // All keys that are there, in the file's order.
  std::vector<std::string> Keys() const;

  // Makes a mistake of every key that nobody has asked for; to be called after the last one was read.
  void RefuseOtherKeys();
  // Notes a mistake at `key`: "file:line: key: message".
  void Fail(std::string_view key, std::string_view message);

 private:
  friend class YamlReader;
  struct State;
  YamlMap(YamlReader& reader, const YAML::Node& node, std::string path);

  std::unique_ptr<State> state_;
};

// One YAML file whose root is a mapping. Not thread-safe; outlives the maps it gives.
class YamlReader {
 public:
  explicit YamlReader(std::filesystem::path file);
  ~YamlReader();

  // Parses the file. A file that cannot be read or parsed gives an empty map and leaves its mistake in status().
  YamlMap Root();
  const std::filesystem::path& file() const { return file_; }
  // The first mistake.
  const Status& status() const { return status_; }

 private:
  friend class YamlMap;
  // Keeps the first; `line` counts from 1, 0 when there is none.
  void Note(StatusCode code, int line, std::string_view message);

  const std::filesystem::path file_;
  Status status_;
};

}  // namespace npustream::serving
