#include "npu_sim/compiler/quantize/calibration_conf.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include <fmt/format.h>

#include "base/file.h"
#include "base/trim.h"

namespace npustream::compiler {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    parts.push_back(Trimmed(text.substr(0, end)));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

template <typename T>
bool ReadNumber(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// One line: a field with its value, the beginning of a block ("name {", "name: {", or "name:" with "{" on the next
// line), or the end of one.
class Lines {
 public:
  // Told blocks around it, joined by dots, name and value; answers with what is wrong, or nothing.
  using Take = std::function<std::string(const std::string& field, std::string_view value)>;

  Lines(std::string_view file_name, Take take) : file_name_(file_name), take_(std::move(take)) {}

  Status Read(std::string_view text) {
    for (const std::string_view raw : Split(text, '\n')) {
      ++number_;
      const std::string mistake = Line(Trimmed(raw.substr(0, raw.find('#'))));
      if (!mistake.empty()) return Error(mistake);
    }
    if (!blocks_.empty() || !pending_.empty()) return Error("a block is not closed");
    return {};
  }

 private:
  Status Error(const std::string& mistake) const {
    return {StatusCode::kInvalidArgument, fmt::format("{}:{}: {}", file_name_, number_, mistake)};
  }

  std::string Line(std::string_view line) {
    if (line.empty()) return "";
    if (line == "{" && !pending_.empty()) {
      blocks_.push_back(std::exchange(pending_, ""));
      return take_(Path(""), "{");
    }
    if (!pending_.empty()) return fmt::format("'{}' has no value", pending_);
    if (line == "}") {
      if (blocks_.empty()) return "a block is closed that was not opened";
      blocks_.pop_back();
      return "";
    }
    const bool opens = line.ends_with('{');
    if (opens) line = Trimmed(line.substr(0, line.size() - 1));
    const size_t colon = line.find(':');
    const std::string name(Trimmed(line.substr(0, colon)));
    std::string_view value = colon == std::string_view::npos ? std::string_view() : Trimmed(line.substr(colon + 1));
    if (name.empty() || (opens && !value.empty()) || (!opens && colon == std::string_view::npos))
      return fmt::format("'{}' is not of the form name: value", line);
    if (opens) {
      blocks_.push_back(name);
      return take_(Path(""), "{");
    }
    if (value.empty()) {
      pending_ = name;
      return "";
    }
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return take_(Path(name), value);
  }

  std::string Path(const std::string& name) const {
    std::string path;
    for (const std::string& block : blocks_) path += block + ".";
    if (name.empty()) path.pop_back();
    return path + name;
  }

  const std::string_view file_name_;
  const Take take_;
  std::vector<std::string> blocks_;
  std::string pending_;  // a name whose block begins on the next line
  int number_ = 0;
};

std::string Unknown(const std::string& field) { return fmt::format("there is no field '{}'", field); }
std::string Wrong(const std::string& field, std::string_view value, std::string_view what) {
  return fmt::format("{} is '{}', not {}", field, value, what);
}

std::string ReadTruth(const std::string& field, std::string_view value, bool& truth) {
  if (value != "true" && value != "false") return Wrong(field, value, "true or false");
  truth = value == "true";
  return "";
}

std::string ReadReal(const std::string& field, std::string_view value, double low, double high, double& number) {
  if (ReadNumber(value, number) && number >= low && number <= high) return "";
  return Wrong(field, value, fmt::format("a number from {} to {}", low, high));
}

// "name:n,c,h,w;name:…"; names may contain colons.
std::string ReadShapes(const std::string& field, std::string_view value, std::map<std::string, om::Dims>& shapes) {
  for (const std::string_view part : Split(value, ';')) {
    const size_t colon = part.rfind(':');
    om::Dims dims;
    for (const std::string_view text : Split(part.substr(colon == std::string_view::npos ? part.size() : colon + 1), ',')) {
      dims.emplace_back();
      if (!ReadNumber(text, dims.back()) || dims.back() < 1) return Wrong(field, value, "of the form name:1,3,224,224");
    }
    shapes[std::string(part.substr(0, colon))] = std::move(dims);
  }
  return "";
}

std::string TakeCalibration(const std::string& field, std::string_view value, CalibrationConf& conf) {
  constexpr std::string_view kOfTheDevice[] = {"infer_soc", "infer_aicore_num", "infer_device_id",
                                               "infer_ip",  "infer_port",       "log"};
  const auto is = [&](std::string_view name) { return field == fmt::format("calibration.{}", name); };
  if (std::any_of(std::begin(kOfTheDevice), std::end(kOfTheDevice), is)) return "";
  if (is("input_data_dir")) {
    for (const std::string_view file : Split(value, ',')) conf.data_files.emplace_back(file);
    return "";
  }
  if (is("input_shape")) return ReadShapes(field, value, conf.input_shapes);
  if (is("config_file")) return conf.config_file = value, "";
  if (is("report_file")) return conf.report_file = value, "";
  if (is("method")) {
    conf.options.method = RangeMethodOf(value);
    return conf.options.method || value == "auto" ? "" : Wrong(field, value, "auto, minmax, percentile, mse or kl");
  }
  if (is("percentile")) return ReadReal(field, value, 50, 100, conf.options.percentile);
  if (is("error_limit")) return ReadReal(field, value, 0, 10, conf.options.error_limit);
  return Unknown(field);
}

std::string TakeSimplified(const std::string& field, std::string_view value, CalibrationConf& conf) {
  bool truth = false;
  if (field == "batch_num") {
    return ReadNumber(value, conf.batches) && conf.batches > 0 ? "" : Wrong(field, value, "a number of batches");
  }
  if (field == "skip_layers") return conf.options.real_nodes.emplace(value), "";
  if (field == "skip_layer_types") return conf.options.real_nodes.insert("OpType::" + std::string(value)), "";
  if (field == "activation_offset") {
    if (std::string mistake = ReadTruth(field, value, truth); !mistake.empty()) return mistake;
    return truth ? "" : "activation_offset: false is not supported; activations are quantised with an offset";
  }
  if (field == "joint_quant") return ReadTruth(field, value, truth);
  if (!field.starts_with("common_config")) return Unknown(field);
  const std::string_view rest = std::string_view(field).substr(std::min(field.size(), sizeof("common_config")));
  if (rest.empty() || rest == "arq_quantize" || rest == "ifmr_quantize") return "";
  if (rest == "arq_quantize.channel_wise") {
    if (std::string mistake = ReadTruth(field, value, truth); !mistake.empty()) return mistake;
    return truth ? "" : "channel_wise: false is not supported; weights are quantised per result channel";
  }
  if (rest == "ifmr_quantize.max_percentile" || rest == "ifmr_quantize.min_percentile") {
    double share = 0;
    if (std::string mistake = ReadReal(field, value, 0.5, 1, share); !mistake.empty()) return mistake;
    conf.options.method = RangeMethod::kPercentile;
    conf.options.percentile = share * 100;
    return "";
  }
  if (rest == "hfmg_quantize") return conf.options.method = RangeMethod::kEntropy, "";
  double ignored = 0;
  for (const char* number : {"ifmr_quantize.search_range_start", "ifmr_quantize.search_range_end",
                             "ifmr_quantize.search_step", "hfmg_quantize.num_of_bins"}) {
    if (rest == number) return ReadReal(field, value, 0, 1e9, ignored);
  }
  return Unknown(field);
}

// The file, or those of the folder in the order of their names.
Result<std::vector<std::filesystem::path>> FilesOf(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::vector<std::filesystem::path>{path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() == ".bin") files.push_back(entry.path());
  }
  if (error) return Status(StatusCode::kIoError, fmt::format("{}: cannot be listed: {}", path.string(), error.message()));
  if (files.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}: the folder has no file of raw values (.bin); 'npustream quantize' takes pictures",
                              path.string()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Status ParseCalibrationConf(std::string_view text, std::string_view file_name, CalibrationConf& conf) {
  return Lines(file_name, [&](const std::string& field, std::string_view value) -> std::string {
           bool truth = false;
           // The first layer reads bytes whenever it can.
           if (field == "enable_first_layer_quantization") return ReadTruth(field, value, truth);
           if (field == "calibration") {
             conf.calibrates = value == "{";
             return conf.calibrates ? "" : Wrong(field, value, "a block");
           }
           return field.starts_with("calibration.") ? TakeCalibration(field, value, conf) : Unknown(field);
         }).Read(text);
}

Status ParseSimplifiedConf(std::string_view text, std::string_view file_name, CalibrationConf& conf) {
  return Lines(file_name, [&](const std::string& field, std::string_view value) {
           return TakeSimplified(field, value, conf);
         }).Read(text);
}

Result<CalibrationConf> ReadCalibrationConf(const std::filesystem::path& path) {
  CalibrationConf conf;
  NPUSTREAM_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  NPUSTREAM_RETURN_IF_ERROR(ParseCalibrationConf(text, path.string(), conf));
  if (!conf.config_file.empty()) {
    NPUSTREAM_ASSIGN_OR_RETURN(const std::string simplified, ReadTextFile(conf.config_file));
    NPUSTREAM_RETURN_IF_ERROR(ParseSimplifiedConf(simplified, conf.config_file.string(), conf));
  }
  if (conf.calibrates && conf.data_files.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}: calibration needs input_data_dir, a file of values per input", path.string()));
  }
  return conf;
}

Result<CalibrationData> ReadCalibrationData(const CalibrationConf& conf) {
  CalibrationData data;
  for (const std::filesystem::path& path : conf.data_files) {
    om::Bytes& values = data.inputs.emplace_back();
    NPUSTREAM_ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> files, FilesOf(path));
    for (const std::filesystem::path& name : files) {
      NPUSTREAM_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(name));
      values.insert(values.end(), file.bytes().begin(), file.bytes().end());
    }
  }
  if (conf.batches > 0 && !conf.input_shapes.empty()) {
    const om::Dims& shape = conf.input_shapes.begin()->second;
    data.most_images = static_cast<size_t>(conf.batches * shape.front());
  }
  return data;
}

}  // namespace npustream::compiler
