#pragma once

#include "dvpp/vpc/lookup.h"

namespace npustream::dvpp {

// Samples alternate between the tables: sample i uses tables[i mod channels]. `in` may be `out`.
void LookUpRow(const uint8_t* in, uint8_t* out, int count, const LookupTable* const* tables, int channels);
// The same for one or two channels.
void LookUpRowAvx512(const uint8_t* in, uint8_t* out, int count, const LookupTable* const* tables, int channels);

}  // namespace npustream::dvpp
