#include "npu_sim/program/lowering.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/log.h"
#include "npu_sim/kernels/kernel.h"
#include "npu_sim/program/draft.h"
#include "npu_sim/program/plane_map.h"

namespace npustream::program {
namespace {

using kernels::Choice;
using kernels::Kernel;
using kernels::Problem;
using kernels::TensorInfo;
using om::Layout;
using om::TensorId;

bool MovesPlanes(const std::string& op) {
  return op == "Reshape" || op == "Transpose" || op == "Gather" || op == "Split" || op == "Slice" || op == "Concat";
}

// Turns the nodes of a graph, in their order, into steps. A tensor is either materialised (it has a value, and further
// ones in other layouts once they were asked for) or only described by a plane map.
class Lowering {
 public:
  Lowering(om::Graph graph, kernels::Isa isa)
      : graph_(std::move(graph)), isa_(isa), states_(graph_.tensors.size()) {}

  Result<Draft> Run() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const int32_t value = AddValue(graph_.tensors[graph_.inputs[i]], Layout::kPlain);
      draft_.values[value].place = om::Place::kInput;
      draft_.values[value].index = static_cast<int32_t>(i);
      SetHome(graph_.inputs[i], value);
    }
    for (const om::Node& node : graph_.nodes) {
      if (const Status status = LowerNode(node); !status.ok())
        return status.WithContext(fmt::format("node '{}' ({})", node.name, node.op));
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) NPUSTREAM_RETURN_IF_ERROR(PlaceOutput(i));
    return std::move(draft_);
  }

 private:
  struct State {
    int32_t home = -1;                 // value as it was produced
    std::map<Layout, int32_t> copies;  // every layout that exists
    std::optional<PlaneMap> planes;    // when it was not materialised
  };

  int32_t AddValue(const om::Tensor& tensor, Layout layout) {
    DraftValue value{tensor.name, tensor.type, tensor.dims, layout};
    value.quantization = tensor.quantization;
    draft_.values.push_back(std::move(value));
    return static_cast<int32_t>(draft_.values.size() - 1);
  }

  void SetHome(TensorId id, int32_t value) {
    states_[id].home = value;
    states_[id].copies[draft_.values[value].layout] = value;
  }

  // A constant of the graph with other dims, or packed.
  int32_t AddConstant(const om::Tensor& tensor, om::Dims dims, Layout layout, om::Blob content) {
    const int32_t value = AddValue(tensor, layout);
    draft_.values[value].dims = std::move(dims);
    draft_.values[value].place = om::Place::kConstant;
    draft_.values[value].index = static_cast<int32_t>(draft_.constants.size());
    draft_.constants.push_back(std::move(content));
    return value;
  }

  // A view of `parent`'s memory.
  int32_t AddAlias(const om::Tensor& tensor, Layout layout, int32_t parent, uint64_t offset) {
    const int32_t value = AddValue(tensor, layout);
    draft_.values[value].parent = parent;
    draft_.values[value].offset = offset;
    return value;
  }

  DraftStep MakeStep(const om::Node& node) {
    DraftStep step;
    step.node.name = node.name;
    step.node.op = node.op;
    step.node.attributes = node.attributes;
    return step;
  }

  Result<int32_t> Home(TensorId id) {
    State& state = states_[id];
    const om::Tensor& tensor = graph_.tensors[id];
    if (state.home >= 0) return state.home;
    if (tensor.is_constant()) {
      SetHome(id, AddConstant(tensor, tensor.dims, Layout::kPlain, om::Blob{tensor.constant, *tensor.constant}));
      return state.home;
    }
    if (!state.planes)
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("tensor '{}' is used before it is computed", tensor.name));
    NPUSTREAM_ASSIGN_OR_RETURN(const int32_t value, Materialise(id, *state.planes));
    SetHome(id, value);
    return value;
  }

  // The tensor in a given layout; a reorder step (or, for constants, a reorder now) where it does not exist yet.
  Result<int32_t> Get(TensorId id, Layout layout) {
    NPUSTREAM_ASSIGN_OR_RETURN(const int32_t home, Home(id));
    if (const auto found = states_[id].copies.find(layout); found != states_[id].copies.end()) return found->second;
    // Blocks of one size become those of another by way of planes.
    const bool is_blocked = draft_.values[home].layout != Layout::kPlain;
    const bool by_planes = is_blocked && layout != Layout::kPlain;
    NPUSTREAM_ASSIGN_OR_RETURN(const int32_t source, by_planes ? Get(id, Layout::kPlain) : Result<int32_t>(home));
    const om::Tensor& tensor = graph_.tensors[id];
    const int32_t value = AddValue(tensor, layout);
    DraftStep step;
    step.node = {fmt::format("{}:{}", tensor.name, om::ToString(layout)), "Reorder", {source}, {value}, {}};
    step.implementation = std::string("vector ") + kernels::ToString(isa_);
    draft_.steps.push_back(std::move(step));
    states_[id].copies[layout] = value;
    return value;
  }

  // A described tensor becomes a view of its only source, or a Planes step.
  Result<int32_t> Materialise(TensorId id, const PlaneMap& map) {
    const om::Tensor& tensor = graph_.tensors[id];
    const PlaneMap::Plane first = map.planes[0];
    bool contiguous = true;
    for (size_t i = 0; contiguous && i < map.planes.size(); ++i) {
      contiguous = map.planes[i] == PlaneMap::Plane{first.source, first.index + static_cast<int64_t>(i)};
    }
    if (contiguous) {
      NPUSTREAM_ASSIGN_OR_RETURN(const std::optional<int32_t> view, View(tensor, map, first));
      if (view) return *view;
    }
    return AddPlanesStep(tensor, map);
  }

  // A view when planes [first.index, …) of the source are what `tensor` is.
  Result<std::optional<int32_t>> View(const om::Tensor& tensor, const PlaneMap& map, const PlaneMap::Plane& first) {
    NPUSTREAM_ASSIGN_OR_RETURN(int32_t source, Home(first.source));
    const om::Dims& from = graph_.tensors[first.source].dims;
    const auto count = static_cast<int64_t>(map.planes.size());
    const auto plane_bytes = static_cast<uint64_t>(map.plane_size) * om::SizeOf(tensor.type);
    const Layout layout = draft_.values[source].layout;
    if (layout != Layout::kPlain) {
      const int64_t block = om::BlockOf(layout);
      const bool whole = first.index == 0 && count == from[0] * from[1];
      const bool same_channels = tensor.dims.size() >= 3 && tensor.dims[0] == from[0] &&
                                 (!whole || tensor.dims[1] == from[1]) && tensor.dims[0] * tensor.dims[1] == count;
      if (whole && same_channels) return std::optional(AddAlias(tensor, layout, source, 0));
      const bool aligned =
          from[0] == 1 && first.index % block == 0 && (count % block == 0 || first.index + count == from[1]);
      if (same_channels && aligned)
        return std::optional(AddAlias(tensor, layout, source, static_cast<uint64_t>(first.index) * plane_bytes));
      const bool few = tensor.type == om::DataType::kFloat32 && tensor.dims.size() >= 3 && 2 * tensor.dims[1] <= block;
      if (!whole && !few) return std::optional<int32_t>();
      NPUSTREAM_ASSIGN_OR_RETURN(source, Get(first.source, Layout::kPlain));
    }
    return std::optional(AddAlias(tensor, Layout::kPlain, source, static_cast<uint64_t>(first.index) * plane_bytes));
  }

  Result<int32_t> AddPlanesStep(const om::Tensor& tensor, const PlaneMap& map) {
    std::vector<TensorId> sources;
    std::vector<int64_t> source_of, plane_of;
    for (const PlaneMap::Plane& plane : map.planes) {
      auto found = std::find(sources.begin(), sources.end(), plane.source);
      if (found == sources.end()) found = sources.insert(sources.end(), plane.source);
      source_of.push_back(found - sources.begin());
      plane_of.push_back(plane.index);
    }
    om::Node node{tensor.name, "Planes", {}, {}, {}};
    node.attributes = {{"source", source_of}, {"plane", plane_of}, {"plane_size", map.plane_size}};
    Problem problem;
    problem.node = &node;
    problem.isa = isa_;
    for (const TensorId source : sources) {
      NPUSTREAM_ASSIGN_OR_RETURN(const int32_t value, Home(source));
      problem.inputs.push_back(InfoOf(value));
    }
    problem.outputs.push_back({tensor.type, tensor.dims, Layout::kPlain, {}, false, false, tensor.quantization.get()});
    const Kernel* kernel = kernels::FindKernel("Planes");
    NPUSTREAM_RETURN_IF_ERROR(kernels::CheckProblem(*kernel, problem));
    NPUSTREAM_ASSIGN_OR_RETURN(const Choice choice, kernel->Choose(problem));
    DraftStep step = MakeStep(node);
    step.implementation = choice.implementation;
    for (size_t i = 0; i < sources.size(); ++i) {
      NPUSTREAM_ASSIGN_OR_RETURN(const int32_t value, Get(sources[i], choice.inputs[i]));
      step.node.inputs.push_back(value);
    }
    const int32_t result = AddValue(tensor, choice.outputs[0]);
    step.node.outputs = {result};
    draft_.steps.push_back(std::move(step));
    return result;
  }

  TensorInfo InfoOf(int32_t value) const {
    const DraftValue& v = draft_.values[value];
    TensorInfo info{v.type, v.dims, v.layout, {}, false, v.place == om::Place::kConstant, v.quantization.get()};
    if (info.is_constant) info.constant = draft_.constants[v.index].bytes;
    return info;
  }

  // Describes the outputs of a node that only moves planes, instead of computing them.
  bool TryPlanes(const om::Node& node) {
    if (!MovesPlanes(node.op)) return false;
    std::vector<PlaneMap> maps;
    const size_t count = node.op == "Gather" ? 1 : node.inputs.size();
    maps.reserve(count);
    std::vector<const PlaneMap*> pointers;
    for (size_t i = 0; i < count; ++i) {
      const TensorId id = node.inputs[i];
      auto map = states_[id].planes ? states_[id].planes : IdentityMap(graph_.tensors[id], id);
      if (!map) return false;
      maps.push_back(std::move(*map));
      pointers.push_back(&maps.back());
    }
    auto moved = MovePlanes(graph_, node, pointers);
    if (!moved) return false;
    for (size_t i = 0; i < node.outputs.size(); ++i) states_[node.outputs[i]].planes = std::move((*moved)[i]);
    return true;
  }

  // A reshape that cuts planes still needs no step: it is another view of the plain tensor.
  Status LowerReshape(const om::Node& node) {
    NPUSTREAM_ASSIGN_OR_RETURN(const int32_t source, Get(node.inputs[0], Layout::kPlain));
    const om::Tensor& tensor = graph_.tensors[node.outputs[0]];
    if (draft_.values[source].place == om::Place::kConstant) {
      const int32_t constant = draft_.values[source].index;
      SetHome(node.outputs[0],
              AddConstant(tensor, tensor.dims, Layout::kPlain, draft_.constants[constant]));
    } else {
      SetHome(node.outputs[0], AddAlias(tensor, Layout::kPlain, source, 0));
    }
    return {};
  }

  Status LowerNode(const om::Node& node) {
    if (TryPlanes(node)) return {};
    if (node.op == "Reshape" || node.op == "Identity") return LowerReshape(node);
    const Kernel* kernel = kernels::FindKernel(node.op);
    NPUSTREAM_ASSIGN_OR_RETURN(Problem problem, kernels::MakeProblem(graph_, node, isa_));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == om::kNoTensor || problem.inputs[i].is_constant) continue;
      NPUSTREAM_ASSIGN_OR_RETURN(const int32_t home, Home(node.inputs[i]));
      problem.inputs[i].layout = draft_.values[home].layout;
    }
    if (kernel == kernels::FindKernel("Add")) AlignConstantRanks(problem);
    NPUSTREAM_ASSIGN_OR_RETURN(Choice choice, kernel->Choose(problem));
    if (choice.on_dnnl && isa_ != kernels::RunningIsa())
      return Status(StatusCode::kUnsupported, "oneDNN does it, which packs weights only for the CPU at hand");
    draft_.on_dnnl |= choice.on_dnnl;
    if (choice.implementation.find("gemm") != std::string::npos && node.op == "Conv") {
      Log(LogLevel::kInfo, "lowering", "convolution '{}' runs on {}", node.name, choice.implementation);
    }
    DraftStep step = MakeStep(node);
    step.implementation = choice.implementation;
    step.scratch_bytes = choice.scratch_bytes;
    step.in_place_input = choice.in_place_input;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      NPUSTREAM_ASSIGN_OR_RETURN(const int32_t value, Input(node, i, problem.inputs[i], choice));
      step.node.inputs.push_back(value);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const int32_t value = AddValue(graph_.tensors[node.outputs[i]], choice.outputs[i]);
      step.node.outputs.push_back(value);
      SetHome(node.outputs[i], value);
    }
    draft_.steps.push_back(std::move(step));
    return {};
  }

  // Gives constants of smaller rank leading ones, so that a constant per channel has its channels on axis 1. For the
  // operators that broadcast.
  static void AlignConstantRanks(Problem& problem) {
    const size_t rank = problem.outputs[0].dims.size();
    for (TensorInfo& input : problem.inputs) {
      if (input.is_constant && input.dims.size() < rank)
        input.dims.insert(input.dims.begin(), rank - input.dims.size(), 1);
    }
  }

  // The value that a step reads as its input i.
  Result<int32_t> Input(const om::Node& node, size_t i, const TensorInfo& info, Choice& choice) {
    const TensorId id = node.inputs[i];
    if (id == om::kNoTensor) return om::kNoTensor;
    const om::Tensor& tensor = graph_.tensors[id];
    if (choice.packed[i])
      return AddConstant(tensor, info.dims, Layout::kPlain, om::MakeBlob(std::move(*choice.packed[i])));
    if (!info.is_constant) return Get(id, choice.inputs[i]);
    if (choice.inputs[i] == Layout::kPlain && info.dims == tensor.dims) return Home(id);
    if (choice.inputs[i] == Layout::kPlain)
      return AddConstant(tensor, info.dims, Layout::kPlain,
                         om::Blob{tensor.constant, *tensor.constant});
    NPUSTREAM_ASSIGN_OR_RETURN(om::Bytes reordered, ReorderConstant(info, choice.inputs[i]));
    return AddConstant(tensor, info.dims, choice.inputs[i], om::MakeBlob(std::move(reordered)));
  }

  Result<om::Bytes> ReorderConstant(const TensorInfo& info, Layout layout) const {
    om::Node node;
    node.op = "Reorder";
    Problem problem{&node, {info}, {info}, kernels::RunningIsa(), 0};  // run here, whoever reads it
    problem.outputs[0].layout = layout;
    om::Bytes bytes(problem.outputs[0].Bytes());
    if (bytes.empty()) return bytes;
    NPUSTREAM_ASSIGN_OR_RETURN(const auto executor, kernels::FindKernel("Reorder")->Prepare(problem));
    const std::byte* const input = info.constant.data();
    std::byte* const output = bytes.data();
    NPUSTREAM_RETURN_IF_ERROR(executor->Run({&input, &output, nullptr}));
    return bytes;
  }

  // Output i of the model must be plain and lie in the caller's memory: computed there, with all that it is a view of,
  // or copied.
  Status PlaceOutput(size_t i) {
    const TensorId id = graph_.outputs[i];
    NPUSTREAM_ASSIGN_OR_RETURN(const int32_t value, Get(id, Layout::kPlain));
    uint64_t offset = 0;
    int32_t result = draft_.Root(value, &offset);
    const DraftValue& owner = draft_.values[result];
    if (owner.place != om::Place::kBuffer || offset != 0 || owner.Bytes() != draft_.values[value].Bytes()) {
      result = AddValue(graph_.tensors[id], Layout::kPlain);
      DraftStep step;
      step.node = {graph_.tensors[id].name, "Reorder", {value}, {result}, {}};
      step.implementation = "copy";
      draft_.steps.push_back(std::move(step));
    }
    draft_.values[result].place = om::Place::kOutput;
    draft_.values[result].index = static_cast<int32_t>(i);
    return {};
  }

  const om::Graph graph_;
  kernels::Isa isa_;
  std::vector<State> states_;
  Draft draft_;
};

// The graph with bfloat16 in place of float32 for tensors that are written and read by nothing but kernels that can. One
// whose every reader rounds it anyway loses nothing by that.
om::Graph StoreAsBf16(om::Graph graph, kernels::Isa isa) {
  std::vector<bool> can(graph.tensors.size());
  std::vector<const om::Node*> movers;
  const auto refuse = [&](TensorId id) {
    if (id != om::kNoTensor) can[static_cast<size_t>(id)] = false;
  };
  for (const om::Node& node : graph.nodes) {
    const Kernel* kernel = kernels::FindKernel(node.op);
    const Result<Problem> problem = kernels::MakeProblem(graph, node, isa);
    const bool known = kernel != nullptr && problem.ok(), moves = known && kernel->MovesBf16(*problem);
    if (moves) movers.push_back(&node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!moves && !(known && kernel->CanReadBf16(*problem, i))) refuse(node.inputs[i]);
    }
    if (moves || (known && kernel->CanWriteBf16(*problem))) can[static_cast<size_t>(node.outputs[0])] = true;
  }
  for (const TensorId output : graph.outputs) refuse(output);
  // What is moved has one type from end to end.
  for (bool changes = true; changes;) {
    changes = false;
    for (const om::Node* node : movers) {
      const auto is = [&](TensorId id) { return can[static_cast<size_t>(id)]; };
      const auto count = std::count_if(node->inputs.begin(), node->inputs.end(), is) + is(node->outputs[0]);
      if (count == 0 || count == static_cast<std::ptrdiff_t>(node->inputs.size()) + 1) continue;
      std::for_each(node->inputs.begin(), node->inputs.end(), refuse);
      refuse(node->outputs[0]);
      changes = true;
    }
  }
  for (size_t i = 0; i < can.size(); ++i) {
    if (can[i]) graph.tensors[i].type = om::DataType::kBFloat16;
  }
  return graph;
}

// Every node that cannot be run, in one message.
Status CheckNodes(const om::Graph& graph, kernels::Isa isa) {
  std::string problems;
  for (const om::Node& node : graph.nodes) {
    if (const Status status = kernels::CheckNode(graph, node, isa); !status.ok()) {
      problems +=
          fmt::format("{}node '{}' ({}): {}", problems.empty() ? "" : "; ", node.name, node.op, status.message());
    }
  }
  if (problems.empty()) return {};
  return Status(StatusCode::kUnsupported, problems);
}

}  // namespace

Result<om::NativePlan> Lower(const om::Graph& graph, kernels::Isa isa) {
  NPUSTREAM_RETURN_IF_ERROR(CheckNodes(graph, isa));
  NPUSTREAM_ASSIGN_OR_RETURN(Draft draft, Lowering(StoreAsBf16(graph, isa), isa).Run());
  QuantizeIntoPixels(draft);
  JoinWithoutCopy(draft);
  ComputeInPlace(draft);
  om::NativePlan plan = PlanBuffers(draft);
  plan.isa = kernels::ToString(isa);
  plan.engine = kernels::PackingVersion(draft.on_dnnl);
  return plan;
}

}  // namespace npustream::program
