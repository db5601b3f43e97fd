#pragma once

#include <map>
#include <memory>

#include "base/sha256.h"
#include "npu_sim/om/graph.h"
#include "npu_sim/om/native_plan.h"

namespace npustream::om {

// Lets graphs and plans that hold equal constants hold the same ones: the gears of a model have most weights in common.
class ConstantPool {
 public:
  void Share(Graph& graph);
  void Share(NativePlan& plan);

 private:
  std::map<Sha256Digest, std::shared_ptr<const Bytes>> tensors_;
  std::map<Sha256Digest, Blob> blobs_;
};

}  // namespace npustream::om
