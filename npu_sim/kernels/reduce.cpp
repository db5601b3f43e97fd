// Reduce… over any axes (attribute axes; absent or empty: all), and means of blocked pictures.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

struct Plan {
  om::Dims kept, reduced;                              // sizes
  std::vector<int64_t> kept_strides, reduced_strides;  // elements of the input
};

Result<Plan> Read(const Problem& problem) {
  NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1));
  const om::Dims& x = problem.inputs[0].dims;
  const auto axes = om::GetInts(*problem.node, "axes");
  const bool keep = om::GetInt(*problem.node, "keepdims", 1) != 0;
  std::vector<bool> is_reduced(x.size(), axes.empty() && om::GetInt(*problem.node, "noop_with_empty_axes", 0) == 0);
  for (const int64_t axis : axes) {
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t normal, NormalAxis(axis, x.size()));
    is_reduced[normal] = true;
  }
  Plan plan;
  om::Dims expected;
  const auto strides = Strides(x);
  for (size_t axis = 0; axis < x.size(); ++axis) {
    (is_reduced[axis] ? plan.reduced : plan.kept).push_back(x[axis]);
    (is_reduced[axis] ? plan.reduced_strides : plan.kept_strides).push_back(strides[axis]);
    if (!is_reduced[axis]) expected.push_back(x[axis]);
    if (is_reduced[axis] && keep) expected.push_back(1);
  }
  if (om::ElementCount(plan.reduced) == 0) return Unsupported("reduction of an empty tensor");
  NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, expected));
  return plan;
}

// Offsets of all elements of a strided box, in row-major order.
std::vector<int64_t> Offsets(const om::Dims& dims, const std::vector<int64_t>& strides) {
  std::vector<int64_t> offsets = {0};
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * static_cast<size_t>(dims[axis]));
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < dims[axis]; ++i) next.push_back(offset + i * strides[axis]);
    }
    offsets = std::move(next);
  }
  return offsets;
}

template <typename Sum>
Sum Root(Sum sum) {
  const double root = std::sqrt(static_cast<double>(sum));
  if constexpr (std::is_integral_v<Sum>) {
    return ToWhole<Sum>(root);
  } else {
    return root;
  }
}

// Accumulates floats in double, whole numbers in their own type.
template <typename T, typename Sum>
std::unique_ptr<Executor> ReduceExecutor(const std::string& op, const Plan& plan) {
  const auto kept = Offsets(plan.kept, plan.kept_strides), reduced = Offsets(plan.reduced, plan.reduced_strides);
  return MakeExecutor([=](const Arguments& a) {
    const bool is_max = op == "ReduceMax", is_min = op == "ReduceMin", squares = op == "ReduceL2",
               prod = op == "ReduceProd", l1 = op == "ReduceL1";
    for (size_t i = 0; i < kept.size(); ++i) {
      const T* x = In<T>(a, 0) + kept[i];
      Sum sum = is_max || is_min ? static_cast<Sum>(x[0]) : prod ? 1 : 0;
      for (const int64_t offset : reduced) {
        const auto value = static_cast<Sum>(x[offset]);
        if (is_max)
          sum = std::max(sum, value);
        else if (is_min)
          sum = std::min(sum, value);
        else if (prod)
          sum = Wrapping(sum, value, std::multiplies<>());
        else if (squares)
          sum = Wrapping(sum, Wrapping(value, value, std::multiplies<>()), std::plus<>());
        else if (l1 && value < 0)
          sum = Wrapping(sum, value, std::minus<>());
        else
          sum = Wrapping(sum, value, std::plus<>());
      }
      if (op == "ReduceMean") sum /= static_cast<Sum>(reduced.size());
      if (squares) sum = Root(sum);
      Out<T>(a)[i] = static_cast<T>(sum);
    }
  });
}

// A mean over all pixels of each channel.
bool IsPictureMean(const Problem& problem) {
  const size_t rank = problem.inputs[0].dims.size();
  if (problem.node->op != "ReduceMean" || rank != 4 || problem.inputs[0].type != om::DataType::kFloat32) return false;
  if (om::GetInt(*problem.node, "keepdims", 1) == 0) return false;
  auto axes = om::GetInts(*problem.node, "axes");
  for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
  std::sort(axes.begin(), axes.end());
  return axes == std::vector<int64_t>{2, 3};
}

class Reduce final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    const om::DataType type = problem.inputs.empty() ? om::DataType::kFloat32 : problem.inputs[0].type;
    const bool known = type == om::DataType::kFloat32 || type == om::DataType::kInt64 || type == om::DataType::kInt32;
    NPUSTREAM_RETURN_IF_ERROR(Read(problem).status());
    if (!known || problem.outputs[0].type != type) return Unsupported("type {}", om::ToString(type));
    return {};
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, "plain");
    if (IsPictureMean(problem) && problem.inputs[0].layout != om::Layout::kPlain) {
      choice.inputs[0] = choice.outputs[0] = problem.inputs[0].layout;
      choice.implementation = std::string("vector ") + ToString(problem.isa);
    }
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    const TensorInfo& x = problem.inputs[0];
    if (IsPictureMean(problem) && x.layout != om::Layout::kPlain) {
      if (problem.outputs[0].layout != x.layout) return Invalid("layouts differ");
      om::Node pool;
      pool.op = "GlobalAveragePool";
      Problem same = problem;
      same.node = &pool;
      return PoolKernel()->Prepare(same);
    }
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Plan plan, Read(problem));
    const std::string& op = problem.node->op;
    if (x.type == om::DataType::kInt64) return ReduceExecutor<int64_t, int64_t>(op, plan);
    if (x.type == om::DataType::kInt32) return ReduceExecutor<int32_t, int64_t>(op, plan);
    return ReduceExecutor<float, double>(op, plan);
  }
};

}  // namespace

const Kernel* ReduceKernel() {
  static const Reduce kernel;
  return &kernel;
}

}  // namespace npustream::kernels
