// Every pass against text: golden/<pass>.txt holds cases of a graph, "-->", and the graph after the pass. Both are run
// on the same input as well, as a pass must not change results. NPUSTREAM_UPDATE_GOLDEN=1 rewrites what comes after the
// arrows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/file.h"
#include "npu_sim/compiler/ir/print.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/ir/verify.h"
#include "npu_sim/compiler/passes/fold_batch_norm.h"
#include "npu_sim/compiler/passes/fold_constants.h"
#include "npu_sim/compiler/passes/fold_focus.h"
#include "npu_sim/compiler/passes/fuse_attention.h"
#include "npu_sim/compiler/passes/fuse_conv_activation.h"
#include "npu_sim/compiler/passes/fuse_conv_residual.h"
#include "npu_sim/compiler/passes/fuse_layer_norm.h"
#include "npu_sim/compiler/passes/fuse_mat_mul_bias.h"
#include "npu_sim/compiler/passes/fuse_silu.h"
#include "npu_sim/compiler/passes/merge_common_nodes.h"
#include "npu_sim/compiler/passes/merge_pad_into_conv.h"
#include "npu_sim/compiler/passes/merge_reshapes.h"
#include "npu_sim/compiler/passes/move_transpose_up.h"
#include "npu_sim/compiler/passes/remove_dead_code.h"
#include "npu_sim/compiler/passes/remove_identities.h"
#include "npu_sim/compiler/passes/replace_gather_by_slice.h"
#include "npu_sim/compiler/passes/separate_activations.h"
#include "npu_sim/compiler/passes/sink_transposes.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/compiler/support/parse_graph.h"

namespace npustream::compiler {
namespace {

struct PassCase {
  const char* file;
  Status (*pass)(om::Graph& graph);
};

struct GoldenCase {
  std::string title, before, after;
};

std::filesystem::path GoldenFile(const char* name) {
  return std::filesystem::path(NPUSTREAM_SOURCE_DIR) / "tests/npu_sim/compiler/golden" / (std::string(name) + ".txt");
}

std::vector<GoldenCase> ReadCases(const std::filesystem::path& path) {
  const auto text = ReadTextFile(path);
  EXPECT_TRUE(text.ok()) << path;
  std::vector<GoldenCase> cases;
  std::string* part = nullptr;
  std::istringstream lines(text.ok() ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) {
      cases.push_back({line.substr(3), "", ""});
      part = &cases.back().before;
    } else if (line == "-->") {
      part = &cases.back().after;
    } else if (!line.empty() && part != nullptr) {
      *part += line + "\n";
    }
  }
  return cases;
}

void WriteCases(const std::filesystem::path& path, const std::vector<GoldenCase>& cases) {
  std::string text;
  for (const GoldenCase& golden : cases) {
    text += (text.empty() ? "## " : "\n## ") + golden.title + "\n" + golden.before + "-->\n" + golden.after;
  }
  ASSERT_TRUE(WriteFileAtomically(path, std::string_view(text)).ok());
}

// Values between −2 and 2 in a fixed order for every input.
std::vector<om::Bytes> Inputs(const om::Graph& graph) {
  std::vector<om::Bytes> inputs;
  for (const om::TensorId id : graph.inputs) {
    om::Bytes bytes(TensorOf(graph, id).ByteSize());
    for (size_t i = 0; i * sizeof(float) < bytes.size(); ++i) {
      const float value = static_cast<float>((i * 53) % 211) / 52.5f - 2.0f;
      std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof value);
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

void ExpectSameResults(const om::Graph& before, const om::Graph& after) {
  const auto expected = program::EvaluateGraph(before, Inputs(before));
  const auto actual = program::EvaluateGraph(after, Inputs(after));
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  ASSERT_TRUE(actual.ok()) << actual.status().message();
  ASSERT_EQ(expected->size(), actual->size());
  for (size_t o = 0; o < expected->size(); ++o) {
    ASSERT_EQ((*expected)[o].size(), (*actual)[o].size());
    if (TensorOf(before, before.outputs[o]).type != om::DataType::kFloat32) continue;
    for (size_t i = 0; i < (*expected)[o].size(); i += sizeof(float)) {
      float want = 0, got = 0;
      std::memcpy(&want, (*expected)[o].data() + i, sizeof want);
      std::memcpy(&got, (*actual)[o].data() + i, sizeof got);
      ASSERT_NEAR(got, want, 1e-4f * (1 + std::fabs(want))) << "output " << o << " at " << i / sizeof(float);
    }
  }
}

// On a chip whose cores hold so many bytes.
template <uint64_t kBytes>
Status FuseAttentionWithin(om::Graph& graph) {
  return FuseAttention(graph, {kBytes});
}
template <uint64_t kBytes>
Status FuseLayerNormWithin(om::Graph& graph) {
  return FuseLayerNorm(graph, {kBytes});
}

class GoldenPassTest : public testing::TestWithParam<PassCase> {};

TEST_P(GoldenPassTest, TurnsEachGraphIntoTheExpectedOne) {
  const std::filesystem::path path = GoldenFile(GetParam().file);
  std::vector<GoldenCase> cases = ReadCases(path);
  ASSERT_FALSE(cases.empty()) << path;
  const bool update = std::getenv("NPUSTREAM_UPDATE_GOLDEN") != nullptr;
  for (GoldenCase& golden : cases) {
    SCOPED_TRACE(golden.title);
    const om::Graph before = ParseGraph(golden.before);
    ASSERT_TRUE(VerifyGraph(before).ok()) << VerifyGraph(before).message();
    om::Graph after = before;
    ASSERT_TRUE(GetParam().pass(after).ok());
    ASSERT_TRUE(VerifyGraph(after).ok()) << VerifyGraph(after).message();
    if (update) golden.after = PrintGraph(after);
    EXPECT_EQ(PrintGraph(after), golden.after);
    ExpectSameResults(before, after);
  }
  if (update) WriteCases(path, cases);
}

INSTANTIATE_TEST_SUITE_P(
    AllPasses, GoldenPassTest,
    testing::Values(PassCase{"fold_batch_norm", FoldBatchNorm}, PassCase{"fold_constants", FoldConstants},
                    PassCase{"fold_focus", FoldFocus}, PassCase{"fuse_attention", FuseAttentionWithin<1024>},
                    PassCase{"fuse_attention_small_chip", FuseAttentionWithin<59>}, PassCase{"fuse_layer_norm", FuseLayerNormWithin<1024>},
                    PassCase{"fuse_layer_norm_small_chip", FuseLayerNormWithin<23>},
                    PassCase{"merge_common_nodes", MergeCommonNodes},
                    PassCase{"fuse_conv_activation", FuseConvActivation},
                    PassCase{"fuse_conv_residual", FuseConvResidual}, PassCase{"fuse_mat_mul_bias", FuseMatMulBias},
                    PassCase{"fuse_silu", FuseSilu}, PassCase{"merge_pad_into_conv", MergePadIntoConv},
                    PassCase{"merge_reshapes", MergeReshapes}, PassCase{"move_transpose_up", MoveTransposeUp},
                    PassCase{"remove_dead_code", RemoveDeadCode}, PassCase{"remove_identities", RemoveIdentities},
                    PassCase{"replace_gather_by_slice", ReplaceGatherBySlice},
                    PassCase{"separate_activations", SeparateActivations},
                    PassCase{"sink_transposes", SinkTransposes}),
    [](const testing::TestParamInfo<PassCase>& info) { return std::string(info.param.file); });

}  // namespace
}  // namespace npustream::compiler
