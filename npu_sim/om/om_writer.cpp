#include "npu_sim/om/om_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/sha256.h"
#include "npu_sim/om/file_header.h"
#include "npu_sim/om/float16.h"
#include "npu_sim/om/om_verify.h"
#include "om_generated.h"

namespace npustream::om {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <typename T>
using Vector = Offset<flatbuffers::Vector<T>>;

size_t AlignUp(size_t value) { return (value + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment; }

// Collects constants; equal contents are stored once.
class WeightSection {
 public:
  fb::Range Add(std::span<const std::byte> content) {
    const auto [found, added] = ranges_.try_emplace(Sha256(content), fb::Range(bytes_.size(), content.size()));
    if (added) {
      bytes_.insert(bytes_.end(), content.begin(), content.end());
      bytes_.resize(AlignUp(bytes_.size()));
    }
    return found->second;
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  std::map<Sha256Digest, fb::Range> ranges_;
};

// The values of a long float32 constant as float16, if none loses anything.
std::optional<Bytes> AsHalves(const Tensor& tensor) {
  constexpr size_t kWorthIt = 256;  // bytes; shorter ones take no less room, as constants are aligned
  if (!tensor.constant || tensor.type != DataType::kFloat32 || tensor.constant->size() < kWorthIt) return std::nullopt;
  Bytes halves(tensor.constant->size() / 2);
  for (size_t i = 0; i < halves.size() / 2; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, tensor.constant->data() + i * sizeof bits, sizeof bits);
    const uint16_t half = ToHalf(std::bit_cast<float>(bits));
    if (std::bit_cast<uint32_t>(FromHalf(half)) != bits) return std::nullopt;
    std::memcpy(halves.data() + i * sizeof half, &half, sizeof half);
  }
  return halves;
}

class MetadataWriter {
 public:
  Bytes Write(const OmModel& model) {
    std::vector<Offset<fb::Plan>> plans;
    for (const OmPlan& plan : model.plans) {
      std::vector<Offset<fb::Native>> natives;
      for (const NativePlan& native : plan.natives) natives.push_back(Write(native));
      const auto graph = Write(plan.graph);
      plans.push_back(fb::CreatePlan(builder_, plan.batch, plan.per_image, graph, builder_.CreateVector(natives)));
    }
    const auto info = Write(model.info);
    fb::FinishModelBuffer(builder_, fb::CreateModel(builder_, info, builder_.CreateVector(plans)));
    const auto* begin = reinterpret_cast<const std::byte*>(builder_.GetBufferPointer());
    return Bytes(begin, begin + builder_.GetSize());
  }
  const Bytes& weights() const { return weights_.bytes(); }

 private:
  Offset<fb::Aipp> Write(const AippConfig& c) {
    const uint32_t switches =
        c.csc_switch | c.rbuv_swap_switch << 1 | c.ax_swap_switch << 2 | c.crop << 3 | c.padding << 4;
    const std::vector<int32_t> geometry = {c.load_start_pos_w, c.load_start_pos_h,   c.crop_size_w,
                                           c.crop_size_h,      c.left_padding_size,  c.right_padding_size,
                                           c.top_padding_size, c.bottom_padding_size};
    const auto mode = builder_.CreateString(c.aipp_mode);
    const auto format = builder_.CreateString(c.input_format);
    const auto sizes = builder_.CreateVector(geometry);
    const auto matrix = builder_.CreateVector(c.matrix.data(), c.matrix.size());
    const auto input_bias = builder_.CreateVector(c.input_bias.data(), c.input_bias.size());
    const auto output_bias = builder_.CreateVector(c.output_bias.data(), c.output_bias.size());
    const auto mean = builder_.CreateVector(c.mean_chn.data(), c.mean_chn.size());
    const auto min = builder_.CreateVector(c.min_chn.data(), c.min_chn.size());
    const auto var = builder_.CreateVector(c.var_reci_chn.data(), c.var_reci_chn.size());
    return fb::CreateAipp(builder_, c.related_input_rank, mode, format, c.src_image_size_w, c.src_image_size_h,
                          c.max_src_image_size, switches, sizes, c.padding_value, matrix, input_bias, output_bias, mean,
                          min, var);
  }

  Vector<Offset<fb::Port>> Write(const std::vector<PortInfo>& ports) {
    std::vector<Offset<fb::Port>> written;
    for (const PortInfo& port : ports) {
      const auto name = builder_.CreateString(port.name);
      const auto dims = builder_.CreateVector(port.dims);
      written.push_back(
          fb::CreatePort(builder_, name, static_cast<int8_t>(port.type), dims, static_cast<int8_t>(port.format)));
    }
    return builder_.CreateVector(written);
  }

  Offset<fb::Info> Write(const OmInfo& info) {
    std::vector<Offset<fb::Aipp>> aipp;
    for (const AippConfig& config : info.aipp) aipp.push_back(Write(config));
    const auto name = builder_.CreateString(info.name);
    const auto command_line = builder_.CreateString(info.command_line);
    const auto inputs = Write(info.inputs);
    const auto outputs = Write(info.outputs);
    const auto gears = builder_.CreateVector(info.gears);
    return fb::CreateInfo(builder_, name, command_line, inputs, outputs, gears, info.dynamic_batch,
                          builder_.CreateVector(aipp));
  }

  Offset<fb::Attribute> Write(const std::string& name, const Attribute& value) {
    const auto key = builder_.CreateString(name);
    Offset<flatbuffers::String> text;
    Vector<int64_t> ints;
    Vector<float> floats;
    if (const auto* s = std::get_if<std::string>(&value)) text = builder_.CreateString(*s);
    if (const auto* v = std::get_if<std::vector<int64_t>>(&value)) ints = builder_.CreateVector(*v);
    if (const auto* v = std::get_if<std::vector<float>>(&value)) floats = builder_.CreateVector(*v);
    const auto* i = std::get_if<int64_t>(&value);
    const auto* f = std::get_if<float>(&value);
    return fb::CreateAttribute(builder_, key, static_cast<int8_t>(value.index()), i ? *i : 0, f ? *f : 0, text, ints,
                               floats);
  }

  Offset<fb::Node> Write(const std::string& name, const std::string& op, const std::vector<int32_t>& inputs,
                         const std::vector<int32_t>& outputs, const Attributes& attributes) {
    std::vector<Offset<fb::Attribute>> written;
    for (const auto& [key, value] : attributes) written.push_back(Write(key, value));
    const auto name_offset = builder_.CreateString(name);
    const auto op_offset = builder_.CreateSharedString(op);
    const auto input_offset = builder_.CreateVector(inputs);
    const auto output_offset = builder_.CreateVector(outputs);
    return fb::CreateNode(builder_, name_offset, op_offset, input_offset, output_offset,
                          builder_.CreateVector(written));
  }

  // Null where there is none.
  Offset<fb::Quantization> Write(const std::shared_ptr<const Quantization>& quantization) {
    if (!quantization) return {};
    const auto scales = builder_.CreateVector(quantization->scales);
    const auto zero_points = builder_.CreateVector(quantization->zero_points);
    return fb::CreateQuantization(builder_, scales, zero_points, quantization->axis);
  }

  Offset<fb::Graph> Write(const Graph& graph) {
    std::vector<Offset<fb::Tensor>> tensors;
    for (const Tensor& tensor : graph.tensors) {
      const auto name = builder_.CreateString(tensor.name);
      const auto dims = builder_.CreateVector(tensor.dims);
      fb::Range range;
      const std::optional<Bytes> halves = AsHalves(tensor);
      if (tensor.constant) range = weights_.Add(halves ? *halves : *tensor.constant);
      const auto quantization = Write(tensor.quantization);
      tensors.push_back(fb::CreateTensor(builder_, name, static_cast<int8_t>(tensor.type), dims,
                                         tensor.constant ? &range : nullptr, quantization, halves.has_value()));
    }
    std::vector<Offset<fb::Node>> nodes;
    for (const Node& node : graph.nodes)
      nodes.push_back(Write(node.name, node.op, node.inputs, node.outputs, node.attributes));
    const auto tensor_offset = builder_.CreateVector(tensors);
    const auto node_offset = builder_.CreateVector(nodes);
    const auto inputs = builder_.CreateVector(graph.inputs);
    return fb::CreateGraph(builder_, tensor_offset, node_offset, inputs, builder_.CreateVector(graph.outputs));
  }

  Offset<fb::Native> Write(const NativePlan& plan) {
    std::vector<Offset<fb::Value>> values;
    for (const NativeValue& value : plan.values) {
      const auto name = builder_.CreateString(value.name);
      const auto dims = builder_.CreateVector(value.dims);
      const auto quantization = Write(value.quantization);
      values.push_back(fb::CreateValue(builder_, name, static_cast<int8_t>(value.type), dims,
                                       static_cast<uint8_t>(value.layout), static_cast<uint8_t>(value.place),
                                       value.index, value.offset, quantization));
    }
    std::vector<fb::Buffer> buffers;
    for (const NativeBuffer& b : plan.buffers) buffers.emplace_back(b.offset, b.bytes, b.first_step, b.last_step);
    std::vector<Offset<fb::Step>> steps;
    for (const NativeStep& step : plan.steps) {
      const auto node = Write(step.name, step.op, step.inputs, step.outputs, step.attributes);
      steps.push_back(fb::CreateStep(builder_, node, builder_.CreateSharedString(step.implementation), step.scratch));
    }
    std::vector<fb::Range> constants;
    for (const Blob& blob : plan.constants) constants.push_back(weights_.Add(blob.bytes));
    const auto isa = builder_.CreateString(plan.isa);
    const auto engine = builder_.CreateString(plan.engine);
    const auto value_offset = builder_.CreateVector(values);
    const auto buffer_offset = builder_.CreateVectorOfStructs(buffers);
    const auto step_offset = builder_.CreateVector(steps);
    const auto constant_offset = builder_.CreateVectorOfStructs(constants);
    return fb::CreateNative(builder_, isa, engine, value_offset, buffer_offset, step_offset, constant_offset,
                            plan.arena_bytes, plan.arena_lower_bound);
  }

  FlatBufferBuilder builder_{1 << 16};
  WeightSection weights_;
};

Status Verify(const OmModel& model) {
  NPUSTREAM_RETURN_IF_ERROR(VerifyInfo(model.info));
  std::vector<const OmPlan*> plans;
  for (const OmPlan& plan : model.plans) {
    std::vector<std::optional<uint64_t>> constant_bytes;
    for (const Tensor& tensor : plan.graph.tensors) {
      constant_bytes.push_back(tensor.constant ? std::optional<uint64_t>(tensor.constant->size()) : std::nullopt);
    }
    NPUSTREAM_RETURN_IF_ERROR(VerifyGraph(plan.graph, constant_bytes));
    for (const NativePlan& native : plan.natives) NPUSTREAM_RETURN_IF_ERROR(VerifyNative(native, plan.graph));
    plans.push_back(&plan);
  }
  NPUSTREAM_RETURN_IF_ERROR(VerifyPlans(model.info, plans));
  if (model.info.toolkit_version.size() >= sizeof(FileHeader::toolkit_version) ||
      model.info.soc.size() >= sizeof(FileHeader::soc)) {
    return Status(StatusCode::kInvalidArgument, "toolkit version or SoC name is longer than 31 characters");
  }
  return {};
}

}  // namespace

Result<Bytes> WriteOm(const OmModel& model) {
  if (const Status verified = Verify(model); !verified.ok()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("cannot write the model: {}", verified.message()));
  }
  MetadataWriter writer;
  const Bytes metadata = writer.Write(model);
  const Bytes& weights = writer.weights();

  FileHeader header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.magic[3] = kLayoutVersion;
  header.header_bytes = sizeof(FileHeader);
  model.info.toolkit_version.copy(header.toolkit_version, sizeof(header.toolkit_version) - 1);
  model.info.soc.copy(header.soc, sizeof(header.soc) - 1);
  for (const OmPlan& plan : model.plans) {
    header.node_count = std::max(header.node_count, static_cast<uint32_t>(plan.graph.nodes.size()));
  }
  header.metadata_offset = AlignUp(sizeof(FileHeader));
  header.metadata_bytes = metadata.size();
  header.weight_offset = AlignUp(header.metadata_offset + metadata.size());
  header.weight_bytes = weights.size();
  header.file_bytes = header.weight_offset + weights.size();

  Bytes file(header.file_bytes);
  std::memcpy(file.data() + header.metadata_offset, metadata.data(), metadata.size());
  if (!weights.empty()) std::memcpy(file.data() + header.weight_offset, weights.data(), weights.size());
  header.checksum = FileChecksum(header, std::span<const std::byte>(file).subspan(sizeof(FileHeader)));
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

}  // namespace npustream::om
