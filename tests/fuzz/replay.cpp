// replay FOLDER: what libFuzzer does, for compilers without it. Every file of the folder goes to the target: whole, cut
// at some hundred places, and with some hundred bytes altered (fixed seed). A fault ends the process.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace {

constexpr size_t kCuts = 200;
constexpr int kAlterations = 400;

void Replay(const std::vector<uint8_t>& bytes) {
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  const size_t step = std::max<size_t>(bytes.size() / kCuts, 1);
  for (size_t size = 0; size < bytes.size(); size += step) {
    const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    LLVMFuzzerTestOneInput(cut.data(), cut.size());
  }
  std::mt19937 random(20240607);
  for (int i = 0; i < kAlterations && !bytes.empty(); ++i) {
    std::vector<uint8_t> altered = bytes;
    // One bit, or one byte: flags and lengths differ by bits, dims and counts by more.
    uint8_t& byte = altered[random() % altered.size()];
    byte = i % 2 == 0 ? static_cast<uint8_t>(byte ^ (1u << random() % 8)) : static_cast<uint8_t>(random());
    LLVMFuzzerTestOneInput(altered.data(), altered.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::fprintf(stderr, "%s\n", path.filename().c_str());
    std::ifstream file(path, std::ios::binary);
    Replay({std::istreambuf_iterator<char>(file), {}});
  }
  return files.empty() ? 1 : 0;
}
