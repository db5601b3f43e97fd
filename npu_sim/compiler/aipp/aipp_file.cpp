#include "npu_sim/compiler/aipp/aipp_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/file.h"
#include "base/printable.h"
#include "npu_sim/compiler/aipp/aipp_fields.h"

namespace npustream::compiler {
namespace {

constexpr size_t kMaxQuoted = 40;

struct Token {
  std::string text;  // empty at the end of the file
  int line = 0;

  // For messages: a file of another kind may have words without end.
  std::string quoted() const { return fmt::format("'{}'", Printable(text, kMaxQuoted)); }
};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ';'; }
bool IsMark(char c) { return c == '{' || c == '}' || c == ':'; }

// Words, quoted words (without their quotes) and the marks { } : with their lines; # starts a comment.
std::vector<Token> Tokenise(std::string_view text) {
  std::vector<Token> tokens;
  int line = 1;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (IsSpace(c)) {
      ++i;
    } else if (c == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (IsMark(c)) {
      tokens.push_back({std::string(1, c), line});
      ++i;
    } else if (c == '"' || c == '\'') {
      const size_t end = std::min(text.find(c, i + 1), text.size());
      tokens.push_back({std::string(text.substr(i + 1, end - i - 1)), line});
      i = end + 1;
    } else {
      const size_t start = i;
      while (i < text.size() && !IsSpace(text[i]) && !IsMark(text[i]) && text[i] != '#') ++i;
      tokens.push_back({std::string(text.substr(start, i - start)), line});
    }
  }
  tokens.push_back({"", line});
  return tokens;
}

// A number, or nothing when the text is none. Infinity and NaN are none.
std::optional<double> ReadNumber(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> ReadBool(const std::string& text) {
  if (text == "true" || text == "1") return 1;
  if (text == "false" || text == "0") return 0;
  return std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : tokens_(Tokenise(text)), file_(file) {}

  Result<std::vector<AippBlock>> Run() {
    std::vector<AippBlock> blocks;
    while (!Peek().text.empty()) {
      NPUSTREAM_ASSIGN_OR_RETURN(AippBlock block, ReadBlock());
      blocks.push_back(std::move(block));
    }
    if (blocks.empty()) return Error(Peek(), "there is no aipp_op block");
    return blocks;
  }

 private:
  const Token& Peek() const { return tokens_[next_]; }
  Token Take() { return tokens_[next_ + 1 < tokens_.size() ? next_++ : next_]; }
  bool Skip(std::string_view mark) {
    if (Peek().text != mark) return false;
    Take();
    return true;
  }

  Status Error(const Token& token, const std::string& what) const {
    return {StatusCode::kInvalidArgument, fmt::format("{}:{}: {}", file_, token.line, what)};
  }

  Result<AippBlock> ReadBlock() {
    const Token name = Take();
    if (name.text != "aipp_op") return Error(name, fmt::format("{} where aipp_op is expected", name.quoted()));
    Skip(":");
    if (!Skip("{")) return Error(Peek(), "{ is missing after aipp_op");
    AippBlock block;
    block.where = fmt::format("{}:{}", file_, name.line);
    while (!Skip("}")) {
      if (Peek().text.empty()) return Error(Peek(), "} is missing at the end of the file");
      NPUSTREAM_RETURN_IF_ERROR(ReadField(block));
    }
    if (!block.Has("aipp_mode")) return Error(name, "aipp_mode is missing");
    return block;
  }

  Status ReadField(AippBlock& block) {
    const Token name = Take();
    const AippField* field = FindAippField(name.text);
    if (field == nullptr) return Error(name, fmt::format("there is no field {}", name.quoted()));
    if (!Skip(":")) return Error(Peek(), fmt::format(": is missing after {}", name.text));
    const Token value = Take();
    if (value.text.empty() || value.text == "}") return Error(value, fmt::format("{} has no value", name.text));
    if (!block.given.insert(name.text).second) return Error(name, fmt::format("{} is given twice", name.text));
    return SetField(block.config, *field, value);
  }

  Status SetField(om::AippConfig& config, const AippField& field, const Token& value) const {
    if (field.kind == AippKind::kWord) return SetWord(config, field, value);
    const std::optional<double> number = field.kind == AippKind::kBool ? ReadBool(value.text) : ReadNumber(value.text);
    if (!number) {
      const char* wanted = field.kind == AippKind::kBool ? "true or false" : "a number";
      return Error(value, fmt::format("{} is {}, not {}", field.name, value.quoted(), wanted));
    }
    if (field.kind == AippKind::kInteger && *number != std::floor(*number)) {
      return Error(value, fmt::format("{} is {}, not a whole number", field.name, value.quoted()));
    }
    if (field.set_number == nullptr && *number != 0) {
      return Error(value, fmt::format("{} is reserved and cannot be used", field.name));
    }
    if (*number < field.low || *number > field.high) {
      return Error(value, fmt::format("{} is {}, outside {} to {}", field.name, Printable(value.text, kMaxQuoted),
                                      field.low, field.high));
    }
    if (field.set_number != nullptr) field.set_number(config, *number);
    return {};
  }

  Status SetWord(om::AippConfig& config, const AippField& field, const Token& value) const {
    static const std::set<std::string_view> kModes = {"static", "dynamic"};
    static const std::set<std::string_view> kFormats = {"YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8"};
    const auto& allowed = field.name == "aipp_mode" ? kModes : kFormats;
    if (allowed.count(value.text) == 0) {
      return Error(value, fmt::format("{} {} is not supported", field.name, value.quoted()));
    }
    field.set_word(config, value.text);
    return {};
  }

  const std::vector<Token> tokens_;
  const std::string file_;
  size_t next_ = 0;
};

}  // namespace

Result<std::vector<AippBlock>> ParseAipp(std::string_view text, std::string_view file_name) {
  return Parser(text, file_name).Run();
}

Result<std::vector<AippBlock>> ReadAippFile(const std::filesystem::path& path) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  return ParseAipp(text, path.string());
}

}  // namespace npustream::compiler
