// Lookup, an operator of the compiler's own: y = table[x], byte by byte. Whatever happens to a quantised tensor element
// by element, and ends quantised again, is one.
#include <cstring>

#include "npu_sim/kernels/activation.h"
#include "npu_sim/kernels/operators.h"
#include "npu_sim/kernels/simd/simd.h"
#include "npu_sim/kernels/support.h"

namespace npustream::kernels {
namespace {

class Lookup final : public Kernel {
 public:
  Status Check(const Problem& problem) const override {
    NPUSTREAM_RETURN_IF_ERROR(RequireArity(problem, 2, 2));
    const TensorInfo &x = problem.inputs[0], &table = problem.inputs[1], &y = problem.outputs[0];
    if (x.type != om::DataType::kUInt8 || y.type != om::DataType::kUInt8)
      return Unsupported("only uint8 is looked up");
    if (table.type != om::DataType::kUInt8 || !table.is_constant || om::ElementCount(table.dims) != 256)
      return Invalid("the table is not 256 constant bytes");
    return RequireOutputDims(problem, 0, x.dims);
  }

  Result<Choice> Choose(const Problem& problem) const override {
    Choice choice = PlainChoice(problem, std::string("table ") + ToString(problem.isa));
    choice.inputs[0] = choice.outputs[0] = problem.inputs[0].layout;
    choice.in_place_input = 0;
    return choice;
  }

  Result<std::unique_ptr<Executor>> Prepare(const Problem& problem) const override {
    if (problem.inputs[0].layout != problem.outputs[0].layout) return Invalid("layouts differ");
    return MakeExecutor([look_up = SimdFor(problem.isa).look_up, n = StoredCount(problem.outputs[0])](
                            const Arguments& a) { look_up(In<uint8_t>(a, 0), Out<uint8_t>(a), n, In<uint8_t>(a, 1)); });
  }
};

}  // namespace

const Kernel* LookupKernel() {
  static const Lookup kernel;
  return &kernel;
}

}  // namespace npustream::kernels
