#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "npu_sim/om/graph.h"

namespace npustream::om {

// How a tensor lies in memory. Blocked layouts take the second axis (channels) in groups of 4, 8 or 16 which are stored
// innermost: [n][c/16][h][w][16]. The channels that fill up the last group are zero for real numbers and anything for
// quantised ones. Groups of 4 are for pictures in bytes.
enum class Layout : uint8_t { kPlain = 0, kBlocked8 = 1, kBlocked16 = 2, kBlocked4 = 3 };

const char* ToString(Layout layout);
// Channels in a group: 1, 4, 8 or 16.
int64_t BlockOf(Layout layout);
// Bytes that a tensor takes in `layout`, padding channels included. Dims must have been checked for overflow.
size_t LayoutBytes(DataType type, const Dims& dims, Layout layout);

// Read-only bytes together with what keeps them alive.
struct Blob {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};
Blob MakeBlob(Bytes bytes);

// A stretch of the arena that is used for one purpose during [first_step, last_step]; buffers whose lifetimes are
// disjoint may share addresses.
struct NativeBuffer {
  uint64_t offset = 0;  // bytes from the arena's start, 64-byte aligned
  uint64_t bytes = 0;
  int32_t first_step = 0;
  int32_t last_step = 0;
};

enum class Place : uint8_t { kBuffer = 0, kConstant = 1, kInput = 2, kOutput = 3 };

// A tensor of the lowered plan. Several may lie in one buffer: parts of a join, views, results computed in place.
struct NativeValue {
  std::string name;
  DataType type = DataType::kFloat32;
  Dims dims;
  Layout layout = Layout::kPlain;
  Place place = Place::kBuffer;
  int32_t index = 0;    // of the buffer, constant, model input or model output
  uint64_t offset = 0;  // bytes from the start of what `index` names
  std::shared_ptr<const Quantization> quantization = nullptr;
};

// One kernel call.
struct NativeStep {
  std::string name;              // of the node it came from
  std::string op;                // key of the kernel table
  std::string implementation;    // chosen by the kernel, for people ("oneDNN jit:avx512_core")
  std::vector<int32_t> inputs;   // values, kNoTensor for one that was left out
  std::vector<int32_t> outputs;  // values
  Attributes attributes;
  int32_t scratch = -1;  // buffer, or −1
};

// A graph made ready for one instruction set: steps in order of execution, tensors with layouts and places, weights
// packed as the chosen kernels want them.
struct NativePlan {
  std::string isa;     // kernels::ToString(Isa)
  std::string engine;  // kernels::PackingVersion(): packed weights are understood by exactly this one
  std::vector<NativeValue> values;
  std::vector<NativeBuffer> buffers;
  std::vector<NativeStep> steps;
  std::vector<Blob> constants;
  uint64_t arena_bytes = 0;        // one core's arena
  uint64_t arena_lower_bound = 0;  // the most bytes that are alive at one step: no plan can do with less
};

}  // namespace npustream::om
