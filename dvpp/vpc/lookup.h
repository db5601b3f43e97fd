#pragma once

#include <array>
#include <cstdint>

#include "base/status.h"
#include "dvpp/cpu/simd.h"
#include "dvpp/picture/picture.h"

namespace npustream::dvpp {

using LookupTable = std::array<uint8_t, 256>;
// A table per channel: Y, U, V, or one per interleaved channel of a packed format.
using LookupTables = std::array<LookupTable, 3>;

// Writes tables[channel][value] of every sample of `source` to `target`, which may be the same picture. For formats
// with V before U the tables stay those of Y, U and V; a fourth channel (alpha) is copied. kInvalidArgument when format
// or size differ, kUnsupported for a format without layout.
Status LookUp(const PictureView& source, const LookupTables& tables, const PictureView& target, Simd simd = BestSimd());

}  // namespace npustream::dvpp
