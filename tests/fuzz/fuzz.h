#pragma once

#include <cstddef>
#include <cstdint>

// What libFuzzer, or the replay of the corpus, calls with every input. Each target defines these once.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Changes the input's meaning rather than its bytes: `data` has room for `max_size` bytes, the new size is returned.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed);
// libFuzzer's own changes of bytes; the replay has its own.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace npustream::fuzz {

// Ends the process, as a crash would, when something that a target promises does not hold.
void Require(bool holds, const char* promise, const char* detail = "");

}  // namespace npustream::fuzz
