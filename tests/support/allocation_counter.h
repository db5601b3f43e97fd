#pragma once

#include <cstdint>

namespace npustream::testing_support {

// How often this process has asked for heap memory so far (malloc and its family, and operator new through them), on
// all threads. Link tests/support/allocation_counter.cpp into the test program. Always 0 under a sanitizer, which
// brings its own malloc.
uint64_t AllocationCount();

}  // namespace npustream::testing_support
