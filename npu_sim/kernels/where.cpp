// Where: condition ? x : y with broadcasting, for every type.
#include "npu_sim/kernels/broadcast.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

class Where final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 3, 3));
    const om::DataType type = problem.outputs[0].type;
    if (problem.inputs[0].type != om::DataType::kBool || problem.inputs[1].type != type ||
        problem.inputs[2].type != type)
      return Invalid("types differ");
    const om::Dims& out = problem.outputs[0].dims;
    for (const TensorInfo& input : problem.inputs) NPUSTREAM_RETURN_IF_ERROR(Broadcast::Check(out, input.dims, out));
    return {};
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequirePlain(problem));
    const om::Dims& out = problem.outputs[0].dims;
    const Broadcast x(problem.inputs[0].dims, problem.inputs[1].dims, out);
    // The condition steers twice: once it lets x through, once y.
    const Broadcast y(problem.inputs[0].dims, problem.inputs[2].dims, out);
    switch (om::SizeOf(problem.outputs[0].type)) {
      case 1: return Select<uint8_t>(x, y);
      case 2: return Select<uint16_t>(x, y);
      case 4: return Select<uint32_t>(x, y);
      default: return Select<uint64_t>(x, y);
    }
  }

 private:
  template <typename T>
  static std::unique_ptr<Executor> Select(const Broadcast& x, const Broadcast& y) {
    return MakeExecutor([=](const Arguments& a) {
      const auto pass = [&](const Broadcast& broadcast, size_t input, bool wanted) {
        broadcast.ForEachRow([&](int64_t c, int64_t from, int64_t to, const Broadcast::Row& row) {
          SelectRow(In<uint8_t>(a, 0) + c, In<T>(a, input) + from, Out<T>(a) + to, row, wanted);
        });
      };
      pass(x, 1, true);
      pass(y, 2, false);
    });
  }

  // Without branches, as a condition may change from element to element.
  template <typename T>
  static void SelectRow(const uint8_t* condition, const T* from, T* to, const Broadcast::Row& row, bool wanted) {
    if (row.x_stride == 0) {
      if ((*condition != 0) != wanted) return;
      for (int64_t i = 0; i < row.count; ++i) to[i] = from[i * row.y_stride];
      return;
    }
    if (row.x_stride == 1 && row.y_stride == 1) {
      for (int64_t i = 0; i < row.count; ++i) to[i] = (condition[i] != 0) == wanted ? from[i] : to[i];
      return;
    }
    for (int64_t i = 0; i < row.count; ++i) {
      const T value = from[i * row.y_stride];
      to[i] = (condition[i * row.x_stride] != 0) == wanted ? value : to[i];
    }
  }
};

}  // namespace

const Kernel* WhereKernel() {
  static const Where kernel;
  return &kernel;
}

}  // namespace npustream::kernels
