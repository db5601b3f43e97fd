#include <fmt/format.h>
#include <fmt/ranges.h>

#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

// Reshape, transpose, reshape: how blocks of pixels and channels change places.
Status OutputRearranged(ImportContext& context, const om::Dims& split, const std::vector<int64_t>& perm,
                        om::Dims result) {
  om::Dims moved;
  for (const int64_t axis : perm) moved.push_back(split[static_cast<size_t>(axis)]);
  const om::DataType type = context.Input(0).type;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId parts, context.Emit("Reshape", {context.InputId(0)}, {}, type, split));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId swapped,
                             context.Emit("Transpose", {parts}, {{"perm", perm}}, type, std::move(moved)));
  return context.Output("Reshape", {swapped}, {}, std::move(result));
}

Result<int64_t> BlockSize(const ImportContext& context) {
  const int64_t block = context.Int("blocksize", 0);
  if (context.Rank(0) != 4 || block < 1 || block > 4096) {
    return context.Error(fmt::format("blocksize {} does not suit an input of {} dimensions", block, context.Rank(0)));
  }
  return block;
}

}  // namespace

Status ImportTranspose(ImportContext& context) {
  const om::Dims& x = context.Dims(0);
  std::vector<int64_t> perm = context.Ints("perm");
  if (!context.HasAttribute("perm")) {
    for (int64_t i = context.Rank(0) - 1; i >= 0; --i) perm.push_back(i);
  }
  std::vector<bool> seen(x.size());
  om::Dims dims;
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= context.Rank(0) || seen[static_cast<size_t>(axis)]) break;
    seen[static_cast<size_t>(axis)] = true;
    dims.push_back(x[static_cast<size_t>(axis)]);
  }
  if (perm.size() != x.size() || dims.size() != x.size()) {
    return context.Error(fmt::format("perm [{}] is no order of {} dimensions", fmt::join(perm, ","), x.size()));
  }
  return context.Output("Transpose", {context.InputId(0)}, {{"perm", perm}}, std::move(dims));
}

Status ImportDepthToSpace(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t b, BlockSize(context));
  const om::Dims& x = context.Dims(0);
  if (x[1] % (b * b) != 0) return context.Error(fmt::format("{} channels are no multiple of {}", x[1], b * b));
  const int64_t c = x[1] / (b * b), h = x[2], w = x[3];
  const om::Dims result = {x[0], c, h * b, w * b};
  const std::string mode = context.String("mode", "DCR");
  if (mode == "DCR") return OutputRearranged(context, {x[0], b, b, c, h, w}, {0, 3, 4, 1, 5, 2}, result);
  if (mode == "CRD") return OutputRearranged(context, {x[0], c, b, b, h, w}, {0, 1, 4, 2, 5, 3}, result);
  return context.Error(fmt::format("mode '{}' does not exist", mode));
}

Status ImportSpaceToDepth(ImportContext& context) {
  NPUSTREAM_ASSIGN_OR_RETURN(const int64_t b, BlockSize(context));
  const om::Dims& x = context.Dims(0);
  if (x[2] % b != 0 || x[3] % b != 0) return context.Error(fmt::format("the picture is no multiple of {}", b));
  const int64_t h = x[2] / b, w = x[3] / b;
  return OutputRearranged(context, {x[0], x[1], h, b, w, b}, {0, 3, 5, 1, 2, 4}, {x[0], x[1] * b * b, h, w});
}

}  // namespace npustream::compiler
