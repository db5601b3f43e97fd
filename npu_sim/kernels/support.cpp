#include "npu_sim/kernels/support.h"

#include <algorithm>
#include <cstring>

#include <fmt/ranges.h>

namespace npustream::kernels {

std::string DimsText(const om::Dims& dims) { return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x")); }

Status RequireArity(const Problem& problem, size_t min_inputs, size_t max_inputs, size_t outputs) {
  const size_t inputs = problem.inputs.size();
  if (inputs < min_inputs || inputs > max_inputs)
    return Invalid("{} inputs, expected {} to {}", inputs, min_inputs, max_inputs);
  for (size_t i = 0; i < min_inputs; ++i) {
    if (problem.inputs[i].absent) return Invalid("input {} is missing", i);
  }
  if (problem.outputs.size() != outputs) return Invalid("{} outputs, expected {}", problem.outputs.size(), outputs);
  return {};
}

Status RequireFloat(const Problem& problem) {
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorInfo& tensor : *tensors) {
      if (!tensor.absent && tensor.type != om::DataType::kFloat32)
        return Unsupported("type {}, only float32 is done", om::ToString(tensor.type));
    }
  }
  return {};
}

Status RequireOutputDims(const Problem& problem, size_t output, const om::Dims& dims) {
  if (problem.outputs[output].dims == dims) return {};
  return Invalid("output {} is {}, expected {}", output, DimsText(problem.outputs[output].dims), DimsText(dims));
}

Result<int64_t> NormalAxis(int64_t axis, size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return Invalid("axis {} of a tensor of rank {}", axis, rank);
  return axis < 0 ? axis + signed_rank : axis;
}

bool IsAbsent(const Problem& problem, size_t input) {
  return input >= problem.inputs.size() || problem.inputs[input].absent;
}

Status RequirePlain(const Problem& problem) {
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorInfo& tensor : *tensors) {
      if (!tensor.absent && tensor.layout != om::Layout::kPlain)
        return Invalid("layout {}, expected plain", om::ToString(tensor.layout));
    }
  }
  return {};
}

Choice PlainChoice(const Problem& problem, std::string implementation) {
  Choice choice;
  choice.inputs.assign(problem.inputs.size(), om::Layout::kPlain);
  choice.outputs.assign(problem.outputs.size(), om::Layout::kPlain);
  choice.packed.resize(problem.inputs.size());
  choice.implementation = std::move(implementation);
  return choice;
}

bool IsFewChannels(const TensorInfo& tensor, Isa isa) {
  return tensor.dims.size() >= 3 && tensor.dims[1] * 2 <= om::BlockOf(BlockedLayout(isa));
}

std::vector<int64_t> Strides(const om::Dims& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= dims[axis];
  }
  return strides;
}

StridedCopy::StridedCopy(om::Dims dims, std::vector<int64_t> source, std::vector<int64_t> target, size_t element_bytes,
                         Isa isa)
    : element_bytes_(element_bytes) {
  const auto bytes = static_cast<int64_t>(element_bytes);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 0) empty_ = true;
    if (dims[axis] == 1) continue;
    const int64_t s = source[axis] * bytes, t = target[axis] * bytes;
    const bool joins = !dims_.empty() && source_.back() == s * dims[axis] && target_.back() == t * dims[axis];
    if (joins) {
      dims_.back() *= dims[axis];
      source_.back() = s;
      target_.back() = t;
    } else {
      dims_.push_back(dims[axis]);
      source_.push_back(s);
      target_.push_back(t);
    }
  }
  if (dims_.empty()) {
    dims_ = {1};
    source_ = target_ = {bytes};
  }
  PairTransposedAxes(isa);
}

// Brings the axis that is contiguous in the source next to the last, which is contiguous in the target.
void StridedCopy::PairTransposedAxes(Isa isa) {
  constexpr int64_t kBytes = sizeof(float);
  const size_t last = dims_.size() - 1;
  if (element_bytes_ != kBytes || target_[last] != kBytes || source_[last] < kBytes || source_[last] % kBytes != 0) return;
  for (size_t axis = 0; axis < last; ++axis) {
    if (source_[axis] != kBytes || target_[axis] < 0) continue;
    const auto move = [&](std::vector<int64_t>& values) {
      std::rotate(values.begin() + static_cast<int64_t>(axis), values.begin() + static_cast<int64_t>(axis) + 1,
                  values.begin() + static_cast<int64_t>(last));
    };
    move(dims_);
    move(source_);
    move(target_);
    transpose_ = SimdFor(isa).transpose;
    return;
  }
}

namespace {

template <typename T>
void CopyLine(const std::byte* source, int64_t source_stride, std::byte* target, int64_t target_stride, int64_t count) {
  if (target_stride == sizeof(T)) {
    auto* to = reinterpret_cast<T*>(target);
    for (int64_t i = 0; i < count; ++i) to[i] = *reinterpret_cast<const T*>(source + i * source_stride);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    *reinterpret_cast<T*>(target + i * target_stride) = *reinterpret_cast<const T*>(source + i * source_stride);
  }
}

}  // namespace

void StridedCopy::Run(const std::byte* source, std::byte* target) const {
  if (!empty_) RunAxis(0, source, target);
}

void StridedCopy::RunAxis(size_t axis, const std::byte* source, std::byte* target) const {
  if (transpose_ && axis + 2 == dims_.size()) {
    return transpose_(reinterpret_cast<const float*>(source), static_cast<size_t>(source_[axis + 1]) / sizeof(float),
                      static_cast<size_t>(dims_[axis + 1]), static_cast<size_t>(dims_[axis]),
                      reinterpret_cast<float*>(target), static_cast<size_t>(target_[axis]) / sizeof(float));
  }
  if (axis + 1 < dims_.size()) {
    for (int64_t i = 0; i < dims_[axis]; ++i) RunAxis(axis + 1, source + i * source_[axis], target + i * target_[axis]);
    return;
  }
  const auto bytes = static_cast<int64_t>(element_bytes_);
  if (source_[axis] == bytes && target_[axis] == bytes) {
    std::memcpy(target, source, static_cast<size_t>(dims_[axis]) * element_bytes_);
    return;
  }
  switch (element_bytes_) {
    case 1: return CopyLine<uint8_t>(source, source_[axis], target, target_[axis], dims_[axis]);
    case 2: return CopyLine<uint16_t>(source, source_[axis], target, target_[axis], dims_[axis]);
    case 4: return CopyLine<uint32_t>(source, source_[axis], target, target_[axis], dims_[axis]);
    default: return CopyLine<uint64_t>(source, source_[axis], target, target_[axis], dims_[axis]);
  }
}

}  // namespace npustream::kernels
