#pragma once

#include <cstdint>
#include <vector>

#include "npu_sim/kernels/support.h"

namespace npustream::kernels {

// Walks two inputs of a broadcasting operator along the result's elements; neighbouring axes that behave alike are
// joined, so that the innermost row is long.
class Broadcast {
 public:
  struct Row {
    int64_t count, x_stride, y_stride;  // elements; the result's stride is 1
  };

  // kInvalidArgument unless `x` and `y` broadcast to `out`.
  static Status Check(const om::Dims& x, const om::Dims& y, const om::Dims& out);
  // `out` may be larger than what the two broadcast to.
  Broadcast(const om::Dims& x, const om::Dims& y, const om::Dims& out);

  // function(index in x, index in y, index in the result, Row) per innermost row.
  template <typename Function>
  void ForEachRow(Function function) const {
    if (!empty_) Walk(0, 0, 0, 0, function);
  }
  // function(index in x, index in y, index in the result) per element.
  template <typename Function>
  void ForEach(Function function) const {
    ForEachRow([&](int64_t i, int64_t j, int64_t k, const Row& row) {
      for (int64_t n = 0; n < row.count; ++n) function(i + n * row.x_stride, j + n * row.y_stride, k + n);
    });
  }

 private:
  struct Axis {
    int64_t count, x, y, out;
  };

  template <typename Function>
  void Walk(size_t axis, int64_t i, int64_t j, int64_t k, Function& function) const {
    const Axis& a = axes_[axis];
    if (axis + 1 == axes_.size()) return function(i, j, k, Row{a.count, a.x, a.y});
    for (int64_t n = 0; n < a.count; ++n) Walk(axis + 1, i + n * a.x, j + n * a.y, k + n * a.out, function);
  }

  std::vector<Axis> axes_;  // the last one has the result's stride 1
  bool empty_ = false;
};

}  // namespace npustream::kernels
