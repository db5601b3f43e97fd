// Where: condition ? x : y with broadcasting, for every type.
#include <cstring>

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
    const size_t element = om::SizeOf(problem.outputs[0].type);
    return MakeExecutor([=](const Arguments& a) {
      const auto pass = [&](const Broadcast& broadcast, size_t input, bool wanted) {
        broadcast.ForEach([&](int64_t c, int64_t from, int64_t to) {
          if ((In<uint8_t>(a, 0)[c] != 0) != wanted) return;
          std::memcpy(a.outputs[0] + to * static_cast<int64_t>(element),
                      a.inputs[input] + from * static_cast<int64_t>(element), element);
        });
      };
      pass(x, 1, true);
      pass(y, 2, false);
    });
  }
};

}  // namespace

const Kernel* WhereKernel() {
  static const Where kernel;
  return &kernel;
}

}  // namespace npustream::kernels
