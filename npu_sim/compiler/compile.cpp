#include "npu_sim/compiler/compile.h"

#include <span>

#include "base/clock.h"
#include "base/log.h"
#include "npu_sim/compiler/batch_plans.h"
#include "npu_sim/compiler/custom_passes.h"
#include "npu_sim/compiler/emit/emit_om.h"
#include "npu_sim/compiler/ir/verify.h"
#include "npu_sim/compiler/passes/convert_outputs.h"
#include "npu_sim/compiler/passes/fold_batch_norm.h"
#include "npu_sim/compiler/passes/fold_constants.h"
#include "npu_sim/compiler/passes/fold_focus.h"
#include "npu_sim/compiler/passes/fold_into_aipp.h"
#include "npu_sim/compiler/passes/fuse_attention.h"
#include "npu_sim/compiler/passes/fuse_conv_activation.h"
#include "npu_sim/compiler/passes/fuse_conv_byte_add.h"
#include "npu_sim/compiler/passes/fuse_conv_residual.h"
#include "npu_sim/compiler/passes/fuse_layer_norm.h"
#include "npu_sim/compiler/passes/fuse_lookup.h"
#include "npu_sim/compiler/passes/fuse_mat_mul_bias.h"
#include "npu_sim/compiler/passes/fuse_quantized.h"
#include "npu_sim/compiler/passes/fuse_silu.h"
#include "npu_sim/compiler/passes/insert_aipp.h"
#include "npu_sim/compiler/passes/insert_quantization.h"
#include "npu_sim/compiler/passes/merge_common_nodes.h"
#include "npu_sim/compiler/passes/merge_pad_into_conv.h"
#include "npu_sim/compiler/passes/merge_reshapes.h"
#include "npu_sim/compiler/passes/move_transpose_up.h"
#include "npu_sim/compiler/passes/remove_dead_code.h"
#include "npu_sim/compiler/passes/remove_identities.h"
#include "npu_sim/compiler/passes/replace_gather_by_slice.h"
#include "npu_sim/compiler/passes/sink_transposes.h"
#include "npu_sim/compiler/passes/unsigned_activations.h"
#include "npu_sim/extension/registry.h"

namespace npustream::compiler {
namespace {

struct Pass {
  const char* name;
  Status (*run)(om::Graph& graph);
  // In place of `run`, for fusions that the chip limits.
  Status (*run_within)(om::Graph& graph, const FusionLimits& limits) = nullptr;
};

// The order matters: constants first, so that later passes see weights; residuals before activations, as a fused
// residual is added before the activation; integers after what may be fused on real numbers, and weights that no
// integer kernel took after them.
constexpr Pass kRealPasses[] = {
    {"FoldConstants", FoldConstants},
    {"RemoveIdentities", RemoveIdentities},
    {"MergeCommonNodes", MergeCommonNodes},
    {"ReplaceGatherBySlice", ReplaceGatherBySlice},
    {"FuseLayerNorm", nullptr, FuseLayerNorm},
    {"FuseAttention", nullptr, FuseAttention},
    {"SinkTransposes", SinkTransposes},
    {"FuseMatMulBias", FuseMatMulBias},
    {"MergeReshapes", MergeReshapes},
    {"MergePadIntoConv", MergePadIntoConv},
    {"FoldBatchNorm", FoldBatchNorm},
    {"FuseSilu", FuseSilu},
    {"RemoveDeadCode", RemoveDeadCode},
    {"FuseConvResidual", FuseConvResidual},
    {"FuseConvActivation", FuseConvActivation},
    {"FoldFocus", FoldFocus},
};

// Integers that the model has, or that InsertQuantization brought.
constexpr Pass kIntegerPasses[] = {
    {"UnsignedActivations", UnsignedActivations},
    {"FuseLookup", FuseLookup},
    {"FuseQuantized", FuseQuantized},
    {"FuseConvLookup", FuseConvLookup},
    {"FuseConvByteAdd", FuseConvByteAdd},
    {"FoldQuantisedWeights", FoldQuantisedWeights},
    {"MoveTransposeUp", MoveTransposeUp},
};

// Comes after the others, when the Aipp node is there.
constexpr const char* kFoldIntoAipp = "FoldIntoAipp";

Status Verify(const om::Graph& graph, const char* pass) {
#ifndef NDEBUG
  if (Status status = VerifyGraph(graph); !status.ok()) return status.WithContext(pass);
#endif
  static_cast<void>(graph);
  static_cast<void>(pass);
  return {};
}

// Runs a pass and says how long it took.
template <typename Function>
Status Timed(std::string_view name, const om::Graph& graph, Function run) {
  const size_t nodes_before = graph.nodes.size();
  const int64_t begin_ns = Clock::System().NowNs();
  NPUSTREAM_RETURN_IF_ERROR(run());
  Log(LogLevel::kInfo, "compiler", "pass {}: {:.2f} ms, {} nodes before, {} after", name,
      static_cast<double>(Clock::System().NowNs() - begin_ns) / 1e6, nodes_before, graph.nodes.size());
  return {};
}

// Those of extension libraries, which see the graph as it was imported.
Status RunCustomPasses(om::Graph& graph, const std::set<std::string>& disabled) {
  for (const NpustreamPass& pass : extension::Passes()) {
    if (disabled.count(pass.name) != 0) continue;
    NPUSTREAM_RETURN_IF_ERROR(Timed(pass.name, graph, [&] { return RunCustomPass(pass, graph); }));
  }
  return {};
}

Status RunAll(std::span<const Pass> passes, om::Graph& graph, const std::set<std::string>& disabled,
              const FusionLimits& limits) {
  for (const Pass& pass : passes) {
    if (disabled.count(pass.name) != 0) continue;
    NPUSTREAM_RETURN_IF_ERROR(
        Timed(pass.name, graph, [&] { return pass.run_within ? pass.run_within(graph, limits) : pass.run(graph); }));
    NPUSTREAM_RETURN_IF_ERROR(Verify(graph, pass.name));
  }
  return {};
}

}  // namespace

std::vector<std::string_view> PassNames() {
  std::vector<std::string_view> names;
  for (const NpustreamPass& pass : extension::Passes()) names.emplace_back(pass.name);
  for (const Pass& pass : kRealPasses) names.push_back(pass.name);
  for (const Pass& pass : kIntegerPasses) names.push_back(pass.name);
  names.push_back(kFoldIntoAipp);
  return names;
}

Status RunRealPasses(om::Graph& graph, const std::set<std::string>& disabled, const FusionLimits& limits) {
  NPUSTREAM_RETURN_IF_ERROR(RunCustomPasses(graph, disabled));
  return RunAll(kRealPasses, graph, disabled, limits);
}

Status RunIntegerPasses(om::Graph& graph, const std::set<std::string>& disabled) {
  return RunAll(kIntegerPasses, graph, disabled, {});
}

Status RunPasses(om::Graph& graph, const std::set<std::string>& disabled) {
  NPUSTREAM_RETURN_IF_ERROR(RunRealPasses(graph, disabled));
  return RunIntegerPasses(graph, disabled);
}

Result<om::OmModel> Compile(const OnnxModel& model, const CompileOptions& options) {
  // 1. ONNX to one graph per batch size, or to one graph for all of them.
  NPUSTREAM_ASSIGN_OR_RETURN(BatchPlans batches, ImportBatchPlans(model, options));
  for (om::OmPlan& plan : batches.plans) {
    // 2. Optimisations that do not change results, and between them quantisation, which does.
    NPUSTREAM_RETURN_IF_ERROR(RunRealPasses(plan.graph, options.disabled_passes, options.fusion_limits));
    if (options.quantization) NPUSTREAM_RETURN_IF_ERROR(InsertQuantization(plan.graph, *options.quantization));
    NPUSTREAM_RETURN_IF_ERROR(RunIntegerPasses(plan.graph, options.disabled_passes));
    // 3. What the user wants at the model's edges, and what a device would round on the way from one to the other.
    NPUSTREAM_RETURN_IF_ERROR(InsertAipp(plan.graph, options.aipp));
    if (options.disabled_passes.count(kFoldIntoAipp) == 0) NPUSTREAM_RETURN_IF_ERROR(FoldIntoAipp(plan.graph));
    NPUSTREAM_RETURN_IF_ERROR(LowerPrecision(plan.graph, options.precision));
    NPUSTREAM_RETURN_IF_ERROR(ConvertOutputs(plan.graph, options.output_types));
    NPUSTREAM_RETURN_IF_ERROR(RemoveDeadCode(plan.graph));
    NPUSTREAM_RETURN_IF_ERROR(VerifyGraph(plan.graph));
    // 4. Every node must have a kernel; then layouts, packed weights and buffers for kinds of machines.
    NPUSTREAM_RETURN_IF_ERROR(LowerPlan(plan, options.packed_isas));
  }
  // 5. The model's description.
  return DescribeModel(std::move(batches), options);
}

}  // namespace npustream::compiler
