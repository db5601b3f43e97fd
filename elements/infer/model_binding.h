#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "runtime/serving/model_description.h"
#include "runtime/serving/model_runner.h"
#include "runtime/serving/model_store.h"

namespace npustream::elements {

// What somebody asks for with the properties that npupreprocess, npuinfer and npudetect have in common.
struct ModelSelection {
  serving::ModelRequest request;
  serving::RunnerOptions runner;  // `om` is filled in by AcquireModel
  std::string instance_id;        // elements with the same model, device and instance share one runner
};

// A model that is ready to run, and what has to be known about it on the way of a frame. Immutable.
struct ModelBinding {
  std::string key;  // tells runners apart: OM, device and instance; inputs are meant for the runner with their key
  serving::ModelDescription description;
  std::shared_ptr<serving::ModelRunner> runner;  // shared by all elements with this key

  const serving::ModelInfo& info() const { return runner->info(); }
};

// Finds, compiles if necessary, and loads the model, or takes part in the runner that is already there. Blocks while
// compiling. kInvalidArgument when no model was named.
Result<std::shared_ptr<const ModelBinding>> AcquireModel(ModelSelection selection);

}  // namespace npustream::elements
