#include "tests/fuzz/mutate_om.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "npu_sim/om/file_header.h"
#include "npu_sim/om/om_verify.h"
#include "om_generated.h"

namespace npustream::fuzz {
namespace {

using namespace om::fb;

constexpr const char* kOperators[] = {
    "Add",    "Aipp",      "ArgMax",     "Attention",  "AveragePool", "BatchNormalization", "ByteAdd",   "ByteMatMul",
    "ByteMul", "Cast",     "Clip",       "Concat",     "Conv",        "ConvTranspose",      "DepthToSpace", "Dequantize",
    "Expand", "Gather",    "GatherElements", "GatherND", "Gemm",      "GlobalAveragePool",  "GridSample", "Identity",
    "LayerNormalization", "Lookup", "MatMul", "MaxPool", "NonMaxSuppression", "Pad", "Planes", "Pow", "Quantize",
    "ReduceMean", "ReduceSum", "Reorder", "Reshape", "Resize", "RoundTo", "ScatterElements", "ScatterND", "Sigmoid", "Slice",
    "Softmax", "SpaceToDepth", "Split", "Tile", "TopK", "Transpose", "Where", "example.ScaledClip", "no.such"};

constexpr const char* kAttributes[] = {
    "activation", "activation_alpha", "add_low", "add_high", "addend_first", "alpha", "axes", "axis", "batch_dims", "blocksize",
    "ceil_mode", "compute_type", "dilations", "ends", "epsilon", "group", "keepdims", "kernel_shape", "k_perm", "limit", "max_output_boxes_per_class",
    "mode", "pads", "perm", "plane", "plane_size", "q_perm", "repeats", "row_scale", "row_zero_point", "scales", "source",
    "starts", "steps", "strides", "table_scale", "table_zero_point", "to", "transA", "transB", "value", "v_perm", "y_perm"};

constexpr const char* kTexts[] = {"", "Relu", "Clip", "Silu", "Sigmoid", "Gelu", "nobody", "bfloat16", "nearest", "linear", "cubic",
                                  "reflect", "edge", "wrap", "add", "\xff\x1b"};

template <typename T, size_t N>
const T& Pick(const T (&values)[N], Random& random) {
  return values[random.Below(N)];
}

template <typename T>
void MutateList(std::vector<T>& list, T other, Random& random) {
  if (list.empty() || random.OneIn(8)) return list.push_back(other);
  if (random.OneIn(8)) return list.pop_back();
  random.Of(list) = other;
}

// Of a tensor or value, or of a buffer: one that another one has, or any.
int32_t Index(size_t count, Random& random) {
  return random.OneIn(8) ? static_cast<int32_t>(random.Int()) : static_cast<int32_t>(random.Below(count));
}

int8_t Type(Random& random) {
  constexpr int8_t kTypes[] = {0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 27, 5, -1};
  return Pick(kTypes, random);
}

void MutateQuantization(std::unique_ptr<QuantizationT>& quantization, Random& random) {
  if (!quantization || random.OneIn(6)) {
    quantization = random.OneIn(3) ? nullptr : std::make_unique<QuantizationT>();
    if (quantization) quantization->scales = {0.5f}, quantization->zero_points = {static_cast<int32_t>(random.Below(256))};
    return;
  }
  switch (random.Below(3)) {
    case 0: return MutateList(quantization->scales, random.Float(), random);
    case 1: return MutateList(quantization->zero_points, static_cast<int32_t>(random.Int()), random);
    default: quantization->axis = static_cast<int32_t>(random.Int());
  }
}

void MutateAttributes(NodeT& node, Random& random) {
  if (node.attributes.empty() || random.OneIn(4)) {
    auto attribute = std::make_unique<AttributeT>();
    attribute->name = Pick(kAttributes, random);
    attribute->kind = static_cast<int8_t>(random.Below(6));
    node.attributes.push_back(std::move(attribute));
  } else if (random.OneIn(6)) {
    node.attributes.erase(node.attributes.begin() + static_cast<ptrdiff_t>(random.Below(node.attributes.size())));
    return;
  }
  AttributeT& attribute = *random.Of(node.attributes);
  if (random.OneIn(10)) attribute.kind = static_cast<int8_t>(random.Below(6));
  switch (attribute.kind) {
    case 0: attribute.i = random.Int(); return;
    case 1: attribute.f = random.Float(); return;
    case 2: attribute.s = Pick(kTexts, random); return;
    case 3: return MutateList(attribute.ints, random.Int(), random);
    default: return MutateList(attribute.floats, random.Float(), random);
  }
}

void MutateNode(NodeT& node, size_t tensors, Random& random) {
  switch (random.Below(6)) {
    case 0: node.op = Pick(kOperators, random); return;
    case 1: return MutateList(node.inputs, Index(tensors, random), random);
    case 2: return MutateList(node.outputs, Index(tensors, random), random);
    default: return MutateAttributes(node, random);
  }
}

void MutateRange(Range& range, Random& random) {
  const auto other = static_cast<uint64_t>(random.Int());
  range = random.OneIn(2) ? Range(other, range.bytes()) : Range(range.offset(), other);
}

void MutateNative(NativeT& native, Random& random) {
  const size_t values = native.values.size();
  switch (random.Below(14)) {
    case 0:
      if (values > 0) MutateList(random.Of(native.values)->dims, random.Int(), random);
      return;
    case 1:
      if (values > 0) random.Of(native.values)->type = Type(random);
      return;
    case 2:
      if (values > 0) random.Of(native.values)->layout = static_cast<uint8_t>(random.Below(5));
      return;
    case 3:
      if (values > 0) random.Of(native.values)->place = static_cast<uint8_t>(random.Below(5));
      return;
    case 4:
      if (values > 0) random.Of(native.values)->index = Index(native.buffers.size(), random);
      return;
    case 5:
      if (values > 0) random.Of(native.values)->offset = static_cast<uint64_t>(random.Int());
      return;
    case 6:
      if (values > 0) MutateQuantization(random.Of(native.values)->quantization, random);
      return;
    case 7: {
      if (native.buffers.empty()) return;
      Buffer& b = random.Of(native.buffers);
      const auto other = random.Int();
      switch (random.Below(4)) {
        case 0: b = Buffer(static_cast<uint64_t>(other), b.bytes(), b.first_step(), b.last_step()); return;
        case 1: b = Buffer(b.offset(), static_cast<uint64_t>(other), b.first_step(), b.last_step()); return;
        case 2: b = Buffer(b.offset(), b.bytes(), static_cast<int32_t>(other), b.last_step()); return;
        default: b = Buffer(b.offset(), b.bytes(), b.first_step(), static_cast<int32_t>(other)); return;
      }
    }
    case 8:
      if (!native.steps.empty()) random.Of(native.steps)->scratch = Index(native.buffers.size(), random);
      return;
    case 9:
      if (!native.constants.empty()) MutateRange(random.Of(native.constants), random);
      return;
    case 10:
      if (native.steps.size() > 1) std::swap(random.Of(native.steps)->node, random.Of(native.steps)->node);
      return;
    default:
      if (native.steps.empty()) return;
      if (auto& node = random.Of(native.steps)->node) MutateNode(*node, values, random);
  }
}

void MutateGraph(GraphT& graph, Random& random) {
  const size_t tensors = graph.tensors.size();
  if (tensors == 0) return;
  TensorT& tensor = *random.Of(graph.tensors);
  switch (random.Below(9)) {
    case 0: return MutateList(tensor.dims, random.Int(), random);
    case 1: tensor.type = Type(random); return;
    case 2: return MutateQuantization(tensor.quantization, random);
    case 3: tensor.halves = !tensor.halves; return;
    case 4:
      if (tensor.constant) MutateRange(*tensor.constant, random);
      return;
    case 5: return MutateList(random.OneIn(2) ? graph.inputs : graph.outputs, Index(tensors, random), random);
    default:
      if (!graph.nodes.empty()) MutateNode(*random.Of(graph.nodes), tensors, random);
  }
}

void MutateInfo(InfoT& info, Random& random) {
  auto& ports = random.OneIn(2) ? info.inputs : info.outputs;
  switch (random.Below(6)) {
    case 0:
      if (!ports.empty()) MutateList(random.Of(ports)->dims, random.Int(), random);
      return;
    case 1:
      if (!ports.empty()) random.Of(ports)->type = Type(random);
      return;
    case 2:
      if (!ports.empty()) random.Of(ports)->format = static_cast<int8_t>(random.Int());
      return;
    case 3: return MutateList(info.gears, random.Int(), random);
    case 4: info.dynamic_batch = !info.dynamic_batch; return;
    default: {
      if (info.aipp.empty()) return;
      AippT& aipp = *random.Of(info.aipp);
      if (random.OneIn(2)) return MutateList(aipp.geometry, static_cast<int32_t>(random.Int()), random);
      aipp.src_w = static_cast<int32_t>(random.Int());
    }
  }
}

// One size becomes another one wherever it stands, so that shapes still agree.
void ReplaceSize(ModelT& model, Random& random) {
  if (model.plans.empty() || !model.plans[0]->graph || model.plans[0]->graph->tensors.empty()) return;
  const auto& dims = random.Of(model.plans[0]->graph->tensors)->dims;
  if (dims.empty()) return;
  const int64_t from = random.Of(dims), to = random.Int();
  const auto replace = [&](std::vector<int64_t>& list) { std::replace(list.begin(), list.end(), from, to); };
  for (auto* ports : {&model.info->inputs, &model.info->outputs}) {
    for (auto& port : *ports) replace(port->dims);
  }
  for (auto& plan : model.plans) {
    for (auto& tensor : plan->graph->tensors) replace(tensor->dims);
    for (auto& native : plan->natives) {
      for (auto& value : native->values) replace(value->dims);
    }
  }
}

// Every buffer as large as its values and its scratch need, at a place of its own.
void FitBuffers(NativeT& native) {
  std::vector<uint64_t> bytes;
  for (const Buffer& buffer : native.buffers) bytes.push_back(std::min<uint64_t>(buffer.bytes(), 1 << 20));
  for (const auto& value : native.values) {
    if (value->place != 0 || value->index < 0 || static_cast<size_t>(value->index) >= bytes.size()) continue;
    const auto needed = om::CheckedBytes(static_cast<om::DataType>(value->type), value->dims,
                                         static_cast<om::Layout>(value->layout));
    uint64_t& have = bytes[static_cast<size_t>(value->index)];
    if (needed && *needed < 1 << 20 && value->offset < 1 << 20) have = std::max(have, *needed + value->offset);
  }
  uint64_t offset = 64;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const Buffer& b = native.buffers[i];
    native.buffers[i] = Buffer(offset, bytes[i], b.first_step(), b.last_step());
    offset += (bytes[i] + 63) / 64 * 64 + 64;
  }
  native.arena_bytes = offset;
}

void MutateOnce(ModelT& model, Random& random) {
  if (model.plans.empty() || !model.info) return;
  PlanT& plan = *random.Of(model.plans);
  switch (random.Below(12)) {
    case 0: return MutateInfo(*model.info, random);
    case 1:
      if (random.OneIn(2)) plan.batch = random.Int();
      else plan.per_image = !plan.per_image;
      return;
    case 2: return ReplaceSize(model, random);
    case 3:
    case 4:
      // Without its lowering a plan is lowered when it is loaded.
      if (random.OneIn(4)) plan.natives.clear();
      if (plan.graph) MutateGraph(*plan.graph, random);
      return;
    default:
      if (!plan.natives.empty()) MutateNative(*random.Of(plan.natives), random);
      else if (plan.graph) MutateGraph(*plan.graph, random);
  }
}

}  // namespace

void MendOm(om::Bytes& file) {
  om::FileHeader header;
  if (file.size() < sizeof(header)) return;
  std::memcpy(&header, file.data(), sizeof(header));
  header.file_bytes = file.size();
  header.checksum = om::FileChecksum(header, std::span<const std::byte>(file).subspan(sizeof(header)));
  std::memcpy(file.data(), &header, sizeof(header));
}

bool MutateOm(om::Bytes& file, Random& random) {
  om::FileHeader header;
  if (file.size() < sizeof(header)) return false;
  std::memcpy(&header, file.data(), sizeof(header));
  const auto inside = [&](uint64_t offset, uint64_t bytes) { return offset <= file.size() && bytes <= file.size() - offset; };
  if (!inside(header.metadata_offset, header.metadata_bytes) || !inside(header.weight_offset, header.weight_bytes) ||
      header.metadata_offset % om::kWeightAlignment != 0)
    return false;
  const auto* metadata = reinterpret_cast<const uint8_t*>(file.data() + header.metadata_offset);
  flatbuffers::Verifier verifier(metadata, header.metadata_bytes, 64, 100'000);
  if (header.metadata_bytes < 8 || !VerifyModelBuffer(verifier)) return false;
  const std::unique_ptr<ModelT> model = UnPackModel(metadata);
  for (size_t i = 1 + random.Below(3); i > 0; --i) MutateOnce(*model, random);
  for (auto& plan : model->plans) {
    for (auto& native : plan->natives) {
      if (random.OneIn(2)) FitBuffers(*native);
    }
  }
  om::Bytes weights(file.begin() + static_cast<ptrdiff_t>(header.weight_offset),
                    file.begin() + static_cast<ptrdiff_t>(header.weight_offset + header.weight_bytes));
  for (size_t i = random.Below(3); i > 0 && !weights.empty(); --i) random.Of(weights) = static_cast<std::byte>(random.Bits());
  flatbuffers::FlatBufferBuilder builder;
  FinishModelBuffer(builder, Model::Pack(builder, model.get()));
  const auto align = [](uint64_t offset) { return (offset + om::kWeightAlignment - 1) / om::kWeightAlignment * om::kWeightAlignment; };
  header.metadata_offset = align(sizeof(header));
  header.metadata_bytes = builder.GetSize();
  header.weight_offset = align(header.metadata_offset + header.metadata_bytes);
  file.assign(header.weight_offset + weights.size(), std::byte{0});
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + header.metadata_offset, builder.GetBufferPointer(), builder.GetSize());
  std::copy(weights.begin(), weights.end(), file.begin() + static_cast<ptrdiff_t>(header.weight_offset));
  MendOm(file);
  return true;
}

}  // namespace npustream::fuzz
