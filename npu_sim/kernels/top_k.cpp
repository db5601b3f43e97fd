// TopK along one axis: the greatest (or least) values in order with their places; of equals the first counts first.
#include <algorithm>
#include <numeric>

#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

// Row-major views: [outer][axis][inner].
struct TopKShape {
  int64_t outer, size, inner, k;
  bool largest;
};

// `places` takes as many entries as the axis is long.
template <typename T>
void TopK(const TopKShape& s, const Arguments& a) {
  auto* const places = reinterpret_cast<int64_t*>(a.scratch);
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t i = 0; i < s.inner; ++i) {
      const T* x = In<T>(a, 0) + o * s.size * s.inner + i;
      const auto before = [&](int64_t p, int64_t q) {
        const T left = x[p * s.inner], right = x[q * s.inner];
        if (left != right) return s.largest ? left > right : left < right;
        return p < q;
      };
      std::iota(places, places + s.size, 0);
      std::partial_sort(places, places + s.k, places + s.size, before);
      for (int64_t k = 0; k < s.k; ++k) {
        const int64_t at = (o * s.k + k) * s.inner + i;
        Out<T>(a, 0)[at] = x[places[k] * s.inner];
        Out<int64_t>(a, 1)[at] = places[k];
      }
    }
  }
}

class TopKOperator final : public Kernel {
 public:
  Status Check(const Problem& problem) const override { return Read(problem).status(); }

  Result<Choice> Choose(const Problem& problem) const override {
    NPUSTREAM_ASSIGN_OR_RETURN(const TopKShape s, Read(problem));
    Choice choice = PlainChoice(problem, "plain");
    choice.scratch_bytes = ScratchBytes(s);
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const TopKShape s, Read(problem));
    if (problem.scratch_bytes < ScratchBytes(s)) return Invalid("the scratch buffer is too small");
    if (problem.inputs[0].type == om::DataType::kInt64)
      return MakeExecutor([s](const Arguments& a) { TopK<int64_t>(s, a); });
    return MakeExecutor([s](const Arguments& a) { TopK<float>(s, a); });
  }

 private:
  static size_t ScratchBytes(const TopKShape& s) { return static_cast<size_t>(s.size) * sizeof(int64_t); }

  static Result<TopKShape> Read(const Problem& problem) {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 1, 1, 2));
    const TensorInfo& x = problem.inputs[0];
    if (x.type != om::DataType::kFloat32 && x.type != om::DataType::kInt64)
      return Unsupported("type {}", om::ToString(x.type));
    if (problem.outputs[0].type != x.type || problem.outputs[1].type != om::DataType::kInt64)
      return Invalid("results of another type");
    NPUSTREAM_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(om::GetInt(*problem.node, "axis", -1), x.dims.size()));
    const auto at = static_cast<size_t>(axis);
    om::Dims dims = x.dims;
    dims[at] = problem.outputs[0].dims.size() == dims.size() ? problem.outputs[0].dims[at] : -1;
    NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 0, dims));
    NPUSTREAM_RETURN_IF_ERROR(RequireOutputDims(problem, 1, dims));
    if (dims[at] < 0 || dims[at] > x.dims[at]) return Invalid("{} of {} values", dims[at], x.dims[at]);
    return TopKShape{om::ElementCount(om::Dims(dims.begin(), dims.begin() + axis)), x.dims[at],
                     om::ElementCount(om::Dims(dims.begin() + axis + 1, dims.end())), dims[at],
                     om::GetInt(*problem.node, "largest", 1) != 0};
  }
};

}  // namespace

const Kernel* TopKKernel() {
  static const TopKOperator kernel;
  return &kernel;
}

}  // namespace npustream::kernels
