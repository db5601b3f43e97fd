// Operators of extension libraries (npu_sim/extension). Their tensors are plain.
#include "npu_sim/extension/custom_operator.h"
#include "npu_sim/extension/registry.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

Result<const NpustreamOperator*> FindCustom(const om::Node& node) {
  const NpustreamOperator* op = extension::FindOperator(node.op);
  if (op) return op;
  return Unsupported(
      "operator {} is in no extension library that is loaded; name its library in NPUSTREAM_EXTENSIONS", node.op);
}

Result<std::vector<NpustreamTensor>> Describe(const std::vector<TensorInfo>& tensors) {
  std::vector<NpustreamTensor> result;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.absent) {
      result.push_back(extension::AbsentTensor());
      continue;
    }
    const void* data = tensor.constant.empty() ? nullptr : tensor.constant.data();
    NPUSTREAM_ASSIGN_OR_RETURN(result.emplace_back(), extension::TensorOf("", tensor.type, tensor.dims, data));
  }
  return result;
}

class CustomExecutor final : public Executor {
 public:
  CustomExecutor(const NpustreamOperator& op, om::Node node, std::vector<NpustreamTensor> inputs,
                 std::vector<NpustreamTensor> outputs)
      : op_(op),
        node_(std::move(node)),
        attributes_(extension::AttributesOf(node_)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)) {}

  Status Run(const Arguments& a) override {
    const auto* inputs = reinterpret_cast<const void* const*>(a.inputs);
    const char* sentence = op_.run(&attributes_, inputs_.data(), inputs, static_cast<int32_t>(inputs_.size()),
                                   outputs_.data(), reinterpret_cast<void* const*>(a.outputs));
    if (!sentence) return {};
    return Status(StatusCode::kInternal, fmt::format("operator {} failed: {}", node_.op, sentence));
  }

 private:
  const NpustreamOperator& op_;
  const om::Node node_;
  const NpustreamAttributes attributes_;
  const std::vector<NpustreamTensor> inputs_, outputs_;
};

class Custom final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const NpustreamOperator* op, FindCustom(*problem.node));
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<NpustreamTensor> inputs, Describe(problem.inputs));
    NPUSTREAM_ASSIGN_OR_RETURN(const auto results, extension::Infer(*op, *problem.node, inputs));
    if (results.size() != problem.outputs.size()) return Invalid("{} results", problem.outputs.size());
    for (size_t i = 0; i < results.size(); ++i) {
      if (problem.outputs[i].absent) return Unsupported("a result was left out");
      if (problem.outputs[i].type != results[i].type) return Invalid("result {} has another type", i);
      NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, i, results[i].dims));
    }
    return {};
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const NpustreamOperator* op, FindCustom(*problem.node));
    NPUSTREAM_ASSIGN_OR_RETURN(std::vector<NpustreamTensor> inputs, Describe(problem.inputs));
    NPUSTREAM_ASSIGN_OR_RETURN(std::vector<NpustreamTensor> outputs, Describe(problem.outputs));
    return std::unique_ptr<Executor>(
        std::make_unique<CustomExecutor>(*op, *problem.node, std::move(inputs), std::move(outputs)));
  }
};

}  // namespace

const Kernel* CustomKernel() {
  static const Custom kernel;
  return &kernel;
}

}  // namespace npustream::kernels
