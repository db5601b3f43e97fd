// ONNX's own tests of single operators (Debian's libonnx-testdata): each is imported, optimised and run, and compared with
// the outputs that come with it. Operators that are not supported say so and are counted; a wrong result fails.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "npu_sim/compiler/compile.h"
#include "npu_sim/compiler/ir/constants.h"
#include "npu_sim/compiler/ir/rewrite.h"
#include "npu_sim/compiler/ir/verify.h"
#include "npu_sim/compiler/onnx/import_model.h"
#include "npu_sim/compiler/onnx/tensor_proto.h"
#include "npu_sim/program/evaluate.h"

namespace npustream::compiler {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "/usr/share/libonnx-testdata/data/node";

struct Verdict {
  enum Kind { kRight, kUnsupported, kWrong } kind = kWrong;
  std::string reason;
};

Verdict Judge(const Status& status) {
  return {status.code() == StatusCode::kUnsupported ? Verdict::kUnsupported : Verdict::kWrong, status.message()};
}

Result<om::Tensor> ReadTensor(const fs::path& path) {
  onnx::TensorProto proto;
  std::ifstream file(path, std::ios::binary);
  // Sequences and optional values are other messages, which fail here or in the reader.
  if (!file || !proto.ParseFromIstream(&file)) return Status(StatusCode::kUnsupported, path.string() + ": no tensor");
  return ReadTensorProto(proto, path.parent_path());
}

// Files input_0.pb, input_1.pb, … (or output_*) of a data set.
Result<std::vector<om::Tensor>> ReadTensors(const fs::path& folder, const char* stem) {
  std::vector<om::Tensor> tensors;
  for (int i = 0; fs::exists(folder / fmt::format("{}_{}.pb", stem, i)); ++i) {
    NPUSTREAM_ASSIGN_OR_RETURN(om::Tensor tensor, ReadTensor(folder / fmt::format("{}_{}.pb", stem, i)));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Moves the inputs from `first` on into the model, as networks have them: shapes, axes and bounds are constants there.
void FixInputs(OnnxModel& model, std::vector<om::Tensor>& data, size_t first) {
  for (size_t i = first; i < data.size(); ++i) model.graph.initializers[model.graph.inputs[i].name] = data[i];
  model.graph.inputs.resize(std::min(first, model.graph.inputs.size()));
  data.resize(std::min(first, data.size()));
}

std::string Difference(const om::Tensor& expected, const om::Tensor& shape, const om::Bytes& actual) {
  if (expected.dims != shape.dims) return "another shape";
  om::Tensor got = shape;
  got.constant = std::make_shared<const om::Bytes>(actual);
  const auto want_values = ReadFloats(expected), got_values = ReadFloats(got);
  if (!want_values.ok() || !got_values.ok() || want_values->size() != got_values->size()) return "another type";
  for (size_t i = 0; i < want_values->size(); ++i) {
    const float want = (*want_values)[i], have = (*got_values)[i];
    if (std::isnan(want) && std::isnan(have)) continue;
    if (want == have || std::fabs(want - have) <= 1e-5f + 1e-3f * std::fabs(want)) continue;
    return fmt::format("{} instead of {} at {}", have, want, i);
  }
  return "";
}

Verdict RunModel(const OnnxModel& model, const std::vector<om::Tensor>& inputs,
                 const std::vector<om::Tensor>& expected) {
  ImportOptions options;
  for (size_t i = 0; i < inputs.size(); ++i) options.input_shapes[model.graph.inputs[i].name] = inputs[i].dims;
  Result<om::Graph> graph = ImportModel(model, options);
  if (!graph.ok()) return Judge(graph.status());
  if (Status status = VerifyGraph(*graph); !status.ok()) return Judge(status);
  if (Status status = RunPasses(*graph, {}); !status.ok()) return Judge(status);
  if (Status status = VerifyGraph(*graph); !status.ok()) return Judge(status);
  std::vector<om::Bytes> contents;
  for (const om::Tensor& input : inputs) contents.push_back(*input.constant);
  const auto results = program::EvaluateGraph(*graph, contents);
  if (!results.ok()) return Judge(results.status());
  for (size_t i = 0; i < std::min(expected.size(), results->size()); ++i) {
    const std::string difference = Difference(expected[i], TensorOf(*graph, graph->outputs[i]), (*results)[i]);
    if (!difference.empty()) return {Verdict::kWrong, fmt::format("output {}: {}", i, difference)};
  }
  return {Verdict::kRight, ""};
}

Verdict RunCase(const fs::path& folder) {
  Result<OnnxModel> model = ReadOnnxModel(folder / "model.onnx");
  if (!model.ok()) return Judge(model.status());
  auto inputs = ReadTensors(folder / "test_data_set_0", "input");
  const auto expected = ReadTensors(folder / "test_data_set_0", "output");
  if (!inputs.ok()) return Judge(inputs.status());
  if (!expected.ok()) return Judge(expected.status());
  if (inputs->size() != model->graph.inputs.size()) return {Verdict::kUnsupported, "optional inputs"};
  const Verdict plain = RunModel(*model, *inputs, *expected);
  if (plain.kind == Verdict::kRight || inputs->size() < 2) return plain;
  FixInputs(*model, *inputs, 1);
  return RunModel(*model, *inputs, *expected);
}

// Tests of things that a compiled network does not have or that contradict our limits, with the reason.
const std::set<std::string>& Exceptions() {
  static const std::set<std::string> names = {
      // bfloat16 is stored as uint16 in these files.
      "test_cast_FLOAT_to_BFLOAT16", "test_castlike_BFLOAT16_to_FLOAT", "test_castlike_BFLOAT16_to_FLOAT_expanded",
      "test_castlike_FLOAT_to_BFLOAT16", "test_castlike_FLOAT_to_BFLOAT16_expanded",
      // Sequences, whose files happen to parse as tensors.
      "test_if_opt", "test_if_seq",
      // Tensors without elements.
      "test_reshape_allowzero_reordered", "test_split_zero_size_splits",
      // Fractional extents: ONNX Runtime and we scale by the whole extent of the result instead, as later versions of
      // the standard's reference do.
      "test_resize_downsample_scales_cubic_align_corners", "test_resize_downsample_scales_linear_align_corners",
  };
  return names;
}

TEST(OnnxNodeTest, EveryOperatorThatIsSupportedGivesTheStandardsResult) {
  if (!fs::exists(kFolder)) GTEST_SKIP() << "Debian's libonnx-testdata is not installed";
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kFolder)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  int right = 0, unsupported = 0;
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    if (Exceptions().count(name) != 0) continue;
    const Verdict verdict = RunCase(folder);
    right += verdict.kind == Verdict::kRight;
    unsupported += verdict.kind == Verdict::kUnsupported;
    EXPECT_NE(verdict.kind, Verdict::kWrong) << name << ": " << verdict.reason;
    if (verdict.kind == Verdict::kUnsupported && std::getenv("NPUSTREAM_LIST_UNSUPPORTED") != nullptr) {
      fmt::print("unsupported: {}: {}\n", name, verdict.reason);
    }
  }
  fmt::print("{} right, {} unsupported of {}\n", right, unsupported, folders.size());
  EXPECT_GE(right, 480);
}

}  // namespace
}  // namespace npustream::compiler
