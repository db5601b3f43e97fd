#pragma once

#include <filesystem>

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::apps {

// A tensor as NumPy's .npy holds it (format version 1.0, little endian, C order).
struct NpyArray {
  om::DataType type = om::DataType::kFloat32;
  om::Dims dims;
  om::Bytes content;
};

// kUnsupported for Fortran order, big endian and element types that no tensor has; kCorruptData for what is no .npy.
Result<NpyArray> ReadNpy(const std::filesystem::path& path);
Status WriteNpy(const std::filesystem::path& path, const NpyArray& array);

}  // namespace npustream::apps
