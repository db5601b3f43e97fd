#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "npu_sim/om/graph.h"

// What libFuzzer, or the replay of the corpus, calls with every input. Each target defines it once.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace npustream::fuzz {

// Inputs that ask for more are refused by the target: a legitimate model may be large, and a fuzzer is after the others.
inline constexpr size_t kMaxBytes = size_t{16} << 20;

// Bytes of all tensors of a graph, up to kMaxBytes + 1.
inline size_t TensorBytes(const om::Graph& graph) {
  size_t bytes = 0;
  for (const om::Tensor& tensor : graph.tensors) {
    if (tensor.ByteSize() > kMaxBytes - bytes) return kMaxBytes + 1;
    bytes += tensor.ByteSize();
  }
  return bytes;
}

}  // namespace npustream::fuzz
