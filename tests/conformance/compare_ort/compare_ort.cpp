// Compiles and runs the models of the cases that run_ort.mjs wrote and compares every output with ONNX Runtime's.
// Usage: compare_ort FOLDER. Prints a line per output and ends with 1 when one is beyond the limit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/file.h"
#include "npu_sim/compiler/compile.h"
#include "npu_sim/om/om_reader.h"
#include "npu_sim/om/om_writer.h"
#include "npu_sim/program/program.h"

namespace npustream::compiler {
namespace {

namespace fs = std::filesystem;

// Relative to ONNX Runtime, both for whole outputs (by the Euclidean norm) and for each value. Values that are small
// beside the rest of their output are compared on the scale of its root mean square.
constexpr double kLimit = 1e-3;
// Probabilities are equal up to this: ONNX Runtime's sigmoid moves in steps of 2^-25 near 0.
constexpr double kSmallestProbability = 1e-6;

struct Value {
  std::string name, type;
  om::Dims dims;
};

struct Case {
  std::string model;
  std::vector<Value> inputs, outputs;
};

// "[1,3]" → {1, 3}.
om::Dims ParseDims(const std::string& text) {
  om::Dims dims;
  std::istringstream parts(text.substr(1, text.size() - 2));
  for (std::string part; std::getline(parts, part, ',');) dims.push_back(std::stoll(part));
  return dims;
}

Case ReadCase(const fs::path& folder) {
  Case result;
  std::ifstream file(folder / "case.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, dims;
    Value value;
    words >> kind;
    if (kind == "model") {
      result.model = line.substr(6);
      continue;
    }
    words >> value.type >> dims;
    std::getline(words >> std::ws, value.name);
    value.dims = ParseDims(dims);
    (kind == "input" ? result.inputs : result.outputs).push_back(value);
  }
  return result;
}

// The files of the inputs, in the program's order.
Result<std::vector<std::string>> ReadInputs(const Case& wanted, const fs::path& folder,
                                            const program::Program& program) {
  std::vector<std::string> inputs;
  for (const om::PortInfo& port : program.info().inputs) {
    const auto is_it = [&](const Value& value) { return value.name == port.name; };
    const auto found = std::find_if(wanted.inputs.begin(), wanted.inputs.end(), is_it);
    if (found == wanted.inputs.end()) return Status(StatusCode::kNotFound, fmt::format("no input '{}'", port.name));
    NPUSTREAM_ASSIGN_OR_RETURN(std::string input,
                               ReadTextFile(folder / fmt::format("input_{}.bin", found - wanted.inputs.begin())));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Result<std::vector<om::Bytes>> Run(const Case& wanted, const fs::path& folder) {
  NPUSTREAM_ASSIGN_OR_RETURN(const OnnxModel model, ReadOnnxModel(wanted.model));
  CompileOptions options;
  options.soc = "Ascend310P3";
  for (const Value& input : wanted.inputs) options.input_shapes[input.name] = input.dims;
  NPUSTREAM_ASSIGN_OR_RETURN(const om::OmModel compiled, Compile(model, options));
  NPUSTREAM_ASSIGN_OR_RETURN(const om::Bytes bytes, om::WriteOm(compiled));
  NPUSTREAM_ASSIGN_OR_RETURN(const auto file, om::OmFile::FromBytes(bytes));
  NPUSTREAM_ASSIGN_OR_RETURN(const auto program, program::Program::Load(*file, 1));
  NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<std::string> inputs, ReadInputs(wanted, folder, *program));
  std::vector<const std::byte*> input_addresses;
  for (const std::string& input : inputs) input_addresses.push_back(reinterpret_cast<const std::byte*>(input.data()));
  const size_t gear = 0;
  std::vector<om::Bytes> outputs;
  std::vector<std::byte*> output_addresses;
  for (size_t i = 0; i < program->info().outputs.size(); ++i) outputs.emplace_back(program->OutputBytes(i, gear));
  for (om::Bytes& output : outputs) output_addresses.push_back(output.data());
  for (int part = 0; part < program->PartCount(gear); ++part) {
    NPUSTREAM_RETURN_IF_ERROR(program->RunPart(gear, part, 0, input_addresses, output_addresses));
  }
  return outputs;
}

struct Deviation {
  double by_norm = 0, by_value = 0;
};

double Difference(float got, float want, double smallest) {
  const double difference = std::fabs(static_cast<double>(got) - static_cast<double>(want));
  return difference <= smallest ? 0 : difference;
}

template <typename T>
std::vector<float> Convert(const void* data, size_t bytes) {
  std::vector<T> values(bytes / sizeof(T));
  std::memcpy(values.data(), data, values.size() * sizeof(T));
  return {values.begin(), values.end()};
}

std::vector<float> ToFloats(const std::string& type, const void* data, size_t bytes) {
  if (type == "float16") return Convert<_Float16>(data, bytes);
  if (type == "float64") return Convert<double>(data, bytes);
  if (type == "int64") return Convert<int64_t>(data, bytes);
  if (type == "int32") return Convert<int32_t>(data, bytes);
  if (type == "int8") return Convert<int8_t>(data, bytes);
  if (type == "uint8" || type == "bool") return Convert<uint8_t>(data, bytes);
  return Convert<float>(data, bytes);
}

Deviation Compare(const std::string& type, const om::Bytes& actual, const std::string& expected) {
  if (actual.size() != expected.size()) return {INFINITY, INFINITY};
  const std::vector<float> got = ToFloats(type, actual.data(), actual.size());
  const std::vector<float> want = ToFloats(type, expected.data(), expected.size());
  const size_t count = want.size();
  if (count == 0) return {};
  const auto [low, high] = std::minmax_element(want.begin(), want.end());
  const double smallest = *low >= 0 && *high <= 1 ? kSmallestProbability : 0;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < count; ++i) {
    const double w = static_cast<double>(want[i]), d = Difference(got[i], want[i], smallest);
    difference += d * d;
    norm += w * w;
  }
  const double rms = std::sqrt(norm / static_cast<double>(count));
  Deviation result{norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference), 0};
  for (size_t i = 0; i < count; ++i) {
    const double w = static_cast<double>(want[i]), d = Difference(got[i], want[i], smallest);
    result.by_value = std::max(result.by_value, d / (std::fabs(w) + rms + 1e-30));
    if (std::isnan(d)) return {NAN, NAN};
  }
  return result;
}

bool RunAndCompare(const fs::path& folder) {
  const Case wanted = ReadCase(folder);
  const auto outputs = Run(wanted, folder);
  if (!outputs.ok()) {
    fmt::print("{}: FAILED: {}\n", folder.filename().string(), outputs.status().message());
    return false;
  }
  bool all_good = outputs->size() == wanted.outputs.size();
  for (size_t i = 0; i < std::min(outputs->size(), wanted.outputs.size()); ++i) {
    const auto expected = ReadTextFile(folder / fmt::format("output_{}.bin", i));
    const Deviation deviation =
        expected.ok() ? Compare(wanted.outputs[i].type, (*outputs)[i], *expected) : Deviation{NAN, NAN};
    const bool good = deviation.by_norm <= kLimit && deviation.by_value <= kLimit;
    all_good = all_good && good;
    fmt::print("{:<36} {:<24} by norm {:.2e}  by value {:.2e}  {}\n", folder.filename().string(),
               wanted.outputs[i].name, deviation.by_norm, deviation.by_value, good ? "ok" : "BEYOND 1e-3");
    std::fflush(stdout);
  }
  return all_good;
}

}  // namespace
}  // namespace npustream::compiler

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: compare_ort FOLDER\n");
    return 2;
  }
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], error)) {
    if (std::filesystem::exists(entry.path() / "case.txt")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  bool all_good = !folders.empty();
  for (const auto& folder : folders) all_good = npustream::compiler::RunAndCompare(folder) && all_good;
  return all_good ? 0 : 1;
}
