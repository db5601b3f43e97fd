#include "runtime/serving/model_catalog.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/serving/model_folders.h"

namespace npustream::serving {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".yaml";

// Descriptions by name.
std::map<std::string, fs::path> Descriptions() {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : ModelFolders()) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == kSuffix) found.emplace(entry.path().stem().string(), entry.path());
    }
  }
  return found;
}

}  // namespace

std::vector<ModelListing> ListModels() {
  std::vector<ModelListing> listings;
  for (const auto& [name, path] : Descriptions()) {
    ModelListing listing{name, path, {}, {}, {}};
    auto description = LoadModelDescription(path);
    listing.status = description.status();
    if (description.ok()) {
      listing.model = std::move(*description);
      auto file = LocateModelFile(listing.model);
      if (file.ok()) listing.file = std::move(*file);
    }
    listings.push_back(std::move(listing));
  }
  return listings;
}

Result<fs::path> FindDescription(const std::string& name) {
  // A name is one word; "../x" shall not lead out of the folders.
  const bool plain = !name.empty() && name.find('/') == std::string::npos;
  if (plain) {
    if (auto path = FindInModelFolders(name + std::string(kSuffix))) return *path;
  }
  std::vector<std::string> known;
  for (const auto& item : Descriptions()) known.push_back(item.first);
  return Status(StatusCode::kNotFound, fmt::format("there is no model '{}' in {}; known are {}", name,
                                                   ModelFoldersText(), fmt::join(known, ", ")));
}

Result<fs::path> LocateModelFile(const ModelDescription& description) {
  std::error_code ignored;
  if (fs::is_regular_file(description.file, ignored)) return description.file;
  const fs::path file_name = description.file.filename();
  if (auto file = FindInModelFolders(file_name)) return *file;
  const std::string pull = description.source_url.empty()
                               ? ""
                               : fmt::format("get it with `npustream models pull {}`, or ", description.name);
  return Status(StatusCode::kNotFound,
                fmt::format("model {}: its file {} is not in {}; {}name its folder in NPUSTREAM_MODEL_PATH",
                            description.name, file_name.string(), ModelFoldersText(), pull));
}

}  // namespace npustream::serving
