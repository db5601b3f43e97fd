#pragma once

#include <cstdint>

namespace npustream::dvpp {

// pairs[2i] = u[i], pairs[2i + 1] = v[i] for i < count; nothing else is written.
void InterleaveRow(const uint8_t* u, const uint8_t* v, int count, uint8_t* pairs);
void InterleaveRowAvx2(const uint8_t* u, const uint8_t* v, int count, uint8_t* pairs);
void InterleaveRowAvx512(const uint8_t* u, const uint8_t* v, int count, uint8_t* pairs);

}  // namespace npustream::dvpp
