#include "npu_sim/compiler/ir/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace npustream::compiler {

Status CheckDims(const om::Dims& dims, om::DataType type) {
  const auto refuse = [&](const char* why) {
    return Status(StatusCode::kInvalidArgument, fmt::format("has the shape [{}], {}", fmt::join(dims, ","), why));
  };
  if (dims.size() > kMaxRank) return refuse("of more than 8 dimensions");
  int64_t bytes = static_cast<int64_t>(om::SizeOf(type));
  for (const int64_t dim : dims) {
    if (dim < 0) return refuse("with a negative dimension");
    if (dim > 0 && bytes > kMaxTensorBytes / dim) return refuse("larger than any tensor may be (16 GiB)");
    if (dim > 0) bytes *= dim;
  }
  return {};
}

}  // namespace npustream::compiler
