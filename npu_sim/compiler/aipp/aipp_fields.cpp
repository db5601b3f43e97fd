#include "npu_sim/compiler/aipp/aipp_fields.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace npustream::compiler {
namespace {

using om::AippConfig;

constexpr double kHalfMax = 65504;

template <auto kMember>
void SetNumber(AippConfig& config, double value) {
  using Type = std::remove_reference_t<decltype(config.*kMember)>;
  config.*kMember = static_cast<Type>(value);
}

template <auto kMember, size_t kIndex>
void SetElement(AippConfig& config, double value) {
  auto& element = (config.*kMember)[kIndex];
  element = static_cast<std::remove_reference_t<decltype(element)>>(value);
}

template <auto kMember, size_t kIndex>
void SetHalf(AippConfig& config, double value) {
  (config.*kMember)[kIndex] = RoundToHalf(static_cast<float>(value));
}

template <auto kMember>
void SetWord(AippConfig& config, std::string_view value) {
  config.*kMember = value;
}

void SetPaddingValue(AippConfig& config, double value) {
  config.padding_value = RoundToHalf(static_cast<float>(value));
}

constexpr AippField Word(std::string_view name, void (*set)(AippConfig&, std::string_view)) {
  return {name, AippKind::kWord, 0, 0, nullptr, set};
}
constexpr AippField Bool(std::string_view name, void (*set)(AippConfig&, double)) {
  return {name, AippKind::kBool, 0, 1, set, nullptr};
}
constexpr AippField Integer(std::string_view name, double low, double high, void (*set)(AippConfig&, double)) {
  return {name, AippKind::kInteger, low, high, set, nullptr};
}
constexpr AippField Real(std::string_view name, double low, double high, void (*set)(AippConfig&, double)) {
  return {name, AippKind::kReal, low, high, set, nullptr};
}
// Exists in the grammar, but the hardware does not do it: only "off" is accepted.
constexpr AippField Reserved(std::string_view name, AippKind kind) { return {name, kind, 0, 0, nullptr, nullptr}; }

const std::vector<AippField>& Fields() {
  using C = AippConfig;
  static const std::vector<AippField> fields = {
      Word("aipp_mode", SetWord<&C::aipp_mode>),
      Word("input_format", SetWord<&C::input_format>),
      Integer("related_input_rank", 0, 1023, SetNumber<&C::related_input_rank>),
      Integer("max_src_image_size", 0, 1e12, SetNumber<&C::max_src_image_size>),
      Integer("src_image_size_w", 0, 4096, SetNumber<&C::src_image_size_w>),
      Integer("src_image_size_h", 0, 4096, SetNumber<&C::src_image_size_h>),
      Bool("csc_switch", SetNumber<&C::csc_switch>),
      Bool("rbuv_swap_switch", SetNumber<&C::rbuv_swap_switch>),
      Bool("ax_swap_switch", SetNumber<&C::ax_swap_switch>),
      Bool("crop", SetNumber<&C::crop>),
      Integer("load_start_pos_w", 0, 4095, SetNumber<&C::load_start_pos_w>),
      Integer("load_start_pos_h", 0, 4095, SetNumber<&C::load_start_pos_h>),
      Integer("crop_size_w", 0, 4096, SetNumber<&C::crop_size_w>),
      Integer("crop_size_h", 0, 4096, SetNumber<&C::crop_size_h>),
      Bool("padding", SetNumber<&C::padding>),
      Integer("left_padding_size", 0, 32, SetNumber<&C::left_padding_size>),
      Integer("right_padding_size", 0, 32, SetNumber<&C::right_padding_size>),
      Integer("top_padding_size", 0, 32, SetNumber<&C::top_padding_size>),
      Integer("bottom_padding_size", 0, 32, SetNumber<&C::bottom_padding_size>),
      Real("padding_value", -kHalfMax, kHalfMax, SetPaddingValue),
      Integer("matrix_r0c0", -32768, 32767, SetElement<&C::matrix, 0>),
      Integer("matrix_r0c1", -32768, 32767, SetElement<&C::matrix, 1>),
      Integer("matrix_r0c2", -32768, 32767, SetElement<&C::matrix, 2>),
      Integer("matrix_r1c0", -32768, 32767, SetElement<&C::matrix, 3>),
      Integer("matrix_r1c1", -32768, 32767, SetElement<&C::matrix, 4>),
      Integer("matrix_r1c2", -32768, 32767, SetElement<&C::matrix, 5>),
      Integer("matrix_r2c0", -32768, 32767, SetElement<&C::matrix, 6>),
      Integer("matrix_r2c1", -32768, 32767, SetElement<&C::matrix, 7>),
      Integer("matrix_r2c2", -32768, 32767, SetElement<&C::matrix, 8>),
      Integer("input_bias_0", 0, 255, SetElement<&C::input_bias, 0>),
      Integer("input_bias_1", 0, 255, SetElement<&C::input_bias, 1>),
      Integer("input_bias_2", 0, 255, SetElement<&C::input_bias, 2>),
      Integer("output_bias_0", 0, 255, SetElement<&C::output_bias, 0>),
      Integer("output_bias_1", 0, 255, SetElement<&C::output_bias, 1>),
      Integer("output_bias_2", 0, 255, SetElement<&C::output_bias, 2>),
      Integer("mean_chn_0", 0, 255, SetElement<&C::mean_chn, 0>),
      Integer("mean_chn_1", 0, 255, SetElement<&C::mean_chn, 1>),
      Integer("mean_chn_2", 0, 255, SetElement<&C::mean_chn, 2>),
      Integer("mean_chn_3", 0, 255, SetElement<&C::mean_chn, 3>),
      Real("min_chn_0", 0, 255, SetHalf<&C::min_chn, 0>),
      Real("min_chn_1", 0, 255, SetHalf<&C::min_chn, 1>),
      Real("min_chn_2", 0, 255, SetHalf<&C::min_chn, 2>),
      Real("min_chn_3", 0, 255, SetHalf<&C::min_chn, 3>),
      Real("var_reci_chn_0", -kHalfMax, kHalfMax, SetHalf<&C::var_reci_chn, 0>),
      Real("var_reci_chn_1", -kHalfMax, kHalfMax, SetHalf<&C::var_reci_chn, 1>),
      Real("var_reci_chn_2", -kHalfMax, kHalfMax, SetHalf<&C::var_reci_chn, 2>),
      Real("var_reci_chn_3", -kHalfMax, kHalfMax, SetHalf<&C::var_reci_chn, 3>),
      Reserved("resize", AippKind::kBool),
      Reserved("resize_input_w", AippKind::kInteger),
      Reserved("resize_input_h", AippKind::kInteger),
      Reserved("resize_output_w", AippKind::kInteger),
      Reserved("resize_output_h", AippKind::kInteger),
      Reserved("resize_model", AippKind::kInteger),
      Reserved("support_rotation", AippKind::kBool),
      Reserved("rotation", AippKind::kBool),
      Reserved("cpadding", AippKind::kBool),
      Reserved("cpadding_value", AippKind::kReal),
      Reserved("single_line_mode", AippKind::kBool),
  };
  return fields;
}

}  // namespace

const AippField* FindAippField(std::string_view name) {
  for (const AippField& field : Fields()) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

float RoundToHalf(float value) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  // Eleven significant bits, fewer below the smallest normal number 2^-14; nearbyint rounds ties to even.
  const int unit = std::max(exponent - 11, -24);
  return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}

}  // namespace npustream::compiler
