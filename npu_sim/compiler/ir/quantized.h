#pragma once

#include "npu_sim/compiler/ir/rewrite.h"

namespace npustream::compiler {

// What passes ask about integers that stand for real numbers. Real tensors are made of them by Dequantize nodes, and
// become them by Quantize nodes; passes put operators on integers in place of Dequantize – operator – Quantize.

// The integers that the real tensor `id` is made of; kNoTensor when it is not made by a Dequantize.
om::TensorId IntegersOf(const om::Graph& graph, const Uses& uses, om::TensorId id);

// The Quantize node that is the only reader of `id`, by index; −1 when there is none.
int QuantizedOnlyBy(const om::Graph& graph, const Uses& uses, om::TensorId id);

// Whether a tensor is uint8 with one scale.
bool IsByteTensor(const om::Tensor& tensor);
// Whether the integers of two such tensors mean the same.
bool SameQuantization(const om::Tensor& a, const om::Tensor& b);

// Whether an operator's results' elements are elements of its first input (Concat: of any input), so that it is the same
// on integers.
bool PicksElements(const om::Node& node);

}  // namespace npustream::compiler
