#include "npu_sim/om/native_plan.h"

namespace npustream::om {

const char* ToString(Layout layout) {
  switch (layout) {
    case Layout::kPlain: return "plain";
    case Layout::kBlocked8: return "blocked8";
    case Layout::kBlocked16: return "blocked16";
    case Layout::kBlocked4: return "blocked4";
  }
  return "unknown";
}

int64_t BlockOf(Layout layout) {
  switch (layout) {
    case Layout::kPlain: return 1;
    case Layout::kBlocked8: return 8;
    case Layout::kBlocked16: return 16;
    case Layout::kBlocked4: return 4;
  }
  return 1;
}

size_t LayoutBytes(DataType type, const Dims& dims, Layout layout) {
  const int64_t block = BlockOf(layout);
  int64_t count = 1;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    count *= axis == 1 ? (dims[axis] + block - 1) / block * block : dims[axis];
  }
  return static_cast<size_t>(count) * SizeOf(type);
}

Blob MakeBlob(Bytes bytes) {
  auto owner = std::make_shared<const Bytes>(std::move(bytes));
  const std::span<const std::byte> view(*owner);
  return Blob{std::move(owner), view};
}

}  // namespace npustream::om
