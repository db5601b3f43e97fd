#pragma once

#include <set>
#include <string>

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::compiler {

// Which results a device would compute in a type shorter than float32.
struct Precision {
  enum class Scope {
    // What Conv, ConvTranspose, Gemm, MatMul, Attention and recurrences multiply; their results stay float32.
    kMatrixOperands,
    kMatrices,  // these operators as a whole
    kAll,       // every operator
  };
  om::DataType type = om::DataType::kFloat32;  // float16 or bfloat16; float32: nothing is lowered
  Scope scope = Scope::kAll;
  // Nodes, by their names or by those of their results, that stay in float32. What an importer makes on the way to a
  // result ("y.1" for "y") stays with it.
  std::set<std::string> kept;
  std::set<std::string> kept_ops;  // operators that stay in float32
  // bfloat16 only: nothing is rounded in the graph; convolutions are marked for kernels that compute in bfloat16, on CPUs
  // that have them (AMX), and in float32 on others.
  bool by_kernels = false;
};

// Rounds constants, operands and results of the operators that `precision` lowers to values of its type. They are still
// stored and summed as float32, so that the graph shows a device's accuracy and not its speed.
Status LowerPrecision(om::Graph& graph, const Precision& precision);

}  // namespace npustream::compiler
