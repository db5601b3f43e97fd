#pragma once

// What the opaque handles of the C interface point to.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "dvpp/picture/picture.h"
#include "dvpp/vpc/border.h"
#include "dvpp/vpc/lookup.h"

namespace npustream::dvpp {
class VdecSession;
}

struct acldvppPicDesc {
  void* data = nullptr;
  uint32_t size = 0;
  acldvppPixelFormat format = PIXEL_FORMAT_YUV_400;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t width_stride = 0;
  uint32_t height_stride = 0;
  uint32_t ret_code = 0;
};

struct acldvppBatchPicDesc {
  std::vector<acldvppPicDesc> pictures;
};

struct acldvppRoiConfig {
  uint32_t left = 0, right = 0, top = 0, bottom = 0;  // inclusive
};

struct acldvppResizeConfig {
  uint32_t interpolation = 0;
};

struct acldvppBorderConfig {
  acldvppBorderType type = BORDER_CONSTANT;
  uint32_t top = 0, bottom = 0, left = 0, right = 0;
  std::array<double, 4> value{};
};

struct acldvppLutMap {
  npustream::dvpp::LookupTables tables{};
};

struct acldvppChannelDesc {
  uint64_t channel_id = 0;
  uint32_t mode = 0;  // set of acldvppChannelMode; 0: all
  uint32_t csc_matrix = ACL_DVPP_CSC_MATRIX_BT601_NARROW;
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t jpegd_precision = 0;
  bool created = false;
};

struct acldvppStreamDesc {
  void* data = nullptr;
  uint32_t size = 0;
  acldvppStreamFormat format = H265_MAIN_LEVEL;
  uint64_t timestamp = 0;
  uint32_t ret_code = 0;
  uint8_t eos = 0;
};

struct aclvdecFrameConfig {};

struct aclvdecChannelDesc {
  uint32_t channel_id = 0;
  uint64_t thread_id = 0;
  aclvdecCallback callback = nullptr;
  acldvppStreamFormat en_type = H265_MAIN_LEVEL;
  acldvppPixelFormat out_pic_format = PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  uint32_t out_pic_width = 0;
  uint32_t out_pic_height = 0;
  uint32_t ref_frame_num = 0;
  uint32_t out_mode = 0;
  uint32_t bit_depth = 0;
  uint32_t csc_matrix = 0;
  // Shared with reports that are on their way to the program's thread.
  std::shared_ptr<npustream::dvpp::VdecSession> session;
};
