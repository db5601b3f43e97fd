#include "pipeline/publish/annotate.h"

#include <algorithm>

#include <fmt/format.h>
#include <opencv2/imgproc.hpp>

namespace npustream::pipeline {
namespace {

constexpr double kFontScale = 0.42;
constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;

// Colours that neighbouring label ids do not share; BGR.
cv::Scalar ColorOf(int label_id) {
  static const cv::Scalar kColors[] = {{80, 220, 60},  {60, 160, 255}, {255, 140, 60}, {60, 60, 240},
                                       {220, 80, 220}, {40, 220, 220}, {230, 200, 80}, {160, 220, 255}};
  return kColors[static_cast<unsigned>(label_id) % std::size(kColors)];
}

// The whole picture as BGR of the given size (even).
cv::Mat ScaledBgr(const HostPicture& picture, cv::Size size) {
  const cv::Mat luma(picture.height, picture.width, CV_8UC1, const_cast<uint8_t*>(picture.luma), picture.luma_stride);
  const cv::Mat chroma((picture.height + 1) / 2, (picture.width + 1) / 2, CV_8UC2, const_cast<uint8_t*>(picture.chroma),
                       picture.chroma_stride);
  cv::Mat small_luma, small_chroma, bgr;
  cv::resize(luma, small_luma, size, 0, 0, cv::INTER_AREA);
  cv::resize(chroma, small_chroma, size / 2, 0, 0, cv::INTER_AREA);
  cv::cvtColorTwoPlane(small_luma, small_chroma, bgr, cv::COLOR_YUV2BGR_NV12);
  return bgr;
}

void DrawText(cv::Mat& picture, const std::string& text, cv::Point below, const cv::Scalar& background) {
  int baseline = 0;
  const cv::Size size = cv::getTextSize(text, kFont, kFontScale, 1, &baseline);
  const int top = std::max(0, below.y - size.height - baseline - 2);
  const cv::Rect plate(std::clamp(below.x, 0, std::max(0, picture.cols - size.width - 2)), top, size.width + 4,
                       size.height + baseline + 2);
  cv::rectangle(picture, plate, background, cv::FILLED);
  cv::putText(picture, text, {plate.x + 2, plate.y + size.height + 1}, kFont, kFontScale, {0, 0, 0}, 1, cv::LINE_AA);
}

void DrawObject(cv::Mat& picture, const elements::DetectedObject& object, double scale_x, double scale_y) {
  const elements::Box& box = object.detection.box;
  const cv::Point low(cvRound(box.x_min * scale_x), cvRound(box.y_min * scale_y));
  const cv::Point high(cvRound(box.x_max * scale_x), cvRound(box.y_max * scale_y));
  const cv::Scalar color = ColorOf(object.detection.label_id);
  cv::rectangle(picture, low, high, color, 2);
  const std::string name = object.label.empty() ? std::to_string(object.detection.label_id) : object.label;
  DrawText(picture, fmt::format("{} {:.2f}", name, object.detection.confidence), low, color);
}

}  // namespace

void DrawTile(const HostPicture& picture, std::span<const elements::DetectedObject> objects, const std::string& title,
              cv::Mat tile) {
  tile.setTo(cv::Scalar::all(0));
  const double scale =
      std::min(static_cast<double>(tile.cols) / picture.width, static_cast<double>(tile.rows) / picture.height);
  const cv::Size size(std::clamp(static_cast<int>(picture.width * scale) & ~1, 2, tile.cols),
                      std::clamp(static_cast<int>(picture.height * scale) & ~1, 2, tile.rows));
  cv::Mat bgr = ScaledBgr(picture, size);
  for (const elements::DetectedObject& object : objects) {
    DrawObject(bgr, object, static_cast<double>(size.width) / picture.width,
               static_cast<double>(size.height) / picture.height);
  }
  DrawText(bgr, title, {0, 0}, cv::Scalar::all(220));
  bgr.copyTo(tile(cv::Rect((tile.cols - size.width) / 2, (tile.rows - size.height) / 2, size.width, size.height)));
}

}  // namespace npustream::pipeline
