// Every elementwise operator of one input.
#include <algorithm>
#include <cmath>
#include <functional>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

using Scalar = float (*)(float);

// Functions that are too rare for vector code.
Scalar FindScalar(std::string_view op) {
  if (op == "Log") return [](float x) { return std::log(x); };
  if (op == "Sin") return [](float x) { return std::sin(x); };
  if (op == "Cos") return [](float x) { return std::cos(x); };
  if (op == "Tan") return [](float x) { return std::tan(x); };
  if (op == "Acos") return [](float x) { return std::acos(x); };
  if (op == "Acosh") return [](float x) { return std::acosh(x); };
  if (op == "Asin") return [](float x) { return std::asin(x); };
  if (op == "Asinh") return [](float x) { return std::asinh(x); };
  if (op == "Atanh") return [](float x) { return std::atanh(x); };
  if (op == "Cosh") return [](float x) { return std::cosh(x); };
  if (op == "Sinh") return [](float x) { return std::sinh(x); };
  if (op == "Atan") return [](float x) { return std::atan(x); };
  if (op == "Sign") return [](float x) { return static_cast<float>((x > 0) - (x < 0)); };
  if (op == "Softsign") return [](float x) { return x / (1 + std::fabs(x)); };
  return nullptr;
}

bool IsWhole(om::DataType type) { return type == om::DataType::kInt64 || type == om::DataType::kInt32; }

bool IsInteger(om::DataType type) {
  return type != om::DataType::kFloat32 && type != om::DataType::kDouble && type != om::DataType::kFloat16 &&
         type != om::DataType::kBFloat16 && type != om::DataType::kBool;
}

template <typename T>
std::unique_ptr<Executor> WholeExecutor(const std::string& op, size_t count) {
  return MakeExecutor([count, negate = op == "Neg", keep = op == "Identity"](const Arguments& a) {
    for (size_t i = 0; i < count; ++i) {
      const T x = In<T>(a, 0)[i];
      Out<T>(a)[i] = keep || (x >= 0 && !negate) ? x : Wrapping(T{0}, x, std::minus<>());
    }
  });
}

class Unary final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
    NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, problem.inputs[0].dims));
    const std::string& op = problem.node->op;
    if (op == "Not" || op == "Identity" || op == "BitwiseNot") {
      if (problem.inputs[0].type != problem.outputs[0].type) return Invalid("types differ");
      if (op == "BitwiseNot" && !IsInteger(problem.inputs[0].type))
        return Unsupported("type {}", om::ToString(problem.inputs[0].type));
      if (op == "Not" && problem.inputs[0].type != om::DataType::kBool)
        return Invalid("Not of a {}", om::ToString(problem.inputs[0].type));
      return {};
    }
    if (IsWhole(problem.inputs[0].type) && problem.inputs[0].type == problem.outputs[0].type &&
        (op == "Neg" || op == "Abs"))
      return {};
    NPUSTREAM_RETURN_IF_ERROR(RequireFloat(problem));
    if (!ActivationOfOperator(op, *problem.node) && !FindScalar(op)) return Unsupported("unknown function {}", op);
    return {};
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, std::string("vector ") + ToString(problem.isa));
    if (problem.inputs[0].type == om::DataType::kFloat32)
      choice.inputs[0] = choice.outputs[0] = problem.inputs[0].layout;
    choice.in_place_input = 0;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    const TensorInfo& x = problem.inputs[0];
    if (x.layout != problem.outputs[0].layout) return Invalid("layouts differ");
    const std::string& op = problem.node->op;
    if (x.type != om::DataType::kFloat32) return PrepareOther(problem);
    const size_t count = StoredCount(x);
    const auto activation = ActivationOfOperator(op, *problem.node);
    if (!activation) {
      return MakeExecutor([=, function = FindScalar(op), dims = x.dims, layout = x.layout](const Arguments& a) {
        for (size_t i = 0; i < count; ++i) Out<float>(a)[i] = function(In<float>(a, 0)[i]);
        ClearPadding(Out<float>(a), dims, layout);
      });
    }
    const auto function = SimdFor(problem.isa).unary[static_cast<int>(activation->op)];
    const bool clear = !KeepsZero(*activation);
    return MakeExecutor([=, act = *activation, dims = x.dims, layout = x.layout](const Arguments& a) {
      function(In<float>(a, 0), Out<float>(a), count, act.a, act.b);
      if (clear) ClearPadding(Out<float>(a), dims, layout);
    });
  }

 private:
  static Result<std::unique_ptr<Executor>> PrepareOther(const Problem& problem) {
    const TensorInfo& x = problem.inputs[0];
    const auto count = static_cast<size_t>(om::ElementCount(x.dims));
    const std::string& op = problem.node->op;
    if (op == "Not") {
      return MakeExecutor([count](const Arguments& a) {
        for (size_t i = 0; i < count; ++i) Out<uint8_t>(a)[i] = !In<uint8_t>(a, 0)[i];
      });
    }
    if (op == "BitwiseNot") {
      return MakeExecutor([bytes = x.Bytes()](const Arguments& a) {
        for (size_t i = 0; i < bytes; ++i) a.outputs[0][i] = ~a.inputs[0][i];
      });
    }
    if (op == "Identity") {
      return MakeExecutor([bytes = x.Bytes()](const Arguments& a) {
        if (a.inputs[0] != a.outputs[0]) std::copy_n(a.inputs[0], bytes, a.outputs[0]);
      });
    }
    if (x.type == om::DataType::kInt64) return WholeExecutor<int64_t>(op, count);
    return WholeExecutor<int32_t>(op, count);
  }
};

}  // namespace

const Kernel* UnaryKernel() {
  static const Unary kernel;
  return &kernel;
}

}  // namespace npustream::kernels
