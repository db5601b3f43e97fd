// replay [-rounds=N] [-seed=S] FILE|FOLDER…: what libFuzzer does, for compilers without it. Every file goes to the target:
// whole, cut at some hundred places, with some hundred bytes altered, and changed in its meaning N times (200) by the
// target's own mutator. A fault ends the process and leaves the input behind as replay-<target>.bin, and so do an input that
// takes longer than kSeconds and, outside of sanitizers, one that wants more memory than kMemory.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace {

using Input = std::vector<uint8_t>;

constexpr size_t kCuts = 200;
constexpr int kAlterations = 400;
constexpr unsigned kSeconds = 60;
constexpr rlim_t kMemory = rlim_t{3} << 30;
constexpr size_t kMostBytes = 1 << 20;

Input current;            // what the target is working on
std::string current_name;

void KeepInput(int signal) {
  std::ofstream("replay-" + current_name + ".bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(current.data()), static_cast<std::streamsize>(current.size()));
  std::fprintf(stderr, "%s: signal %d; the input is in replay-%s.bin\n", current_name.c_str(), signal, current_name.c_str());
  _exit(1);
}

void Limit() {
  for (const int signal_number : {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(signal_number, KeepInput);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit = {kMemory, kMemory};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

void Try(Input input) {
  current = std::move(input);
  alarm(kSeconds);
  // As large as it says: whoever reads beyond it is found.
  LLVMFuzzerTestOneInput(current.data(), current.size());
  alarm(0);
}

// One bit, or one byte: flags and lengths differ by bits, dims and counts by more.
void AlterByte(Input& input, std::mt19937& random) {
  uint8_t& byte = input[random() % input.size()];
  byte = random() % 2 == 0 ? static_cast<uint8_t>(byte ^ (1u << random() % 8)) : static_cast<uint8_t>(random());
}

void Replay(const Input& whole, int rounds, uint32_t seed) {
  Try(whole);
  const size_t step = std::max<size_t>(whole.size() / kCuts, 1);
  for (size_t size = 0; size < whole.size(); size += step)
    Try(Input(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
  std::mt19937 random(seed);
  for (int i = 0; i < kAlterations && !whole.empty(); ++i) {
    Input altered = whole;
    AlterByte(altered, random);
    Try(std::move(altered));
  }
  for (int i = 0; i < rounds; ++i) {
    Input changed = whole;
    changed.resize(kMostBytes);
    size_t size = whole.size();
    // Some changes upon changes.
    for (int depth = i % 3; depth >= 0 && size <= kMostBytes; --depth)
      size = LLVMFuzzerCustomMutator(changed.data(), size, kMostBytes, static_cast<unsigned>(random()));
    changed.resize(size);
    changed.shrink_to_fit();
    Try(std::move(changed));
  }
}

void AddFiles(const std::filesystem::path& path, std::vector<std::filesystem::path>& files) {
  if (!std::filesystem::is_directory(path)) return files.push_back(path);
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
}

}  // namespace

extern "C" const char* __asan_default_options() { return "abort_on_error=1:max_allocation_size_mb=4096:hard_rss_limit_mb=4096"; }
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t) {
  if (size == 0) return 0;
  Input input(data, data + size);
  std::mt19937 random(static_cast<uint32_t>(size) * 31 + data[size / 2]);
  AlterByte(input, random);
  std::memcpy(data, input.data(), size);
  return size;
}

int main(int argc, char** argv) {
  int rounds = 200;
  uint32_t seed = 20240607;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("-rounds=")) rounds = std::atoi(argv[i] + 8);
    else if (argument.starts_with("-seed=")) seed = static_cast<uint32_t>(std::atol(argv[i] + 6));
    else AddFiles(argv[i], files);
  }
  std::sort(files.begin(), files.end());
  Limit();
  for (const auto& path : files) {
    std::fprintf(stderr, "%s\n", path.filename().c_str());
    current_name = path.filename().string();
    std::ifstream file(path, std::ios::binary);
    Replay({std::istreambuf_iterator<char>(file), {}}, rounds, seed);
  }
  return files.empty() ? 1 : 0;
}
