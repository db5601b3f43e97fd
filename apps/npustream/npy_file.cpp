#include "apps/npustream/npy_file.h"

#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/file.h"

namespace npustream::apps {
namespace {

// Before the header: magic, version, length of the header.
constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kPrefix = 10;
constexpr size_t kAlignment = 64;

struct TypeName {
  om::DataType type;
  const char* name;
};
constexpr TypeName kTypes[] = {
    {om::DataType::kFloat32, "<f4"}, {om::DataType::kFloat16, "<f2"}, {om::DataType::kDouble, "<f8"},
    {om::DataType::kInt8, "|i1"},    {om::DataType::kUInt8, "|u1"},   {om::DataType::kInt16, "<i2"},
    {om::DataType::kUInt16, "<u2"},  {om::DataType::kInt32, "<i4"},   {om::DataType::kUInt32, "<u4"},
    {om::DataType::kInt64, "<i8"},   {om::DataType::kUInt64, "<u8"},  {om::DataType::kBool, "|b1"},
};

// What follows 'key': in the header, up to `end`.
std::optional<std::string_view> ValueOf(std::string_view header, std::string_view key, char end) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(": "), rest.size()));
  return rest.substr(0, rest.find(end));
}

std::optional<om::Dims> ParseShape(std::string_view text) {
  om::Dims dims;
  for (size_t at = text.find_first_of("0123456789"); at != std::string_view::npos;
       at = text.find_first_of("0123456789")) {
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), dim);
    if (error != std::errc()) return std::nullopt;
    dims.push_back(dim);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return dims;
}

}  // namespace

Result<NpyArray> ReadNpy(const std::filesystem::path& path) {
  NPUSTREAM_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  const auto corrupt = [&](std::string_view what) {
    return Status(StatusCode::kCorruptData, fmt::format("{}: {}", path.string(), what));
  };
  const std::string_view all(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (all.size() < kPrefix || !all.starts_with(kMagic)) return corrupt("is no .npy file");
  if (all[6] != 1) return Status(StatusCode::kUnsupported, fmt::format("{}: version {} of .npy", path.string(), +all[6]));
  const size_t length = static_cast<uint8_t>(all[8]) + 256u * static_cast<uint8_t>(all[9]);
  if (all.size() < kPrefix + length) return corrupt("is cut off");
  const std::string_view header = all.substr(kPrefix, length);
  const auto type = ValueOf(header, "'descr'", ','), order = ValueOf(header, "'fortran_order'", ','),
             shape = ValueOf(header, "'shape'", ')');
  const auto dims = shape ? ParseShape(*shape) : std::nullopt;
  if (!type || !order || !dims) return corrupt("has a header that cannot be read");
  if (*order != "False") return Status(StatusCode::kUnsupported, path.string() + ": is in Fortran order");
  for (const TypeName& known : kTypes) {
    if (type->find(known.name) == std::string_view::npos) continue;
    const std::string_view content = all.substr(kPrefix + length);
    int64_t count = 1;
    for (const int64_t dim : *dims) {
      if (__builtin_mul_overflow(count, dim, &count)) return corrupt("has a shape that is too large");
    }
    if (content.size() / om::SizeOf(known.type) != static_cast<size_t>(count) ||
        content.size() % om::SizeOf(known.type) != 0)
      return corrupt("has another size than its shape");
    const auto* bytes = reinterpret_cast<const std::byte*>(content.data());
    return NpyArray{known.type, *dims, om::Bytes(bytes, bytes + content.size())};
  }
  return Status(StatusCode::kUnsupported, fmt::format("{}: elements of type {}", path.string(), *type));
}

Status WriteNpy(const std::filesystem::path& path, const NpyArray& array) {
  const char* name = "|V1";
  for (const TypeName& known : kTypes) {
    if (known.type == array.type) name = known.name;
  }
  std::string shape;
  for (const int64_t dim : array.dims) shape += fmt::format("{}, ", dim);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", name, shape);
  const size_t total = (kPrefix + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(total - kPrefix - 1, ' ');
  header += '\n';
  std::string text(kMagic);
  text += '\1';
  text += '\0';
  text += static_cast<char>(header.size() & 255);
  text += static_cast<char>(header.size() >> 8);
  text += header;
  text.append(reinterpret_cast<const char*>(array.content.data()), array.content.size());
  return WriteFileAtomically(path, std::string_view(text));
}

}  // namespace npustream::apps
