#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npustream::serving {

// Where descriptions and model files are looked for, in this order: the folders of NPUSTREAM_MODEL_PATH (separated by
// colons), the user's own folder, the project's folder. Those that do not exist are left out.
std::vector<std::filesystem::path> ModelFolders();

// $XDG_DATA_HOME/npustream/models, else ~/.local/share/npustream/models: where pulled models go. Need not exist.
std::filesystem::path UserModelFolder();

// configs/models of the source tree, or share/npustream/models of an installation.
std::filesystem::path ProjectModelFolder();

// The first file of this name in ModelFolders().
std::optional<std::filesystem::path> FindInModelFolders(const std::filesystem::path& file_name);

// The folders as text for an error message: "a:b:c".
std::string ModelFoldersText();

// $NPUSTREAM_CACHE, else $XDG_CACHE_HOME/npustream, else ~/.cache/npustream. Need not exist.
std::filesystem::path CacheFolder();

}  // namespace npustream::serving
