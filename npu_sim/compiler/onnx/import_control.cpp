// If.
#include <fmt/format.h>

#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/onnx/importers.h"

namespace npustream::compiler {
namespace {

using Results = std::vector<om::TensorId>;

// Both branches are computed and one is taken: possible where their results are alike.
Status OutputEither(ImportContext& context, const Results& then, const Results& otherwise) {
  const om::TensorId condition = context.InputId(0);
  if (om::ElementCount(context.Dims(0)) != 1) return context.Error("its condition is not a single value");
  for (size_t i = 0; i < then.size(); ++i) {
    if (!context.WantsOutput(i)) continue;
    const om::Dims dims = context.Tensor(then[i]).dims;
    const om::DataType type = context.Tensor(then[i]).type;
    if (context.Tensor(otherwise[i]).dims != dims || context.Tensor(otherwise[i]).type != type)
      return context.Unsupported("its condition is not constant, and its branches' results are not alike");
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId number, context.Emit("Reshape", {condition}, {}, om::DataType::kBool,
                                                                       om::Dims(dims.size(), 1)));
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId everywhere,
                               context.Emit("Expand", {number}, {}, om::DataType::kBool, dims));
    NPUSTREAM_ASSIGN_OR_RETURN(const om::TensorId taken,
                               context.Emit("Where", {everywhere, then[i], otherwise[i]}, {}, type, dims));
    NPUSTREAM_RETURN_IF_ERROR(context.Bind(i, taken));
  }
  return {};
}

// A branch's results, as many as the node has.
Result<Results> Branch(ImportContext& context, const char* name) {
  NPUSTREAM_ASSIGN_OR_RETURN(Results results, context.Branch(name));
  if (results.size() == context.node().outputs.size()) return results;
  return context.Error(fmt::format("its {} has {} results, not {}", name, results.size(),
                                   context.node().outputs.size()),
                       StatusCode::kCorruptData);
}

}  // namespace

Status ImportIf(ImportContext& context) {
  if (context.Input(0).type != om::DataType::kBool) return context.Error("its condition is not of type bool");
  if (context.Input(0).is_constant()) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<int64_t> condition, context.ConstantInts(0, "the condition"));
    if (condition.size() != 1) return context.Error("its condition is not a single value");
    NPUSTREAM_ASSIGN_OR_RETURN(const Results taken, Branch(context, condition[0] != 0 ? "then_branch" : "else_branch"));
    for (size_t i = 0; i < taken.size(); ++i) {
      if (context.WantsOutput(i)) NPUSTREAM_RETURN_IF_ERROR(context.Bind(i, taken[i]));
    }
    return {};
  }
  NPUSTREAM_ASSIGN_OR_RETURN(const Results then, Branch(context, "then_branch"));
  NPUSTREAM_ASSIGN_OR_RETURN(const Results otherwise, Branch(context, "else_branch"));
  return OutputEither(context, then, otherwise);
}

}  // namespace npustream::compiler
