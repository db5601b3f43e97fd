#include "npu_sim/om/om_model.h"

#include <algorithm>

namespace npustream::om {
namespace {

Dims CommonDims(const std::vector<Gear>& gears, std::vector<Dims> Gear::*side, size_t index) {
  Dims common = (gears.front().*side)[index];
  for (const Gear& gear : gears) {
    const Dims& dims = (gear.*side)[index];
    for (size_t axis = 0; axis < common.size(); ++axis) {
      if (dims[axis] != common[axis]) common[axis] = -1;
    }
  }
  return common;
}

}  // namespace

const char* ToString(Dynamic dynamic) {
  switch (dynamic) {
    case Dynamic::kNothing: return "nothing";
    case Dynamic::kBatch: return "batch";
    case Dynamic::kImageSize: return "image size";
    case Dynamic::kDims: return "dims";
  }
  return "unknown";
}

Dims OmInfo::InputDims(size_t index) const { return CommonDims(gears, &Gear::inputs, index); }
Dims OmInfo::OutputDims(size_t index) const { return CommonDims(gears, &Gear::outputs, index); }

std::optional<size_t> OmInfo::FindGear(std::span<const int64_t> values) const {
  const auto found = std::find_if(gears.begin(), gears.end(), [&](const Gear& gear) {
    return std::equal(values.begin(), values.end(), gear.values.begin(), gear.values.end());
  });
  if (found == gears.end()) return std::nullopt;
  return static_cast<size_t>(found - gears.begin());
}

size_t OmInfo::LargestGear() const {
  const auto bytes = [&](const Gear& gear) {
    double sum = 0;
    for (size_t i = 0; i < gear.inputs.size(); ++i)
      sum += static_cast<double>(ElementCount(gear.inputs[i])) * static_cast<double>(SizeOf(inputs[i].type));
    return sum;
  };
  const auto largest = std::max_element(gears.begin(), gears.end(),
                                        [&](const Gear& a, const Gear& b) { return bytes(a) < bytes(b); });
  return static_cast<size_t>(largest - gears.begin());
}

}  // namespace npustream::om
