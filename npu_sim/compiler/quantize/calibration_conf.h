#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "npu_sim/compiler/quantize/plan_quantization.h"

namespace npustream::compiler {

// What a file for atc's --compression_optimize_conf asks for.
struct CalibrationConf {
  bool calibrates = false;  // whether it has a block `calibration`
  // Raw values, one file per input of the model, samples in a row, or one folder of such files (.bin).
  std::vector<std::filesystem::path> data_files;
  std::map<std::string, om::Dims> input_shapes;   // of one batch of that data; may be empty
  int64_t batches = 0;                            // of that shape, as the simplified configuration says; 0: all
  std::filesystem::path config_file;              // simplified configuration; may be empty
  std::filesystem::path report_file;              // ours: the report as JSON goes there; may be empty
  QuantizationOptions options;
};

// Reads the file, and the simplified configuration (skip_layers, skip_layer_types, batch_num, …) that it names.
// Unknown fields and values of the wrong kind are kInvalidArgument with file and line. Fields about the device that
// calibration runs on (infer_soc, infer_device_id, …) are read and have no effect.
Result<CalibrationConf> ReadCalibrationConf(const std::filesystem::path& path);
Status ParseCalibrationConf(std::string_view text, std::string_view file_name, CalibrationConf& conf);
Status ParseSimplifiedConf(std::string_view text, std::string_view file_name, CalibrationConf& conf);

// The data of the files: values of the model's own inputs (kInvalidArgument when there is not one file per input).
Result<CalibrationData> ReadCalibrationData(const CalibrationConf& conf);

}  // namespace npustream::compiler
