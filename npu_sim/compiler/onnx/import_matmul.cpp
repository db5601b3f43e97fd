#include <fmt/format.h>
#include <fmt/ranges.h>

#include "npu_sim/compiler/onnx/import_shapes.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {

Status ImportGemm(ImportContext& context) {
  const om::Dims &a = context.Dims(0), &b = context.Dims(1);
  if (a.size() != 2 || b.size() != 2) return context.Error("its inputs are not matrices");
  const int64_t trans_a = context.Int("transA", 0) != 0, trans_b = context.Int("transB", 0) != 0;
  const int64_t rows = a[trans_a], depth_a = a[1 - trans_a], depth_b = b[trans_b], columns = b[1 - trans_b];
  if (depth_a != depth_b) {
    return context.Error(
        fmt::format("matrices [{}] and [{}] cannot be multiplied", fmt::join(a, ","), fmt::join(b, ",")));
  }
  om::Dims dims = {rows, columns};
  std::vector<om::TensorId> inputs = {context.InputId(0), context.InputId(1)};
  if (context.HasInput(2)) {
    if (BroadcastDims(context.Dims(2), dims) != dims) return context.Error("the bias does not fit the result");
    inputs.push_back(context.InputId(2));
  }
  const om::Attributes attributes = {{"alpha", context.Float("alpha", 1)},
                                     {"beta", context.Float("beta", 1)},
                                     {"transA", trans_a},
                                     {"transB", trans_b}};
  return context.Output("Gemm", std::move(inputs), attributes, std::move(dims));
}

Status ImportMatMul(ImportContext& context) {
  om::Dims a = context.Dims(0), b = context.Dims(1);
  if (a.empty() || b.empty()) return context.Error("its inputs must not be scalars");
  const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
  if (vector_a) a.insert(a.begin(), 1);
  if (vector_b) b.push_back(1);
  const auto batch_dims = BroadcastDims({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!batch_dims || a.back() != b[b.size() - 2]) {
    return context.Error(fmt::format("[{}] and [{}] cannot be multiplied", fmt::join(context.Dims(0), ","),
                                     fmt::join(context.Dims(1), ",")));
  }
  om::Dims dims = *batch_dims;
  dims.push_back(a[a.size() - 2]);
  dims.push_back(b.back());
  const om::DataType type = context.Input(0).type;
  if (!vector_a && !vector_b) {
    return context.Output("MatMul", {context.InputId(0), context.InputId(1)}, {}, std::move(dims));
  }
  // Vectors become matrices of one row or column; the result loses that axis again.
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId left, context.Emit("Reshape", {context.InputId(0)}, {}, type, a));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId right, context.Emit("Reshape", {context.InputId(1)}, {}, type, b));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId product, context.Emit("MatMul", {left, right}, {}, type, dims));
  om::Dims result = *batch_dims;
  if (!vector_a) result.push_back(a[a.size() - 2]);
  if (!vector_b) result.push_back(b.back());
  return context.Output("Reshape", {product}, {}, std::move(result));
}

}  // namespace npustream::compiler
