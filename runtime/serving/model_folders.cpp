#include "runtime/serving/model_folders.h"

#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"

namespace npustream::serving {
namespace {

namespace fs = std::filesystem;

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The XDG base directory specification tells to ignore relative values.
fs::path XdgFolder(const char* variable, const char* below_home) {
  const fs::path folder = Environment(variable);
  if (folder.is_absolute()) return folder;
  const fs::path home = Environment("HOME");
  return (home.empty() ? fs::path("/") : home) / below_home;
}

}  // namespace

fs::path UserModelFolder() { return XdgFolder("XDG_DATA_HOME", ".local/share") / "npustream" / "models"; }

fs::path CacheFolder() {
  const fs::path folder = Environment("NPUSTREAM_CACHE");
  return folder.empty() ? XdgFolder("XDG_CACHE_HOME", ".cache") / "npustream" : fs::absolute(folder);
}

fs::path ProjectModelFolder() {
  const fs::path library = FolderOfSymbol(reinterpret_cast<const void*>(&ProjectModelFolder));
  std::error_code ignored;
  const fs::path installed = library / ".." / "share" / "npustream" / "models";
  if (fs::is_directory(installed, ignored)) return installed.lexically_normal();
  return (library / ".." / ".." / "configs" / "models").lexically_normal();
}

std::vector<fs::path> ModelFolders() {
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& folder) {
    std::error_code ignored;
    if (!folder.empty() && fs::is_directory(folder, ignored)) folders.push_back(folder);
  };
  std::string_view path = Environment("NPUSTREAM_MODEL_PATH");
  while (!path.empty()) {
    const size_t end = path.find(':');
    add(path.substr(0, end));
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }
  add(UserModelFolder());
  add(ProjectModelFolder());
  return folders;
}

std::optional<fs::path> FindInModelFolders(const fs::path& file_name) {
  for (const fs::path& folder : ModelFolders()) {
    std::error_code ignored;
    if (fs::path file = folder / file_name; fs::is_regular_file(file, ignored)) return file;
  }
  return std::nullopt;
}

std::string ModelFoldersText() {
  std::vector<std::string> names;
  for (const fs::path& folder : ModelFolders()) names.push_back(folder.string());
  return fmt::format("{}", fmt::join(names, ":"));
}

}  // namespace npustream::serving
