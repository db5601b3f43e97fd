#include "runtime/serving/yaml_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "base/file.h"
#include "runtime/serving/yaml_text.h"

namespace npustream::serving {
namespace {

// std::from_chars, because it knows no locale and accepts nothing but the whole number.
template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> ParseNumber(std::string_view text) {
  const auto value = ParseWhole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// Levenshtein's distance, for "did you mean".
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

// A model or film given by mistake is not parsed as YAML.
constexpr size_t kMostBytes = 1 << 20;

int LineOf(const YAML::Mark& mark) { return mark.is_null() ? 0 : mark.line + 1; }

}  // namespace

// The node is searched by iteration and never by operator[]: yaml-cpp's operator[] on a mutable node adds the key.
struct YamlMap::State {
  YamlReader& reader;
  YAML::Node node;
  std::string path;  // keys above, joined by dots and ending in one; empty at the root
  std::set<std::string, std::less<>> asked;

  struct Entry {
    YAML::Node key, value;
  };
  std::optional<Entry> Find(std::string_view key) const {
    if (!node.IsMap()) return std::nullopt;
    for (const auto& item : node) {
      if (item.first.IsScalar() && item.first.Scalar() == key) return Entry{item.first, item.second};
    }
    return std::nullopt;
  }
  std::optional<YAML::Node> Take(std::string_view key) {
    asked.emplace(key);
    const auto entry = Find(key);
    return entry ? std::optional(entry->value) : std::nullopt;
  }
  // At the key: a value that is empty or a mapping of its own begins somewhere below.
  void Fail(std::string_view key, std::string_view message) {
    const auto entry = Find(key);
    FailAt(entry ? entry->key : node, key, message);
  }
  void FailAt(const YAML::Node& where, std::string_view key, std::string_view message) {
    std::string name = path + std::string(key);
    if (key.empty() && !path.empty()) name.pop_back();
    reader.Note(StatusCode::kInvalidArgument, LineOf(where.Mark()), fmt::format("{}: {}", name, message));
  }
};

YamlMap::YamlMap(YamlReader& reader, const YAML::Node& node, std::string path)
    : state_(new State{reader, node, std::move(path), {}}) {
  if (!node.IsMap()) return;
  std::set<std::string> seen;
  for (const auto& item : node) {
    if (!item.first.IsScalar()) {
      state_->FailAt(item.first, "", "a key must be a plain word");
    } else if (!seen.insert(item.first.Scalar()).second) {
      state_->FailAt(item.first, item.first.Scalar(), "is given twice");
    }
  }
}

YamlMap::~YamlMap() = default;
YamlMap::YamlMap(YamlMap&&) noexcept = default;

bool YamlMap::Has(std::string_view key) const { return state_->Find(key).has_value(); }

bool YamlMap::IsList(std::string_view key) const {
  const auto entry = state_->Find(key);
  return entry && entry->value.IsSequence();
}

std::string YamlMap::Text(std::string_view key, std::string otherwise) {
  const auto value = state_->Take(key);
  if (!value) return otherwise;
  if (value->IsScalar() && !value->Scalar().empty()) return value->Scalar();
  state_->Fail(key, "must be a text");
  return otherwise;
}

std::string YamlMap::RequiredText(std::string_view key) {
  if (!Has(key)) state_->Fail(key, "is missing");
  return Text(key);
}

size_t YamlMap::Choice(std::string_view key, const std::vector<std::string_view>& choices, size_t otherwise) {
  const auto value = state_->Take(key);
  if (!value) return otherwise;
  if (value->IsScalar()) {
    const auto found = std::find(choices.begin(), choices.end(), value->Scalar());
    if (found != choices.end()) return static_cast<size_t>(found - choices.begin());
  }
  state_->Fail(key, fmt::format("must be one of {}", fmt::join(choices, ", ")));
  return otherwise;
}

double YamlMap::Number(std::string_view key, double least, double most, double otherwise) {
  const auto value = state_->Take(key);
  if (!value) return otherwise;
  const auto number = value->IsScalar() ? ParseNumber(value->Scalar()) : std::nullopt;
  if (number && *number >= least && *number <= most) return *number;
  state_->Fail(key, fmt::format("must be a number from {} to {}", least, most));
  return otherwise;
}

int YamlMap::Integer(std::string_view key, int least, int most, int otherwise) {
  const auto value = state_->Take(key);
  if (!value) return otherwise;
  const auto number = value->IsScalar() ? ParseWhole<int>(value->Scalar()) : std::nullopt;
  if (number && *number >= least && *number <= most) return *number;
  state_->Fail(key, fmt::format("must be a whole number from {} to {}", least, most));
  return otherwise;
}

bool YamlMap::Bool(std::string_view key, bool otherwise) { return Choice(key, {"false", "true"}, otherwise) == 1; }

std::vector<double> YamlMap::Numbers(std::string_view key) {
  const auto value = state_->Take(key);
  std::vector<double> numbers;
  if (!value) return numbers;
  const auto add = [&](const YAML::Node& item) {
    const auto number = item.IsScalar() ? ParseNumber(item.Scalar()) : std::nullopt;
    if (number) numbers.push_back(*number);
    return number.has_value();
  };
  bool good = value->IsSequence() ? value->size() > 0 : add(*value);
  if (value->IsSequence()) {
    for (const YAML::Node& item : *value) good = good && add(item);
  }
  if (!good) state_->Fail(key, "must be a number or a list of numbers");
  return numbers;
}

std::vector<std::string> YamlMap::Texts(std::string_view key) {
  const auto value = state_->Take(key);
  std::vector<std::string> texts;
  if (!value) return texts;
  if (!value->IsSequence()) {
    state_->Fail(key, "must be a list");
    return texts;
  }
  for (const YAML::Node& item : *value) {
    if (!item.IsScalar() || item.Scalar().empty()) {
      state_->FailAt(item, key, fmt::format("entry {} must be a text", texts.size() + 1));
      return texts;
    }
    texts.push_back(item.Scalar());
  }
  return texts;
}

YamlMap YamlMap::Map(std::string_view key) {
  const auto value = state_->Take(key);
  if (value && !value->IsMap()) state_->Fail(key, "must be a mapping of keys to values");
  const YAML::Node node = value && value->IsMap() ? *value : YAML::Node(YAML::NodeType::Map);
  return YamlMap(state_->reader, node, fmt::format("{}{}.", state_->path, key));
}

std::vector<std::string> YamlMap::Keys() const {
  std::vector<std::string> keys;
  if (!state_->node.IsMap()) return keys;
  for (const auto& item : state_->node) {
    if (item.first.IsScalar()) keys.push_back(item.first.Scalar());
  }
  return keys;
}

void YamlMap::RefuseOtherKeys() {
  for (const std::string& key : Keys()) {
    if (state_->asked.contains(key)) continue;
    const auto closest = std::min_element(state_->asked.begin(), state_->asked.end(), [&](auto& a, auto& b) {
      return EditDistance(a, key) < EditDistance(b, key);
    });
    const bool similar = closest != state_->asked.end() && EditDistance(*closest, key) <= 2;
    state_->Fail(key,
                 similar ? fmt::format("is not a known key; did you mean '{}'?", *closest)
                         : fmt::format("is not a known key; known are {}", fmt::join(state_->asked, ", ")));
  }
}

void YamlMap::Fail(std::string_view key, std::string_view message) {
  state_->Fail(key, message);
}

YamlReader::YamlReader(std::filesystem::path file) : file_(std::move(file)) {}
YamlReader::~YamlReader() = default;

YamlMap YamlReader::Root() {
  const auto empty = [this] { return YamlMap(*this, YAML::Node(YAML::NodeType::Map), ""); };
  const Result<std::string> text = ReadUpTo(file_, kMostBytes + 1);
  if (!text.ok()) {
    if (status_.ok()) status_ = text.status();
    return empty();
  }
  if (text->size() > kMostBytes) {
    Note(StatusCode::kInvalidArgument, 0,
         fmt::format("has more than {} bytes, too many for a YAML file of ours", kMostBytes));
    return empty();
  }
  if (const auto mistake = FindTextMistake(*text)) {
    Note(StatusCode::kInvalidArgument, mistake->line, mistake->message);
    return empty();
  }
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(*text);
    if (documents.size() > 1) {
      Note(StatusCode::kInvalidArgument, LineOf(documents[1].Mark()), "a second document begins; one is expected");
      return empty();
    }
    const YAML::Node root = documents.empty() ? YAML::Node() : documents[0];
    if (root.IsMap()) return YamlMap(*this, root, "");
    Note(StatusCode::kInvalidArgument, LineOf(root.Mark()), "a mapping of keys to values is expected");
  } catch (const YAML::Exception& error) {
    Note(StatusCode::kInvalidArgument, LineOf(error.mark), fmt::format("not valid YAML: {}", error.msg));
  } catch (const std::exception& error) {
    Note(StatusCode::kInvalidArgument, 0, fmt::format("not valid YAML: {}", error.what()));
  }
  return empty();
}

void YamlReader::Note(StatusCode code, int line, std::string_view message) {
  if (!status_.ok()) return;
  status_ = Status(code, line > 0 ? fmt::format("{}:{}: {}", file_.string(), line, message)
                                  : fmt::format("{}: {}", file_.string(), message));
}

}  // namespace npustream::serving
