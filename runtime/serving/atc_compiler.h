#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"

namespace npustream::serving {

struct OnnxPort {
  std::string name;
  std::vector<int64_t> dims;  // −1: left open in the file
};

// Inputs (without weights that are listed among them) and outputs of an ONNX file.
struct OnnxInterface {
  std::vector<OnnxPort> inputs;
  std::vector<OnnxPort> outputs;
};

struct CompileJob {
  std::filesystem::path onnx;
  std::filesystem::path om;  // what is written; ends in .om
  std::filesystem::path aipp_config;
  std::string input_shape;  // as atc takes it: "images:-1,3,416,416"
  std::vector<int> gears;   // --dynamic_batch_size; empty for a fixed batch
  std::string soc_version;
  std::string precision_mode;  // --precision_mode; empty: atc's default
};

// atc's command line for a job.
std::vector<std::string> AtcArguments(const CompileJob& job);

// The offline compiler, which is reached through its command line because that is what a machine with a card has too.
class AtcCompiler {
 public:
  // $NPUSTREAM_ATC, else bin/atc beside the folder of this library, else atc of the running program's folder, else
  // PATH.
  static Result<AtcCompiler> Find();

  // Changes whenever the program does: its path, size and time of change.
  const std::string& identity() const { return identity_; }

  // Reads the file's inputs and outputs by `atc --mode=1`. `scratch` is an existing folder of the caller's.
  Result<OnnxInterface> ReadInterface(const std::filesystem::path& onnx, const std::filesystem::path& scratch) const;
  // Failures carry what atc said.
  Status Compile(const CompileJob& job) const;

 private:
  AtcCompiler(std::filesystem::path program, std::string identity)
      : program_(std::move(program)), identity_(std::move(identity)) {}
  Status Run(const std::vector<std::string>& arguments, const std::filesystem::path& onnx) const;

  std::filesystem::path program_;
  std::string identity_;
};

// Takes inputs and outputs from an ONNX model in protobuf's JSON, whether its keys are spelt `elem_type` or `elemType`.
Result<OnnxInterface> ParseOnnxJson(const std::string& text);

}  // namespace npustream::serving
