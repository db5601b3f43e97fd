#include "npu_sim/om/constant_pool.h"

namespace npustream::om {

void ConstantPool::Share(Graph& graph) {
  for (Tensor& tensor : graph.tensors) {
    if (tensor.constant) tensor.constant = tensors_.try_emplace(Sha256(*tensor.constant), tensor.constant).first->second;
  }
}

void ConstantPool::Share(NativePlan& plan) {
  for (Blob& blob : plan.constants) blob = blobs_.try_emplace(Sha256(blob.bytes), blob).first->second;
}

}  // namespace npustream::om
