#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "runtime/serving/model_description.h"

namespace npustream::serving {

// What models with this decoder usually want: the preprocessing of their reference implementation. For an OM or ONNX
// file without a description. An empty type gives plain values and no decoder; kNotFound for a type without an entry.
Result<ModelDescription> DefaultDescription(std::string_view decoder_type);

// Whether outputs of these dims may tell `classes` classes apart under the decoder's output format. True for a decoder
// about which nothing is known here.
bool FitsClassCount(std::string_view decoder_type, std::span<const std::vector<int64_t>> outputs, size_t classes);

// Labels for a model that comes without: face for a face detector, COCO's 80 names where the outputs have 80 classes,
// else none. Reads the project's coco.labels; none when that is absent.
std::vector<std::string> DefaultLabels(std::string_view decoder_type, std::span<const std::vector<int64_t>> outputs);

}  // namespace npustream::serving
