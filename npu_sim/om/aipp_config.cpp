#include "npu_sim/om/aipp_config.h"

#include <algorithm>

#include <fmt/format.h>

namespace npustream::om {
namespace {

template <typename T, size_t N>
std::vector<int64_t> ToInts(const std::array<T, N>& values) {
  return std::vector<int64_t>(values.begin(), values.end());
}

std::vector<float> ToFloats(const std::array<float, 4>& values) {
  return std::vector<float>(values.begin(), values.end());
}

// Reads `name` into `values`; false when it has another length or a value which T cannot hold.
template <typename T, size_t N>
bool ReadInts(const Node& node, const char* name, std::array<T, N>& values) {
  const auto ints = GetInts(node, name, ToInts(values));
  if (ints.size() != N) return false;
  for (size_t i = 0; i < N; ++i) {
    values[i] = static_cast<T>(ints[i]);
    if (values[i] != ints[i]) return false;
  }
  return true;
}

bool ReadFloats(const Node& node, const char* name, std::array<float, 4>& values) {
  const auto floats = GetFloats(node, name, ToFloats(values));
  if (floats.size() != values.size()) return false;
  std::copy(floats.begin(), floats.end(), values.begin());
  return true;
}

bool ReadSize(const Node& node, const char* name, int32_t low, int32_t high, int32_t& value) {
  const int64_t read = GetInt(node, name, value);
  value = static_cast<int32_t>(std::clamp<int64_t>(read, low, high));
  return read == value;
}

Status Bad(const char* name) {
  return Status(StatusCode::kInvalidArgument, fmt::format("AIPP: {} is out of range", name));
}

}  // namespace

Attributes ToAttributes(const AippConfig& config) {
  return Attributes{
      {"related_input_rank", int64_t{config.related_input_rank}},
      {"aipp_mode", config.aipp_mode},
      {"input_format", config.input_format},
      {"src_image_size_w", int64_t{config.src_image_size_w}},
      {"src_image_size_h", int64_t{config.src_image_size_h}},
      {"max_src_image_size", config.max_src_image_size},
      {"csc_switch", int64_t{config.csc_switch}},
      {"rbuv_swap_switch", int64_t{config.rbuv_swap_switch}},
      {"ax_swap_switch", int64_t{config.ax_swap_switch}},
      {"crop", int64_t{config.crop}},
      {"load_start_pos_w", int64_t{config.load_start_pos_w}},
      {"load_start_pos_h", int64_t{config.load_start_pos_h}},
      {"crop_size_w", int64_t{config.crop_size_w}},
      {"crop_size_h", int64_t{config.crop_size_h}},
      {"padding", int64_t{config.padding}},
      {"left_padding_size", int64_t{config.left_padding_size}},
      {"right_padding_size", int64_t{config.right_padding_size}},
      {"top_padding_size", int64_t{config.top_padding_size}},
      {"bottom_padding_size", int64_t{config.bottom_padding_size}},
      {"padding_value", config.padding_value},
      {"matrix", ToInts(config.matrix)},
      {"input_bias", ToInts(config.input_bias)},
      {"output_bias", ToInts(config.output_bias)},
      {"mean_chn", ToInts(config.mean_chn)},
      {"min_chn", ToFloats(config.min_chn)},
      {"var_reci_chn", ToFloats(config.var_reci_chn)},
  };
}

Result<AippConfig> AippFromAttributes(const Node& node) {
  AippConfig config;
  config.aipp_mode = GetString(node, "aipp_mode", config.aipp_mode);
  config.input_format = GetString(node, "input_format", config.input_format);
  config.max_src_image_size = GetInt(node, "max_src_image_size", 0);
  config.csc_switch = GetInt(node, "csc_switch", 0) != 0;
  config.rbuv_swap_switch = GetInt(node, "rbuv_swap_switch", 0) != 0;
  config.ax_swap_switch = GetInt(node, "ax_swap_switch", 0) != 0;
  config.crop = GetInt(node, "crop", 0) != 0;
  config.padding = GetInt(node, "padding", 0) != 0;
  config.padding_value = GetFloat(node, "padding_value", 0);
  struct {
    const char* name;
    int32_t low, high;
    int32_t* value;
  } sizes[] = {
      {"related_input_rank", 0, 1023, &config.related_input_rank},
      {"src_image_size_w", 1, 4096, &config.src_image_size_w},
      {"src_image_size_h", 1, 4096, &config.src_image_size_h},
      {"load_start_pos_w", 0, 4095, &config.load_start_pos_w},
      {"load_start_pos_h", 0, 4095, &config.load_start_pos_h},
      {"crop_size_w", 0, 4096, &config.crop_size_w},
      {"crop_size_h", 0, 4096, &config.crop_size_h},
      {"left_padding_size", 0, 32, &config.left_padding_size},
      {"right_padding_size", 0, 32, &config.right_padding_size},
      {"top_padding_size", 0, 32, &config.top_padding_size},
      {"bottom_padding_size", 0, 32, &config.bottom_padding_size},
  };
  for (const auto& size : sizes) {
    if (!ReadSize(node, size.name, size.low, size.high, *size.value)) return Bad(size.name);
  }
  if (!ReadInts(node, "matrix", config.matrix)) return Bad("matrix");
  if (!ReadInts(node, "input_bias", config.input_bias)) return Bad("input_bias");
  if (!ReadInts(node, "output_bias", config.output_bias)) return Bad("output_bias");
  if (!ReadInts(node, "mean_chn", config.mean_chn)) return Bad("mean_chn");
  if (!ReadFloats(node, "min_chn", config.min_chn)) return Bad("min_chn");
  if (!ReadFloats(node, "var_reci_chn", config.var_reci_chn)) return Bad("var_reci_chn");
  const bool known = config.input_format == "YUV420SP_U8" || config.input_format == "XRGB8888_U8" ||
                     config.input_format == "RGB888_U8" || config.input_format == "YUV400_U8";
  if (!known) return Bad("input_format");
  return config;
}

AippConfig WithSource(AippConfig config, int64_t height, int64_t width) {
  const auto fill = [](int32_t& size, int64_t otherwise) {
    // One more than a picture may have stands for all larger ones.
    if (size == 0) size = static_cast<int32_t>(std::clamp<int64_t>(otherwise, 0, 4097));
  };
  fill(config.src_image_size_h, height);
  fill(config.src_image_size_w, width);
  fill(config.crop_size_h, height);
  fill(config.crop_size_w, width);
  return config;
}

Dims AippInputDims(const AippConfig& config, int64_t batch) {
  const int64_t width = config.src_image_size_w, height = config.src_image_size_h;
  if (config.input_format == "YUV420SP_U8") return {batch, height * 3 / 2, width, 1};
  if (config.input_format == "XRGB8888_U8") return {batch, height, width, 4};
  if (config.input_format == "RGB888_U8") return {batch, height, width, 3};
  return {batch, height, width, 1};
}

}  // namespace npustream::om
