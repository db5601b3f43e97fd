#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace npustream::testing_support {

// The folder of models, media and reference results that tests compare with: NPUSTREAM_TEST_DATA, else shared/data
// beside the repository.
inline std::filesystem::path TestDataFolder() {
  if (const char* folder = std::getenv("NPUSTREAM_TEST_DATA")) return folder;
  return std::filesystem::path(NPUSTREAM_SOURCE_DIR) / ".." / "shared" / "data";
}

}  // namespace npustream::testing_support

// Declares the path `variable` of a file of the test data, or skips the test, saying which file is absent.
#define NPUSTREAM_TEST_DATA_OR_SKIP(variable, relative)                                            \
  const std::filesystem::path variable = npustream::testing_support::TestDataFolder() / (relative); \
  if (!std::filesystem::exists(variable)) GTEST_SKIP() << "test data absent: " << variable
