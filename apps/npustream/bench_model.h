#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/status.h"
#include "npu_sim/program/program.h"

namespace npustream::apps {

struct ModelBenchOptions {
  std::filesystem::path model;  // an OM, or an ONNX file, which is compiled without AIPP for this run alone
  // What an ONNX model computes in: fp32, fp16 (rounded as a card would), bf16 (where the CPU has AMX) or int8.
  std::string precision = "fp32";
  // Pictures with which int8 is calibrated; without them the input of the runs is what it is calibrated with, and no layer
  // stays real.
  std::string calibration;
  int64_t batch = 0;  // 0: one image, or the batch that the model is fixed to
  std::string gear;   // of an OM, as `models info` names it: "416,416"; empty: by batch
  int threads = 1;       // AI cores
  double seconds = 3;    // how long to repeat runs; at least three
};

struct ModelBenchResult {
  program::LoadTimes load;
  double first_ms = 0;         // the first run after loading
  int64_t batch = 1;           // images in a run
  double median_ms = 0;        // of the wall time of a whole batch
  double cpu_ms = 0;           // median of the processor time of all threads that a batch took
  uint64_t pool_bytes = 0;     // arena for intermediates of one core
  uint64_t pool_lower_bound_bytes = 0;  // the most that is alive at one step
};

// Runs the model on deterministic input, alone and without the runtime around it. Blocks; starts its own threads.
Result<ModelBenchResult> BenchModel(const ModelBenchOptions& options);

// One line of JSON (docs/bench.md).
std::string ToJson(const ModelBenchOptions& options, const ModelBenchResult& result);

}  // namespace npustream::apps
