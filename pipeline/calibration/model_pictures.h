#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "runtime/serving/model_store.h"

namespace npustream::pipeline {

// Pictures as a model is given them: decoded, scaled and padded by the elements that do it when the model runs.
struct ModelPictures {
  int width = 0, height = 0;
  std::vector<std::vector<std::byte>> pictures;  // in the request's picture format
};

// At most `count` pictures: spread evenly over a folder (or the one picture that `source` is), or every `interval`-th
// frame of a video from its beginning.
Result<ModelPictures> ReadModelPictures(const serving::ModelRequest& request, const std::string& source, size_t count,
                                        int interval);

}  // namespace npustream::pipeline
