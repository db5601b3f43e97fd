// Every pass against text: golden/<pass>.txt holds cases of a graph, "-->", and the graph after the pass. Both are run
// on the same input as well, as a pass must not change results. NPUSTREAM_UPDATE_GOLDEN=1 rewrites what comes after the
// arrows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

#include "base/file.h"
#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/print.h"
#include "npu_sim/compiler/ir/rewrite.h"
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
#include "npu_sim/compiler/passes/separate_activations.h"
#include "npu_sim/compiler/passes/sink_transposes.h"
#include "npu_sim/compiler/passes/unsigned_activations.h"
#include "npu_sim/program/evaluate.h"
#include "tests/npu_sim/compiler/support/parse_graph.h"

namespace npustream::compiler {
namespace {

struct PassCase {
  const char* file;
  Status (*pass)(om::Graph& graph);
  bool same_results = true;  // false for what is meant to change the model's edges or its precision
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

// Values in a fixed order for every input: between −2 and 2, or all bytes.
std::vector<om::Bytes> Inputs(const om::Graph& graph) {
  std::vector<om::Bytes> inputs;
  for (const om::TensorId id : graph.inputs) {
    const om::Tensor& tensor = TensorOf(graph, id);
    om::Bytes bytes(tensor.ByteSize());
    for (size_t i = 0; i < static_cast<size_t>(om::ElementCount(tensor.dims)); ++i) {
      const size_t step = (i * 53) % 211;
      const float value = static_cast<float>(step) / 52.5f - 2.0f;
      if (tensor.type == om::DataType::kFloat32) std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
      if (om::SizeOf(tensor.type) == 1) bytes[i] = static_cast<std::byte>(step + 22);
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

// The most by which a pass may change an output: real numbers by rounding, integers by the tie that it decides.
void ExpectSameContent(const om::Tensor& tensor, const om::Bytes& expected, const om::Bytes& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  om::Tensor want = tensor, got = tensor;
  want.constant = std::make_shared<const om::Bytes>(expected);
  got.constant = std::make_shared<const om::Bytes>(actual);
  const std::vector<float> wanted = ReadFloats(want).value(), found = ReadFloats(got).value();
  const bool real = tensor.type == om::DataType::kFloat32;
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(found[i], wanted[i], real ? 1e-4f * (1 + std::fabs(wanted[i])) : 1.0f)
        << "output " << tensor.name << " at " << i;
  }
}

// Convolutions of real numbers run with weights that are constants only.
Result<std::vector<om::Bytes>> Evaluate(om::Graph graph) {
  NPUSTREAM_RETURN_IF_ERROR(FoldQuantisedWeights(graph));
  return program::EvaluateGraph(graph, Inputs(graph));
}

void ExpectSameResults(const om::Graph& before, const om::Graph& after) {
  const auto expected = Evaluate(before);
  const auto actual = Evaluate(after);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  ASSERT_TRUE(actual.ok()) << actual.status().message();
  ASSERT_EQ(expected->size(), actual->size());
  for (size_t o = 0; o < expected->size(); ++o) {
    ExpectSameContent(TensorOf(before, before.outputs[o]), (*expected)[o], (*actual)[o]);
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

Status ConvertAToHalf(om::Graph& graph) { return ConvertOutputs(graph, {{"a", om::DataType::kFloat16}}); }

Status InsertAippOfRgb(om::Graph& graph) {
  om::AippConfig aipp;
  aipp.input_format = "RGB888_U8";
  aipp.src_image_size_w = 6;
  aipp.src_image_size_h = 5;
  aipp.crop = true;
  aipp.load_start_pos_w = aipp.load_start_pos_h = 1;
  aipp.crop_size_w = aipp.crop_size_h = 4;
  aipp.mean_chn = {104, 117, 123, 0};
  aipp.var_reci_chn = {0.5f, 0.25f, 0.125f, 1};
  return InsertAipp(graph, {aipp});
}

// x and its activation on bytes.
Status QuantizeXAndA(om::Graph& graph) {
  QuantizationScheme scheme;
  scheme.tensors["x"] = {{0.02f}, {100}};
  scheme.tensors["a"] = {{0.05f}, {10}};
  return InsertQuantization(graph, scheme);
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
    if (GetParam().same_results) ExpectSameResults(before, after);
  }
  if (update) WriteCases(path, cases);
}

constexpr PassCase kPasses[] = {
    {"convert_outputs", ConvertAToHalf, false},
    {"fold_batch_norm", FoldBatchNorm},
    {"fold_constants", FoldConstants},
    {"fold_focus", FoldFocus},
    {"fold_into_aipp", FoldIntoAipp},
    {"fold_quantised_weights", FoldQuantisedWeights},
    {"fuse_attention", FuseAttentionWithin<1024>},
    {"fuse_attention_small_chip", FuseAttentionWithin<59>},
    {"fuse_conv_activation", FuseConvActivation},
    {"fuse_conv_byte_add", FuseConvByteAdd},
    {"fuse_conv_lookup", FuseConvLookup},
    {"fuse_conv_residual", FuseConvResidual},
    {"fuse_layer_norm", FuseLayerNormWithin<1024>},
    {"fuse_layer_norm_small_chip", FuseLayerNormWithin<23>},
    {"fuse_lookup", FuseLookup},
    {"fuse_mat_mul_bias", FuseMatMulBias},
    {"fuse_quantized", FuseQuantized},
    {"fuse_silu", FuseSilu},
    {"insert_aipp", InsertAippOfRgb, false},
    {"insert_quantization", QuantizeXAndA, false},
    {"merge_common_nodes", MergeCommonNodes},
    {"merge_pad_into_conv", MergePadIntoConv},
    {"merge_reshapes", MergeReshapes},
    {"move_transpose_up", MoveTransposeUp},
    {"remove_dead_code", RemoveDeadCode},
    {"remove_identities", RemoveIdentities},
    {"replace_gather_by_slice", ReplaceGatherBySlice},
    {"separate_activations", SeparateActivations},
    {"sink_transposes", SinkTransposes},
    {"unsigned_activations", UnsignedActivations},
};

INSTANTIATE_TEST_SUITE_P(AllPasses, GoldenPassTest, testing::ValuesIn(kPasses),
                         [](const testing::TestParamInfo<PassCase>& info) { return std::string(info.param.file); });

}  // namespace
}  // namespace npustream::compiler
