// Any bytes as an OM: as they are, and with size and checksum mended so that what lies behind them is reached. What the
// reader lets through is loaded and run.
#include <cstring>
#include <span>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_om.h"
#include "tests/fuzz/run_om.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace npustream;
  const auto bytes = std::as_bytes(std::span(data, size));
  om::Bytes file(bytes.begin(), bytes.end());
  static_cast<void>(fuzz::TryOm(file));
  const om::Bytes before = file;
  fuzz::MendOm(file);
  if (file != before) static_cast<void>(fuzz::TryOm(file));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  using namespace npustream;
  fuzz::Random random(seed);
  const auto bytes = std::as_bytes(std::span(data, size));
  om::Bytes file(bytes.begin(), bytes.end());
  if (random.OneIn(8) || !fuzz::MutateOm(file, random) || file.size() > max_size)
    return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, file.data(), file.size());
  return file.size();
}
