#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "npu_sim/om/graph.h"

namespace npustream::om {

// One aipp_op block of an AIPP file after defaults, plus the source size which it works on. The fields carry the
// names and the meaning of the file.
struct AippConfig {
  int32_t related_input_rank = 0;
  std::string aipp_mode = "static";  // static or dynamic
  // YUV420SP_U8, XRGB8888_U8, RGB888_U8 or YUV400_U8
  std::string input_format = "YUV420SP_U8";
  // Pixels of the picture that is handed in; 0 only where every gear has its own size.
  int32_t src_image_size_w = 0, src_image_size_h = 0;
  int64_t max_src_image_size = 0;  // bytes, dynamic AIPP only
  bool csc_switch = false;
  bool rbuv_swap_switch = false;
  bool ax_swap_switch = false;
  bool crop = false;
  int32_t load_start_pos_w = 0, load_start_pos_h = 0;  // pixels
  int32_t crop_size_w = 0, crop_size_h = 0;            // pixels
  bool padding = false;
  int32_t left_padding_size = 0, right_padding_size = 0, top_padding_size = 0, bottom_padding_size = 0;
  float padding_value = 0;
  std::array<int16_t, 9> matrix = {298, 516, 0, 298, -100, -208, 298, 0, 409};  // row-major
  std::array<uint8_t, 3> input_bias = {16, 128, 128};
  std::array<uint8_t, 3> output_bias = {16, 128, 128};
  std::array<uint8_t, 4> mean_chn = {0, 0, 0, 0};
  std::array<float, 4> min_chn = {0, 0, 0, 0};       // already rounded to fp16
  std::array<float, 4> var_reci_chn = {1, 1, 1, 1};  // already rounded to fp16
};

// The same as attributes of an Aipp node (names as above; arrays as ints or floats) and back. FromAttributes refuses
// sizes, formats and ranges that the AIPP file would not be allowed to have.
Attributes ToAttributes(const AippConfig& config);
Result<AippConfig> AippFromAttributes(const Node& node);

// The configuration for a network's input of this size: takes it for the source and the crop where they are 0.
AippConfig WithSource(AippConfig config, int64_t height, int64_t width);

// Dims of the uint8 picture as aclmdlGetInputDimsV2 gives them: n,h·3/2,w,1 for YUV420SP, n,h,w,{4,3,1} otherwise.
Dims AippInputDims(const AippConfig& config, int64_t batch);

}  // namespace npustream::om
