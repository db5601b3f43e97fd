#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/serving/model_description.h"

namespace npustream::serving {

// A model known by name.
struct ModelListing {
  std::string name;                   // what `--model` takes: the description's file name without .yaml
  std::filesystem::path description;  // the YAML
  Status status;                      // why the description cannot be used
  ModelDescription model;             // when status is ok
  std::filesystem::path file;         // where the model file is; empty when it has to be pulled
};

// All descriptions in ModelFolders(), by name; of two with one name the first folder's counts. Any thread.
std::vector<ModelListing> ListModels();

// The description called `name`. kNotFound with the known names and the folders that were searched.
Result<std::filesystem::path> FindDescription(const std::string& name);

// Where a described model's file is: beside the description, else by its file name in ModelFolders(). kNotFound with a
// sentence that says how to get it.
Result<std::filesystem::path> LocateModelFile(const ModelDescription& description);

}  // namespace npustream::serving
