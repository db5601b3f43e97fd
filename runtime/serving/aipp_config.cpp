#include "runtime/serving/aipp_config.h"

#include <array>
#include <utility>

#include <fmt/format.h>

namespace npustream::serving {
namespace {

using Row = std::array<int, 3>;

// YUV → R, G, B by BT.601, video range, in units of 1/256: 298 = 256 · 255/219 and so on.
constexpr std::array<Row, 3> kBt601Narrow{Row{298, 0, 409}, Row{298, -100, -208}, Row{298, 516, 0}};
constexpr Row kInputBias{16, 128, 128};

std::string ColorConversion(ColorOrder order) {
  std::array<Row, 3> matrix = kBt601Narrow;
  if (order == ColorOrder::kBgr) std::swap(matrix[0], matrix[2]);
  std::string text = "  csc_switch: true\n  rbuv_swap_switch: false\n";
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) {
      text += fmt::format("  matrix_r{}c{}: {}\n", row, column, matrix[row][column]);
    }
  }
  for (size_t i = 0; i < 3; ++i) text += fmt::format("  input_bias_{}: {}\n", i, kInputBias[i]);
  return text;
}

}  // namespace

std::string AippConfig(const ModelDescription& description, PictureFormat format, int width, int height) {
  const bool nv12 = format == PictureFormat::kNv12;
  std::string text = "aipp_op {\n  aipp_mode: static\n  related_input_rank: 0\n";
  text += fmt::format("  input_format: {}\n", nv12 ? "YUV420SP_U8" : "RGB888_U8");
  text += fmt::format("  src_image_size_w: {}\n  src_image_size_h: {}\n  crop: false\n", width, height);
  if (nv12) {
    text += ColorConversion(description.color_order);
  } else {
    const bool swap = description.color_order == ColorOrder::kBgr;
    text += fmt::format("  csc_switch: false\n  rbuv_swap_switch: {}\n", swap);
  }
  // mean_chn is a whole number; min_chn, which is subtracted likewise, keeps fractions.
  for (size_t i = 0; i < 3; ++i) text += fmt::format("  min_chn_{}: {}\n", i, description.mean[i]);
  for (size_t i = 0; i < 3; ++i) text += fmt::format("  var_reci_chn_{}: {}\n", i, 1.0 / description.std[i]);
  return text + "}\n";
}

}  // namespace npustream::serving
