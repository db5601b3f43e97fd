#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz.h"

namespace npustream::fuzz {

void Require(bool holds, const char* promise, const char* detail) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s (%s)\n", promise, detail);
  std::abort();
}

}  // namespace npustream::fuzz
