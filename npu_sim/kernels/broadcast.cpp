#include "npu_sim/kernels/broadcast.h"

#include <algorithm>

namespace npustream::kernels {
namespace {

// Dimension `axis` of `dims` when it is aligned at the end with a shape of rank `rank`.
int64_t Aligned(const om::Dims& dims, size_t rank, size_t axis) {
  const size_t missing = rank - dims.size();
  return axis < missing ? 1 : dims[axis - missing];
}

}  // namespace

Status Broadcast::Check(const om::Dims& x, const om::Dims& y, const om::Dims& out) {
  bool fits = std::max(x.size(), y.size()) == out.size();
  for (size_t axis = 0; fits && axis < out.size(); ++axis) {
    const int64_t a = Aligned(x, out.size(), axis), b = Aligned(y, out.size(), axis);
    fits = (a == b || a == 1 || b == 1) && out[axis] == (a == 1 ? b : a);
  }
  if (fits) return {};
  return Invalid("{} and {} do not broadcast to {}", DimsText(x), DimsText(y), DimsText(out));
}

Broadcast::Broadcast(const om::Dims& x, const om::Dims& y, const om::Dims& out) {
  const size_t rank = out.size();
  int64_t x_stride = 1, y_stride = 1, out_stride = 1;
  std::vector<Axis> reversed;
  for (size_t axis = rank; axis-- > 0;) {
    const int64_t a = Aligned(x, rank, axis), b = Aligned(y, rank, axis), count = out[axis];
    const Axis next{count, a == 1 ? 0 : x_stride, b == 1 ? 0 : y_stride, out_stride};
    x_stride *= a;
    y_stride *= b;
    out_stride *= count;
    if (count == 0) empty_ = true;
    if (count == 1) continue;
    const bool joins = !reversed.empty() && next.x == reversed.back().x * reversed.back().count &&
                       next.y == reversed.back().y * reversed.back().count;
    if (joins) {
      reversed.back().count *= count;
    } else {
      reversed.push_back(next);
    }
  }
  if (reversed.empty()) reversed.push_back({1, 0, 0, 1});
  axes_.assign(reversed.rbegin(), reversed.rend());
}

}  // namespace npustream::kernels
