#include "runtime/serving/model_description.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "runtime/serving/yaml_reader.h"

namespace npustream::serving {
namespace {

namespace fs = std::filesystem;

fs::path Beside(const fs::path& file, const std::string& relative) {
  return fs::absolute(file.parent_path() / relative).lexically_normal();
}

// A value for each channel: one number stands for all three.
std::array<float, 3> PerChannel(YamlMap& map, std::string_view key, double least, double most, float otherwise) {
  std::array<float, 3> channels{otherwise, otherwise, otherwise};
  if (!map.Has(key)) return channels;
  const std::vector<double> numbers = map.Numbers(key);
  const bool in_range =
      std::all_of(numbers.begin(), numbers.end(), [&](double number) { return number >= least && number <= most; });
  if ((numbers.size() != 1 && numbers.size() != 3) || !in_range) {
    map.Fail(key, fmt::format("must be one or three numbers from {} to {}", least, most));
    return channels;
  }
  for (size_t i = 0; i < 3; ++i) channels[i] = static_cast<float>(numbers[numbers.size() == 1 ? 0 : i]);
  return channels;
}

void ReadIdentity(YamlMap& root, const fs::path& path, ModelDescription& description) {
  description.name = root.RequiredText("name");
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  if (!std::all_of(description.name.begin(), description.name.end(), plain)) {
    root.Fail("name", "may have letters, digits, '-', '_' and '.' only");
  }
  description.version = root.Text("version", "1");
  const std::string file = root.RequiredText("file");
  if (!file.empty()) description.file = Beside(path, file);
  description.licence = root.Text("licence");
  description.source_url = root.Text("source-url");
  const std::string& url = description.source_url;
  if (!url.empty() && !url.starts_with("https://") && !url.starts_with("http://")) {
    root.Fail("source-url", "must begin with https:// or http://");
  }
  description.sha256 = root.Text("sha256");
  std::string& sha256 = description.sha256;
  std::transform(sha256.begin(), sha256.end(), sha256.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!sha256.empty() && (sha256.size() != 64 || sha256.find_first_not_of("0123456789abcdef") != std::string::npos)) {
    root.Fail("sha256", "must have 64 hexadecimal digits");
  }
}

void ReadPreprocessing(YamlMap& root, ModelDescription& description) {
  constexpr int kMostPixels = 4096;  // AIPP's largest picture
  YamlMap size = root.Map("input-size");
  description.input_width = size.Integer("width", 2, kMostPixels, 0);
  description.input_height = size.Integer("height", 2, kMostPixels, 0);
  if ((description.input_width == 0) != (description.input_height == 0))
    root.Fail("input-size", "needs width and height");
  size.RefuseOtherKeys();

  description.color_order = root.Choice("color-order", {"rgb", "bgr"}, 1) == 0 ? ColorOrder::kRgb : ColorOrder::kBgr;
  description.mean = PerChannel(root, "mean", 0, 255, 0);
  description.std = PerChannel(root, "std", 1e-3, 1e4, 1);
  constexpr std::array kFits{FitMode::kStretch, FitMode::kLetterbox, FitMode::kLetterboxCenter};
  description.fit = kFits[root.Choice("fit", {"stretch", "letterbox", "letterbox-center"}, 1)];
  description.pad_value = static_cast<uint8_t>(root.Integer("pad", 0, 255, 114));
}

void ReadDecoder(YamlMap& root, DecoderDescription& decoder) {
  if (!root.Has("decoder")) root.Fail("decoder", "is missing");
  YamlMap map = root.Map("decoder");
  if (root.Has("decoder")) decoder.type = map.RequiredText("type");
  YamlMap outputs = map.Map("outputs");
  for (const std::string& role : outputs.Keys()) decoder.names[role] = outputs.Text(role);
  // Which numbers there are is the decoder's matter.
  for (const std::string& key : map.Keys()) {
    if (key != "type" && key != "outputs") decoder.numbers[key] = map.Numbers(key);
  }
}

void ReadPostprocessing(YamlMap& root, ModelDescription& description) {
  ReadDecoder(root, description.decoder);
  description.threshold = static_cast<float>(root.Number("threshold", 0, 1, description.threshold));
  YamlMap nms = root.Map("nms");
  description.nms_iou = static_cast<float>(nms.Number("iou", 0, 1, description.nms_iou));
  description.nms_agnostic = nms.Bool("agnostic", description.nms_agnostic);
  nms.RefuseOtherKeys();
  description.max_detections = root.Integer("max-detections", 1, 100000, description.max_detections);
}

void ReadLabels(YamlMap& root, const fs::path& path, ModelDescription& description) {
  if (root.IsList("labels")) {
    description.labels = root.Texts("labels");
  } else if (const std::string file = root.Text("labels"); !file.empty()) {
    auto labels = LoadLabels(Beside(path, file));
    if (labels.ok())
      description.labels = std::move(*labels);
    else
      root.Fail("labels", labels.status().message());
  }
  const int classes = root.Integer("classes", 1, 100000, 0);
  if (classes != 0 && !description.labels.empty() && description.labels.size() != static_cast<size_t>(classes)) {
    root.Fail("labels", fmt::format("has {} names, but 'classes' says {}", description.labels.size(), classes));
  }
}

}  // namespace

Result<ModelDescription> LoadModelDescription(const fs::path& path) {
  YamlReader reader(path);
  ModelDescription description;
  {
    YamlMap root = reader.Root();
    NPUSTREAM_RETURN_IF_ERROR(reader.status());
    ReadIdentity(root, path, description);
    ReadPreprocessing(root, description);
    ReadPostprocessing(root, description);
    ReadLabels(root, path, description);
    root.RefuseOtherKeys();
  }
  NPUSTREAM_RETURN_IF_ERROR(reader.status());
  return description;
}

Result<std::vector<std::string>> LoadLabels(const fs::path& path) {
  NPUSTREAM_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  std::vector<std::string> labels;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    labels.emplace_back(line);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  const auto empty = std::find(labels.begin(), labels.end(), "");
  if (empty != labels.end()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}:{}: a label is empty", path.string(), empty - labels.begin() + 1));
  }
  if (labels.empty()) return Status(StatusCode::kInvalidArgument, fmt::format("{}: has no labels", path.string()));
  return labels;
}

}  // namespace npustream::serving
