#include "npu_sim/om/om_reader.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "base/file.h"
#include "npu_sim/om/file_header.h"
#include "npu_sim/om/float16.h"
#include "npu_sim/om/foreign_file.h"
#include "npu_sim/om/om_verify.h"
#include "om_generated.h"

namespace npustream::om {
namespace {

template <typename... Args>
Status Corrupt(fmt::format_string<Args...> format, Args&&... args) {
  return Status(StatusCode::kCorruptData, fmt::format(format, std::forward<Args>(args)...));
}

std::string Text(const flatbuffers::String* text) { return text ? text->str() : std::string(); }

template <typename T>
std::vector<T> List(const flatbuffers::Vector<T>* list) {
  return list ? std::vector<T>(list->begin(), list->end()) : std::vector<T>();
}

// Elements of a vector that may be absent, for range-for.
template <typename T>
struct Each {
  const flatbuffers::Vector<T>* list;
  auto begin() const { return list ? list->begin() : typename flatbuffers::Vector<T>::const_iterator(nullptr, 0); }
  auto end() const { return list ? list->end() : typename flatbuffers::Vector<T>::const_iterator(nullptr, 0); }
};
template <typename T>
Each(const flatbuffers::Vector<T>*) -> Each<T>;

template <typename T, size_t N>
bool Fill(const flatbuffers::Vector<T>* list, std::array<T, N>& values) {
  if (!list || list->size() != N) return false;
  std::copy(list->begin(), list->end(), values.begin());
  return true;
}

Result<AippConfig> ReadAipp(const fb::Aipp& aipp) {
  AippConfig config;
  config.related_input_rank = aipp.rank();
  config.aipp_mode = Text(aipp.mode());
  config.input_format = Text(aipp.input_format());
  config.src_image_size_w = aipp.src_w();
  config.src_image_size_h = aipp.src_h();
  config.max_src_image_size = aipp.max_src_bytes();
  config.csc_switch = aipp.switches() & 1;
  config.rbuv_swap_switch = aipp.switches() & 2;
  config.ax_swap_switch = aipp.switches() & 4;
  config.crop = aipp.switches() & 8;
  config.padding = aipp.switches() & 16;
  config.padding_value = aipp.padding_value();
  int32_t* const geometry[] = {&config.load_start_pos_w, &config.load_start_pos_h,   &config.crop_size_w,
                               &config.crop_size_h,      &config.left_padding_size,  &config.right_padding_size,
                               &config.top_padding_size, &config.bottom_padding_size};
  const auto* sizes = aipp.geometry();
  if (!sizes || sizes->size() != std::size(geometry)) return Corrupt("AIPP description is incomplete");
  for (uint32_t i = 0; i < sizes->size(); ++i) *geometry[i] = sizes->Get(i);
  const bool complete = Fill(aipp.matrix(), config.matrix) && Fill(aipp.input_bias(), config.input_bias) &&
                        Fill(aipp.output_bias(), config.output_bias) && Fill(aipp.mean(), config.mean_chn) &&
                        Fill(aipp.min(), config.min_chn) && Fill(aipp.var_reci(), config.var_reci_chn);
  if (!complete) return Corrupt("AIPP description is incomplete");
  return config;
}

std::vector<PortInfo> ReadPorts(const flatbuffers::Vector<flatbuffers::Offset<fb::Port>>* ports) {
  std::vector<PortInfo> read;
  for (const fb::Port* port : Each{ports}) {
    read.push_back({Text(port->name()), static_cast<DataType>(port->type()), List(port->dims()),
                    static_cast<Format>(port->format())});
  }
  return read;
}

Status ReadAttributes(const fb::Node& node, Attributes& attributes) {
  for (const fb::Attribute* attribute : Each{node.attributes()}) {
    Attribute value;
    switch (attribute->kind()) {
      case 0: value = attribute->i(); break;
      case 1: value = attribute->f(); break;
      case 2: value = Text(attribute->s()); break;
      case 3: value = List(attribute->ints()); break;
      case 4: value = List(attribute->floats()); break;
      default: return Corrupt("node '{}' has an attribute of unknown kind {}", Text(node.name()), attribute->kind());
    }
    attributes[Text(attribute->name())] = std::move(value);
  }
  return {};
}

std::shared_ptr<const Quantization> ReadQuantization(const fb::Quantization* stored) {
  if (!stored) return nullptr;
  return std::make_shared<const Quantization>(
      Quantization{List(stored->scales()), List(stored->zero_points()), stored->axis()});
}

// Where a constant lies, and in which form.
struct StoredConstant {
  fb::Range range;
  bool halves;

  Bytes Content(std::span<const std::byte> weights) const {
    const auto stored = weights.subspan(range.offset(), range.bytes());
    if (!halves) return Bytes(stored.begin(), stored.end());
    Bytes content(stored.size() * 2);
    for (size_t i = 0; i < stored.size() / 2; ++i) {
      uint16_t half = 0;
      std::memcpy(&half, stored.data() + i * sizeof half, sizeof half);
      const float value = FromHalf(half);
      std::memcpy(content.data() + i * sizeof value, &value, sizeof value);
    }
    return content;
  }
};

// A graph without the content of its constants, and where these lie.
struct StoredGraph {
  Graph graph;
  std::vector<std::optional<StoredConstant>> constants;
};

Result<StoredGraph> ReadGraph(const fb::Graph* graph, uint64_t weight_bytes) {
  if (!graph) return Corrupt("a plan has no graph");
  StoredGraph read;
  std::vector<std::optional<uint64_t>> constant_bytes;
  for (const fb::Tensor* tensor : Each{graph->tensors()}) {
    read.graph.tensors.push_back({Text(tensor->name()), static_cast<DataType>(tensor->type()), List(tensor->dims()),
                                  nullptr, ReadQuantization(tensor->quantization())});
    const fb::Range* range = tensor->constant();
    const bool halves = tensor->halves();
    if (halves && read.graph.tensors.back().type != DataType::kFloat32)
      return Corrupt("tensor '{}' is stored as halves and is not float32", Text(tensor->name()));
    if (range && (range->offset() > weight_bytes || range->bytes() > weight_bytes - range->offset())) {
      return Corrupt("constant '{}' ({} bytes at {}) leaves the weight section of {}", Text(tensor->name()),
                     range->bytes(), range->offset(), weight_bytes);
    }
    read.constants.push_back(range ? std::optional(StoredConstant{*range, halves}) : std::nullopt);
    constant_bytes.push_back(range ? std::optional(range->bytes() * (halves ? 2 : 1)) : std::nullopt);
  }
  for (const fb::Node* node : Each{graph->nodes()}) {
    Node read_node{Text(node->name()), Text(node->op()), List(node->inputs()), List(node->outputs()), {}};
    NPUSTREAM_RETURN_IF_ERROR(ReadAttributes(*node, read_node.attributes));
    read.graph.nodes.push_back(std::move(read_node));
  }
  read.graph.inputs = List(graph->inputs());
  read.graph.outputs = List(graph->outputs());
  NPUSTREAM_RETURN_IF_ERROR(VerifyGraph(read.graph, constant_bytes));
  return read;
}

Result<NativePlan> ReadNative(const fb::Native& native, std::span<const std::byte> weights) {
  NativePlan plan;
  plan.isa = Text(native.isa());
  plan.engine = Text(native.engine());
  plan.arena_bytes = native.arena_bytes();
  plan.arena_lower_bound = native.arena_lower_bound();
  for (const fb::Value* value : Each{native.values()}) {
    plan.values.push_back({Text(value->name()), static_cast<DataType>(value->type()), List(value->dims()),
                           static_cast<Layout>(value->layout()), static_cast<Place>(value->place()), value->index(),
                           value->offset(), ReadQuantization(value->quantization())});
  }
  for (const fb::Buffer* b : Each{native.buffers()})
    plan.buffers.push_back({b->offset(), b->bytes(), b->first_step(), b->last_step()});
  for (const fb::Step* step : Each{native.steps()}) {
    const fb::Node* node = step->node();
    if (!node) return Corrupt("step {} is empty", plan.steps.size());
    NativeStep read{Text(node->name()),   Text(node->op()),      Text(step->implementation()),
                    List(node->inputs()), List(node->outputs()), {},
                    step->scratch()};
    NPUSTREAM_RETURN_IF_ERROR(ReadAttributes(*node, read.attributes));
    plan.steps.push_back(std::move(read));
  }
  for (const fb::Range* range : Each{native.constants()}) {
    const bool inside = range->offset() <= weights.size() && range->bytes() <= weights.size() - range->offset();
    if (!inside || range->offset() % kWeightAlignment != 0) {
      return Corrupt("packed constant {} leaves the weight section", plan.constants.size());
    }
    plan.constants.push_back({nullptr, weights.subspan(range->offset(), range->bytes())});
  }
  return plan;
}

}  // namespace

struct OmFile::Impl {
  std::optional<MappedFile> mapping;
  Bytes copy;
  std::span<const std::byte> weights;
  OmInfo info;
  OmSizes sizes;
  double parse_ms = 0;
  std::vector<OmPlan> plans;  // graphs without the content of constants
  std::vector<std::vector<std::optional<StoredConstant>>> constants;

  Status Parse(std::span<const std::byte> file);
  Status ParseMetadata(std::span<const std::byte> metadata);
};

namespace {

// The header of `file`, once it is known to be complete and to describe exactly this file.
Result<FileHeader> ReadHeader(std::span<const std::byte> file) {
  FileHeader header = {};
  if (file.size() < sizeof(kMagic) || std::memcmp(file.data(), kMagic, sizeof(kMagic)) != 0) {
    return Corrupt("not an OM file: it is {}", DescribeForeignFile(file));
  }
  if (file.size() < sizeof(FileHeader)) return Corrupt("truncated: {} bytes are less than a header", file.size());
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.magic[3] != kLayoutVersion) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("OM layout {} is not {}: convert the model again with this version's atc",
                              static_cast<int>(header.magic[3]), static_cast<int>(kLayoutVersion)));
  }
  if (header.file_bytes > file.size())
    return Corrupt("truncated: {} of {} bytes are there", file.size(), header.file_bytes);
  if (header.file_bytes < file.size())
    return Corrupt("{} bytes follow the end of the model", file.size() - header.file_bytes);
  const auto inside = [&](uint64_t offset, uint64_t bytes) {
    return offset >= sizeof(FileHeader) && offset <= file.size() && bytes <= file.size() - offset;
  };
  if (header.header_bytes != sizeof(FileHeader) || !inside(header.metadata_offset, header.metadata_bytes)) {
    return Corrupt("the header's metadata section leaves the file");
  }
  if (!inside(header.weight_offset, header.weight_bytes) || header.weight_offset % kWeightAlignment != 0) {
    return Corrupt("the header's weight section leaves the file");
  }
  if (header.checksum != FileChecksum(header, file.subspan(sizeof(FileHeader))))
    return Corrupt("checksum mismatch: the file was altered");
  return header;
}

}  // namespace

Status OmFile::Impl::Parse(std::span<const std::byte> file) {
  NPUSTREAM_ASSIGN_OR_RETURN(const FileHeader header, ReadHeader(file));
  info.toolkit_version.assign(header.toolkit_version, strnlen(header.toolkit_version, sizeof(header.toolkit_version)));
  info.soc.assign(header.soc, strnlen(header.soc, sizeof(header.soc)));
  sizes = {file.size(), sizeof(FileHeader), header.metadata_bytes, header.weight_bytes, header.node_count};
  weights = file.subspan(header.weight_offset, header.weight_bytes);
  return ParseMetadata(file.subspan(header.metadata_offset, header.metadata_bytes));
}

Status OmFile::Impl::ParseMetadata(std::span<const std::byte> metadata) {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(metadata.data()), metadata.size(), 64, 16'000'000);
  if (metadata.size() < 8 || !fb::VerifyModelBuffer(verifier)) return Corrupt("the metadata is damaged");
  const fb::Model* model = fb::GetModel(metadata.data());
  const fb::Info* stored = model->info();
  if (!stored || !model->plans()) return Corrupt("the metadata is incomplete");
  info.name = Text(stored->name());
  info.command_line = Text(stored->command_line());
  info.inputs = ReadPorts(stored->inputs());
  info.outputs = ReadPorts(stored->outputs());
  info.gears = List(stored->gears());
  info.dynamic_batch = stored->dynamic_batch();
  for (const fb::Aipp* aipp : Each{stored->aipp()}) {
    NPUSTREAM_ASSIGN_OR_RETURN(AippConfig config, ReadAipp(*aipp));
    info.aipp.push_back(config);
  }
  NPUSTREAM_RETURN_IF_ERROR(VerifyInfo(info));
  std::vector<const OmPlan*> pointers;
  plans.reserve(model->plans()->size());
  for (const fb::Plan* plan : *model->plans()) {
    const std::string context = fmt::format("plan {}", plans.size());
    auto graph = ReadGraph(plan->graph(), weights.size());
    if (!graph.ok()) return graph.status().WithContext(context);
    OmPlan read{plan->batch(), plan->per_image(), std::move(graph->graph), {}};
    constants.push_back(std::move(graph->constants));
    for (const fb::Native* native : Each{plan->natives()}) {
      auto lowered = ReadNative(*native, weights);
      if (!lowered.ok()) return lowered.status().WithContext(context);
      read.natives.push_back(std::move(*lowered));
      if (const Status ok = VerifyNative(read.natives.back(), read.graph); !ok.ok()) return ok.WithContext(context);
    }
    plans.push_back(std::move(read));
    pointers.push_back(&plans.back());
  }
  return VerifyPlans(info, pointers);
}

OmFile::OmFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OmFile::~OmFile() = default;

namespace {
double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}
}  // namespace

Result<std::unique_ptr<OmFile>> OmFile::Open(const std::filesystem::path& path) {
  const auto start = std::chrono::steady_clock::now();
  NPUSTREAM_ASSIGN_OR_RETURN(MappedFile mapping, MappedFile::Open(path));
  auto impl = std::make_unique<Impl>();
  impl->mapping.emplace(std::move(mapping));
  if (const Status parsed = impl->Parse(impl->mapping->bytes()); !parsed.ok()) return parsed.WithContext(path.string());
  impl->parse_ms = MillisecondsSince(start);
  return std::unique_ptr<OmFile>(new OmFile(std::move(impl)));
}

Result<std::unique_ptr<OmFile>> OmFile::FromBytes(std::span<const std::byte> bytes) {
  const auto start = std::chrono::steady_clock::now();
  auto impl = std::make_unique<Impl>();
  impl->copy.assign(bytes.begin(), bytes.end());
  if (const Status parsed = impl->Parse(impl->copy); !parsed.ok()) return parsed.WithContext("model in memory");
  impl->parse_ms = MillisecondsSince(start);
  return std::unique_ptr<OmFile>(new OmFile(std::move(impl)));
}

const OmInfo& OmFile::info() const { return impl_->info; }
const OmSizes& OmFile::sizes() const { return impl_->sizes; }
double OmFile::parse_ms() const { return impl_->parse_ms; }
size_t OmFile::plan_count() const { return impl_->plans.size(); }
int64_t OmFile::plan_batch(size_t plan) const { return impl_->plans[plan].batch; }
bool OmFile::plan_is_per_image(size_t plan) const { return impl_->plans[plan].per_image; }

size_t OmFile::PlanForGear(int64_t gear) const {
  const auto& gears = impl_->info.gears;
  const auto found = std::find(gears.begin(), gears.end(), gear);
  if (found == gears.end()) return plan_count();
  return impl_->plans[0].per_image ? 0 : static_cast<size_t>(found - gears.begin());
}

Result<Graph> OmFile::LoadGraph(size_t plan) const {
  if (plan >= plan_count()) return Status(StatusCode::kInvalidArgument, fmt::format("there is no plan {}", plan));
  Graph graph = impl_->plans[plan].graph;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const auto& constant = impl_->constants[plan][i];
    if (constant) graph.tensors[i].constant = std::make_shared<const Bytes>(constant->Content(impl_->weights));
  }
  return graph;
}

const std::vector<NativePlan>& OmFile::natives(size_t plan) const { return impl_->plans[plan].natives; }

}  // namespace npustream::om
