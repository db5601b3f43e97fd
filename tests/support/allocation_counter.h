#pragma once

#include <cstdint>

namespace npustream::testing_support {

// How often this process has asked for heap memory so far (malloc and its family, and operator new through them), on
// all threads. Link tests/support/allocation_counter.cpp into the test program.
uint64_t AllocationCount();
// False under a sanitizer, which brings a malloc of its own; the count is 0 then.
bool AllocationsAreCounted();

}  // namespace npustream::testing_support
