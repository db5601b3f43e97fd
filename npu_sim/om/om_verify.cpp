#include "npu_sim/om/om_verify.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace npustream::om {
namespace {

template <typename... Args>
Status Corrupt(fmt::format_string<Args...> format, Args&&... args) {
  return Status(StatusCode::kCorruptData, fmt::format(format, std::forward<Args>(args)...));
}

bool InRange(int64_t index, size_t count) { return index >= 0 && static_cast<uint64_t>(index) < count; }

template <typename T>
bool Holds(int32_t value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

// Whether a zero point is a number of the tensor's type. Only integers stand for real numbers.
bool IsZeroPointOf(DataType type, int32_t zero) {
  switch (type) {
    case DataType::kInt8: return Holds<int8_t>(zero);
    case DataType::kUInt8: return Holds<uint8_t>(zero);
    case DataType::kInt16: return Holds<int16_t>(zero);
    case DataType::kUInt16: return Holds<uint16_t>(zero);
    case DataType::kInt32: return true;
    default: return false;
  }
}

// Whether a quantisation fits its tensor and can be computed with.
bool Fits(const Quantization& q, DataType type, const Dims& dims) {
  const bool axis = q.IsPerTensor() || (InRange(q.axis, dims.size()) &&
                                        static_cast<uint64_t>(dims[static_cast<size_t>(q.axis)]) == q.scales.size());
  return axis && !q.scales.empty() && q.zero_points.size() == q.scales.size() &&
         std::all_of(q.scales.begin(), q.scales.end(), [](float scale) { return std::isfinite(scale) && scale > 0; }) &&
         std::all_of(q.zero_points.begin(), q.zero_points.end(),
                     [&](int32_t zero) { return IsZeroPointOf(type, zero); });
}

Status VerifyTensor(const Tensor& tensor, size_t index, const std::optional<uint64_t>& constant_bytes) {
  const auto bytes = CheckedBytes(tensor.type, tensor.dims);
  if (!bytes) return Corrupt("tensor {} ('{}') has an impossible type or shape", index, tensor.name);
  if (constant_bytes && *constant_bytes != *bytes) {
    return Corrupt("constant {} ('{}') has {} bytes where its shape needs {}", index, tensor.name, *constant_bytes,
                   *bytes);
  }
  if (tensor.quantization && !Fits(*tensor.quantization, tensor.type, tensor.dims))
    return Corrupt("tensor {} ('{}') has an impossible quantisation", index, tensor.name);
  return {};
}

// Whether [offset, offset + bytes) lies inside a space of `limit` bytes.
bool Fits(uint64_t offset, uint64_t bytes, uint64_t limit) { return offset <= limit && bytes <= limit - offset; }

Status VerifyValue(const NativePlan& plan, const Graph& graph, size_t index) {
  const NativeValue& value = plan.values[index];
  if (value.layout > Layout::kBlocked4) return Corrupt("value {} ('{}') has an unknown layout", index, value.name);
  const auto bytes = CheckedBytes(value.type, value.dims, value.layout);
  if (!bytes) return Corrupt("value {} ('{}') has an impossible type or shape", index, value.name);
  if (value.quantization && !Fits(*value.quantization, value.type, value.dims))
    return Corrupt("value {} ('{}') has an impossible quantisation", index, value.name);
  uint64_t limit = 0;
  switch (value.place) {
    case Place::kBuffer:
      if (!InRange(value.index, plan.buffers.size())) return Corrupt("value {} names buffer {}", index, value.index);
      limit = plan.buffers[value.index].bytes;
      break;
    case Place::kConstant:
      if (!InRange(value.index, plan.constants.size()))
        return Corrupt("value {} names constant {}", index, value.index);
      limit = plan.constants[value.index].bytes.size();
      break;
    case Place::kInput:
      if (!InRange(value.index, graph.inputs.size())) return Corrupt("value {} names input {}", index, value.index);
      limit = graph.tensors[graph.inputs[value.index]].ByteSize();
      break;
    case Place::kOutput:
      if (!InRange(value.index, graph.outputs.size())) return Corrupt("value {} names output {}", index, value.index);
      limit = graph.tensors[graph.outputs[value.index]].ByteSize();
      break;
    default: return Corrupt("value {} has an unknown place", index);
  }
  if (value.offset % SizeOf(value.type) != 0) return Corrupt("value {} is not aligned", index);
  // A packed constant's size is checked by the kernel that reads it.
  if (value.place == Place::kConstant ? value.offset != 0 : !Fits(value.offset, *bytes, limit)) {
    return Corrupt("value {} ('{}') of {} bytes at {} leaves its place of {}", index, value.name, *bytes, value.offset,
                   limit);
  }
  return {};
}

// What has been written to so far. Views and joins share memory, so it is kept per buffer and output.
struct Written {
  std::vector<bool> buffers, outputs;

  bool Holds(const NativeValue& value) const {
    if (value.place == Place::kBuffer) return buffers[value.index];
    if (value.place == Place::kOutput) return outputs[value.index];
    return true;
  }
  void Mark(const NativeValue& value) { (value.place == Place::kBuffer ? buffers : outputs)[value.index] = true; }
};

bool IsAlive(const NativeBuffer& buffer, size_t step) {
  const auto now = static_cast<int64_t>(step);
  return buffer.first_step <= now && now <= buffer.last_step;
}

// A step's scratch buffer is alive, so that no other living buffer shares its addresses, and holds none of its tensors.
// The references of its tensors have been checked.
Status VerifyScratch(const NativePlan& plan, size_t index) {
  const NativeStep& step = plan.steps[index];
  if (step.scratch == -1) return {};
  if (!InRange(step.scratch, plan.buffers.size()))
    return Corrupt("step {} ('{}') names scratch buffer {}", index, step.name, step.scratch);
  if (!IsAlive(plan.buffers[static_cast<size_t>(step.scratch)], index))
    return Corrupt("step {} ('{}') uses scratch buffer {} outside its lifetime", index, step.name, step.scratch);
  for (const auto* ids : {&step.inputs, &step.outputs}) {
    for (const int32_t id : *ids) {
      if (id == kNoTensor) continue;
      const NativeValue& value = plan.values[static_cast<size_t>(id)];
      if (value.place == Place::kBuffer && value.index == step.scratch)
        return Corrupt("step {} ('{}') has '{}' in its scratch buffer", index, step.name, value.name);
    }
  }
  return {};
}

// Checks a step's references; `written` is brought up to date.
Status VerifyStep(const NativePlan& plan, size_t index, Written& written) {
  const NativeStep& step = plan.steps[index];
  const auto alive = [&](const NativeValue& value) {
    return value.place != Place::kBuffer || IsAlive(plan.buffers[static_cast<size_t>(value.index)], index);
  };
  for (const int32_t input : step.inputs) {
    if (input == kNoTensor) continue;
    if (!InRange(input, plan.values.size())) return Corrupt("step {} ('{}') reads value {}", index, step.name, input);
    const NativeValue& value = plan.values[input];
    if (!written.Holds(value))
      return Corrupt("step {} ('{}') reads '{}' before it exists", index, step.name, value.name);
    if (!alive(value)) return Corrupt("step {} ('{}') reads '{}' after its lifetime", index, step.name, value.name);
  }
  for (const int32_t output : step.outputs) {
    if (!InRange(output, plan.values.size()))
      return Corrupt("step {} ('{}') writes value {}", index, step.name, output);
    const NativeValue& value = plan.values[output];
    const bool writable = value.place == Place::kBuffer || value.place == Place::kOutput;
    if (!writable) return Corrupt("step {} ('{}') writes '{}', which is read-only", index, step.name, value.name);
    if (!alive(value)) return Corrupt("step {} ('{}') writes '{}' outside its lifetime", index, step.name, value.name);
    written.Mark(value);
  }
  return VerifyScratch(plan, index);
}

// Buffers that are alive at the same step must not share addresses.
Status VerifyBuffers(const NativePlan& plan) {
  std::vector<size_t> order(plan.buffers.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const NativeBuffer& buffer = plan.buffers[i];
    if (buffer.offset % 64 != 0 || !Fits(buffer.offset, buffer.bytes, plan.arena_bytes)) {
      return Corrupt("buffer {} ({} bytes at {}) leaves the arena of {}", i, buffer.bytes, buffer.offset,
                     plan.arena_bytes);
    }
    order[i] = i;
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return plan.buffers[a].offset < plan.buffers[b].offset; });
  for (size_t i = 0; i < order.size(); ++i) {
    const NativeBuffer& a = plan.buffers[order[i]];
    for (size_t j = i + 1; j < order.size() && plan.buffers[order[j]].offset < a.offset + a.bytes; ++j) {
      const NativeBuffer& b = plan.buffers[order[j]];
      const bool together = a.first_step <= b.last_step && b.first_step <= a.last_step;
      if (together && b.bytes > 0) return Corrupt("buffers {} and {} overlap while both are alive", order[i], order[j]);
    }
  }
  return {};
}

// Whether a port as shown has, at batch `gear`, the very size that the plan reads or writes: callers allocate by it.
bool PortMatches(const PortInfo& port, const Tensor& tensor, const OmPlan& plan, int64_t gear, bool dynamic) {
  if (port.type != tensor.type || port.dims.size() != tensor.dims.size()) return false;
  Dims shown = port.dims, meant = tensor.dims;
  const int64_t images = plan.per_image ? gear : 1;
  if (meant.empty()) return images == 1;
  if (dynamic && shown[0] == -1) shown[0] = gear;
  meant[0] *= images;
  return shown == meant;
}

}  // namespace

std::optional<uint64_t> CheckedBytes(DataType type, const Dims& dims, Layout layout) {
  const size_t element = SizeOf(type);
  if (element == 0 || dims.size() > kMaxRank) return std::nullopt;
  if (layout != Layout::kPlain && dims.size() < 3) return std::nullopt;
  const int64_t block = BlockOf(layout);
  uint64_t bytes = element;
  bool empty = false;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < 0 || static_cast<uint64_t>(dims[axis]) > kMaxTensorBytes) return std::nullopt;
    const int64_t dim = axis == 1 ? (dims[axis] + block - 1) / block * block : dims[axis];
    if (dim == 0) empty = true;
    // An empty tensor's other dims are bounded all the same, since strides and loops come from them.
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(std::max<int64_t>(dim, 1)), &bytes)) return std::nullopt;
  }
  if (bytes > kMaxTensorBytes) return std::nullopt;
  return empty ? 0 : bytes;
}

Status VerifyGraph(const Graph& graph, const std::vector<std::optional<uint64_t>>& constant_bytes) {
  std::vector<bool> written(graph.tensors.size());
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    NPUSTREAM_RETURN_IF_ERROR(VerifyTensor(graph.tensors[i], i, constant_bytes[i]));
    written[i] = constant_bytes[i].has_value();
  }
  for (const TensorId input : graph.inputs) {
    if (!InRange(input, graph.tensors.size())) return Corrupt("graph input names tensor {}", input);
    if (written[input]) return Corrupt("graph input '{}' is a constant or named twice", graph.tensors[input].name);
    written[input] = true;
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (const TensorId input : node.inputs) {
      if (input == kNoTensor) continue;
      if (!InRange(input, graph.tensors.size())) return Corrupt("node {} ('{}') reads tensor {}", i, node.name, input);
      if (!written[input]) return Corrupt("node {} ('{}') reads tensor {} before it exists", i, node.name, input);
    }
    for (const TensorId output : node.outputs) {
      if (!InRange(output, graph.tensors.size()))
        return Corrupt("node {} ('{}') writes tensor {}", i, node.name, output);
      if (written[output]) return Corrupt("node {} ('{}') writes tensor {} again", i, node.name, output);
      written[output] = true;
    }
  }
  for (const TensorId output : graph.outputs) {
    if (!InRange(output, graph.tensors.size())) return Corrupt("graph output names tensor {}", output);
    if (!written[output]) return Corrupt("graph output '{}' is never computed", graph.tensors[output].name);
  }
  return {};
}

Status VerifyNative(const NativePlan& plan, const Graph& graph) {
  if (plan.arena_bytes > kMaxTensorBytes) return Corrupt("the arena has {} bytes", plan.arena_bytes);
  NPUSTREAM_RETURN_IF_ERROR(VerifyBuffers(plan));
  for (size_t i = 0; i < plan.values.size(); ++i) NPUSTREAM_RETURN_IF_ERROR(VerifyValue(plan, graph, i));
  Written written{std::vector<bool>(plan.buffers.size()), std::vector<bool>(graph.outputs.size())};
  for (size_t i = 0; i < plan.steps.size(); ++i) NPUSTREAM_RETURN_IF_ERROR(VerifyStep(plan, i, written));
  return {};
}

Status VerifyInfo(const OmInfo& info) {
  if (info.gears.empty() || info.gears.size() > 100) return Corrupt("{} batch sizes", info.gears.size());
  for (size_t i = 0; i < info.gears.size(); ++i) {
    const int64_t gear = info.gears[i];
    if (gear < 1 || gear > kMaxBatch || (i > 0 && gear <= info.gears[i - 1]))
      return Corrupt("batch size {} is out of order", gear);
  }
  if (info.inputs.size() > 1024 || info.outputs.size() > 1024) return Corrupt("too many inputs or outputs");
  for (const auto* ports : {&info.inputs, &info.outputs}) {
    for (const PortInfo& port : *ports) {
      Dims dims = port.dims;
      if (!dims.empty() && dims[0] == -1) dims[0] = info.gears.back();
      if (!CheckedBytes(port.type, dims)) return Corrupt("port '{}' has an impossible type or shape", port.name);
      if (port.format < Format::kNchw || port.format > Format::kNd)
        return Corrupt("port '{}' has an unknown format", port.name);
    }
  }
  for (const AippConfig& aipp : info.aipp) {
    Node node;
    node.attributes = ToAttributes(aipp);
    if (auto checked = AippFromAttributes(node); !checked.ok()) return Corrupt("{}", checked.status().message());
    if (!InRange(aipp.related_input_rank, info.inputs.size()))
      return Corrupt("AIPP names input {}", aipp.related_input_rank);
  }
  return {};
}

Status VerifyPlans(const OmInfo& info, const std::vector<const OmPlan*>& plans) {
  const bool per_image = plans.size() == 1 && plans[0]->per_image;
  if (!per_image && plans.size() != info.gears.size())
    return Corrupt("{} plans for {} batch sizes", plans.size(), info.gears.size());
  for (size_t i = 0; i < plans.size(); ++i) {
    const OmPlan& plan = *plans[i];
    if (plan.per_image != per_image) return Corrupt("plan {} is per image beside others", i);
    if (plan.batch != (per_image ? 1 : info.gears[i])) return Corrupt("plan {} has batch {}", i, plan.batch);
    const std::vector<int64_t> served = per_image ? info.gears : std::vector<int64_t>{plan.batch};
    const auto agree = [&](const std::vector<PortInfo>& ports, const std::vector<TensorId>& tensors) {
      if (ports.size() != tensors.size()) return false;
      for (size_t k = 0; k < ports.size(); ++k) {
        for (const int64_t gear : served) {
          if (!PortMatches(ports[k], plan.graph.tensors[tensors[k]], plan, gear, info.dynamic_batch)) return false;
        }
      }
      return true;
    };
    if (!agree(info.inputs, plan.graph.inputs)) return Corrupt("plan {}'s inputs differ from the model's", i);
    if (!agree(info.outputs, plan.graph.outputs)) return Corrupt("plan {}'s outputs differ from the model's", i);
  }
  return {};
}

}  // namespace npustream::om
