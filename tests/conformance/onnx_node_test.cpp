// ONNX's own tests of single operators (Debian's libonnx-testdata): each is compiled, written as an OM, read back and
// run, once as networks are and once without folding, so that the kernels do everything; the outputs are compared with
// those that come with it. Operators that are not supported say so and are counted; a wrong result fails.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "npu_sim/compiler/compile.h"
#include "npu_sim/compiler/onnx/tensor_proto.h"
#include "npu_sim/om/om_reader.h"
#include "npu_sim/om/om_writer.h"
#include "npu_sim/program/program.h"
#include "tests/conformance/node_exclusions.h"

namespace npustream::compiler {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "/usr/share/libonnx-testdata/data/node";

constexpr int64_t kOldestOpset = 7;

using Passes = std::set<std::string>;

struct Verdict {
  enum Kind { kRight, kUnsupported, kWrong } kind = kWrong;
  std::string reason;
  bool has_run = false;  // there were results
};

Verdict Judge(const Status& status) {
  return {status.code() == StatusCode::kUnsupported ? Verdict::kUnsupported : Verdict::kWrong, status.message()};
}

Result<om::Tensor> ReadTensor(const fs::path& path) {
  onnx::TensorProto proto;
  std::ifstream file(path, std::ios::binary);
  // Sequences and optional values are other messages, which fail here or in the reader.
  if (!file || !proto.ParseFromIstream(&file)) return Status(StatusCode::kUnsupported, path.string() + ": no tensor");
  ExternalFiles files(path.parent_path());
  return ReadTensorProto(proto, files);
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

// Moves the inputs but for `kept` into the model, as networks have them: shapes, axes and bounds are constants there.
void FixInputs(OnnxModel& model, std::vector<om::Tensor>& data, std::optional<size_t> kept) {
  std::vector<OnnxValue> inputs;
  std::vector<om::Tensor> values;
  for (size_t i = 0; i < data.size(); ++i) {
    if (kept == i) {
      inputs.push_back(model.graph.inputs[i]);
      values.push_back(data[i]);
    } else {
      model.graph.initializers[model.graph.inputs[i].name] = data[i];
    }
  }
  model.graph.inputs = std::move(inputs);
  data = std::move(values);
}

// Empty when equal within ONNX's own tolerance (1e-3 relative, 1e-7 absolute), else what differs.
template <typename T>
std::string RealDifference(const om::Bytes& expected, const om::Bytes& got) {
  const auto* want = reinterpret_cast<const T*>(expected.data());
  const auto* have = reinterpret_cast<const T*>(got.data());
  for (size_t i = 0; i < got.size() / sizeof(T); ++i) {
    const bool same = std::isnan(want[i])   ? std::isnan(have[i])
                      : std::isinf(want[i]) ? want[i] == have[i]
                                            : std::fabs(want[i] - have[i]) <= 1e-7 + 1e-3 * std::fabs(want[i]);
    if (!same) return fmt::format("{} instead of {} at {}", have[i], want[i], i);
  }
  return "";
}

// A NonMaxSuppression's result has a fixed number of rows here: those of the test, then rows of −1.
bool IsFilledUp(const om::Tensor& expected, const om::Bytes& got) {
  const size_t known = expected.constant->size();
  if (got.size() < known || std::memcmp(got.data(), expected.constant->data(), known) != 0) return false;
  return std::all_of(got.begin() + static_cast<std::ptrdiff_t>(known), got.end(),
                     [](std::byte byte) { return byte == std::byte{255}; });
}

std::string Difference(const om::Tensor& expected, const om::PortInfo& port, const om::Bytes& got) {
  if (expected.type != port.type) return "another type";
  if (expected.name == "selected_indices") return IsFilledUp(expected, got) ? "" : "other rows";
  if (expected.dims != port.dims || got.size() != expected.constant->size()) return "another shape";
  if (expected.type == om::DataType::kFloat32) return RealDifference<float>(*expected.constant, got);
  if (expected.type == om::DataType::kDouble) return RealDifference<double>(*expected.constant, got);
  return std::memcmp(got.data(), expected.constant->data(), got.size()) == 0 ? "" : "other bytes";
}

// Runs an OM part by part: the contents of the outputs.
Result<std::vector<om::Bytes>> RunOm(const om::OmFile& file, const std::vector<om::Tensor>& inputs) {
  NPUSTREAM_ASSIGN_OR_RETURN(const auto loaded, program::Program::Load(file, 1));
  const int64_t gear = loaded->gears().back();
  std::vector<const std::byte*> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].constant->size() != loaded->InputBytes(i, gear)) return Status(StatusCode::kInternal, "input size");
    in.push_back(inputs[i].constant->data());
  }
  std::vector<om::Bytes> outputs;
  std::vector<std::byte*> out;
  for (size_t i = 0; i < loaded->outputs().size(); ++i) outputs.emplace_back(loaded->OutputBytes(i, gear));
  for (om::Bytes& output : outputs) out.push_back(output.data());
  for (int part = 0; part < loaded->PartCount(gear); ++part) {
    NPUSTREAM_RETURN_IF_ERROR(loaded->RunPart(gear, part, 0, in, out));
  }
  return outputs;
}

Verdict RunModel(const OnnxModel& model, const Passes& disabled, const std::vector<om::Tensor>& inputs,
                 const std::vector<om::Tensor>& expected) {
  CompileOptions options;
  options.model_name = "case";
  options.soc = "Ascend310P3";
  options.disabled_passes = disabled;
  for (size_t i = 0; i < inputs.size(); ++i) options.input_shapes[model.graph.inputs[i].name] = inputs[i].dims;
  const auto compiled = Compile(model, options);
  if (!compiled.ok()) return Judge(compiled.status());
  const auto bytes = om::WriteOm(*compiled);
  if (!bytes.ok()) return Judge(bytes.status());
  const auto file = om::OmFile::FromBytes(*bytes);
  if (!file.ok()) return Judge(file.status());
  const auto results = RunOm(**file, inputs);
  if (!results.ok()) return Judge(results.status());
  if (results->size() != expected.size())
    return {Verdict::kWrong, fmt::format("{} outputs instead of {}", results->size(), expected.size()), true};
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string difference = Difference(expected[i], (*file)->info().outputs[i], (*results)[i]);
    if (!difference.empty()) return {Verdict::kWrong, fmt::format("output {}: {}", i, difference), true};
  }
  return {Verdict::kRight, "", true};
}

Verdict RunCase(const fs::path& folder, const Passes& disabled) {
  Result<OnnxModel> model = ReadOnnxModel(folder / "model.onnx");
  if (!model.ok()) return Judge(model.status());
  auto inputs = ReadTensors(folder / "test_data_set_0", "input");
  const auto expected = ReadTensors(folder / "test_data_set_0", "output");
  if (!inputs.ok()) return Judge(inputs.status());
  if (!expected.ok()) return Judge(expected.status());
  if (inputs->size() != model->graph.inputs.size()) return {Verdict::kUnsupported, "optional inputs"};
  // Cases of operators that are what they were then.
  model->opset = std::max(model->opset, kOldestOpset);
  // Only what was refused gets another chance, with fewer inputs that are computed: a wrong result stays one.
  Verdict verdict = RunModel(*model, disabled, *inputs, *expected);
  for (const std::optional<size_t> kept :
       {std::optional<size_t>(0), std::optional(inputs->size() - 1), std::optional<size_t>()}) {
    if (verdict.has_run) break;
    OnnxModel fixed = *model;
    std::vector<om::Tensor> rest = *inputs;
    FixInputs(fixed, rest, kept);
    const Verdict again = RunModel(fixed, disabled, rest, *expected);
    if (again.has_run) verdict = again;
  }
  return verdict;
}

// Every case, with these passes switched off.
void RunAll(const Passes& disabled) {
  if (!fs::exists(kFolder)) GTEST_SKIP() << "Debian's libonnx-testdata is not installed";
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kFolder)) folders.insert(entry.path());
  const std::map<std::string, std::string> reasons = NodeExclusions();
  std::map<std::string, int> excluded;
  int right = 0;
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    const Verdict verdict = RunCase(folder, disabled);
    right += verdict.kind == Verdict::kRight;
    const auto reason = reasons.find(name);
    if (reason == reasons.end()) {
      EXPECT_EQ(verdict.kind, Verdict::kRight) << name << ": " << verdict.reason;
    } else {
      EXPECT_NE(verdict.kind, Verdict::kRight) << name << " is excluded without need";
      ++excluded[reason->second];
    }
  }
  fmt::print("{} right of {}\n", right, folders.size());
  for (const auto& [reason, count] : excluded) fmt::print("{} excluded: {}\n", count, reason);
}

TEST(OnnxNodeTest, EveryOperatorThatIsSupportedGivesTheStandardsResult) { RunAll({}); }

TEST(OnnxNodeTest, TheKernelsAloneGiveItToo) { RunAll({"FoldConstants"}); }

}  // namespace
}  // namespace npustream::compiler
