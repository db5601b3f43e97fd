#include "elements/osd/npu_osd.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <opencv2/imgproc.hpp>

namespace npustream::elements {
namespace {

struct Color {
  int r, g, b;
};

// Far apart on the colour circle and light enough for black text.
constexpr std::array<Color, 10> kPalette{{{255, 88, 88},
                                          {86, 214, 92},
                                          {92, 160, 255},
                                          {255, 200, 60},
                                          {208, 128, 255},
                                          {64, 224, 224},
                                          {255, 136, 200},
                                          {184, 224, 72},
                                          {255, 152, 80},
                                          {176, 176, 255}}};
constexpr Color kTextColor{0, 0, 0};

cv::Scalar Luma(Color c) { return cv::Scalar((66 * c.r + 129 * c.g + 25 * c.b) / 256 + 16); }
// BT.601 narrow range, as luma above.
cv::Scalar Chroma(Color c) {
  return cv::Scalar((-38 * c.r - 74 * c.g + 112 * c.b) / 256 + 128, (112 * c.r - 94 * c.g - 18 * c.b) / 256 + 128);
}

class Canvas {
 public:
  explicit Canvas(const OsdPicture& picture) : format_(picture.format) {
    const int type = format_ == OsdFormat::kNv12 ? CV_8UC1 : CV_8UC3;
    first_ = cv::Mat(picture.height, picture.width, type, picture.first, picture.first_stride);
    if (format_ != OsdFormat::kNv12) return;
    chroma_ =
        cv::Mat((picture.height + 1) / 2, (picture.width + 1) / 2, CV_8UC2, picture.chroma, picture.chroma_stride);
  }

  void Frame(cv::Rect box, Color color, int line_width) {
    cv::rectangle(first_, box, First(color), line_width);
    if (!chroma_.empty()) cv::rectangle(chroma_, Half(box), Chroma(color), std::max(1, line_width / 2));
  }
  void Fill(cv::Rect box, Color color) {
    cv::rectangle(first_, box, First(color), cv::FILLED);
    if (!chroma_.empty()) cv::rectangle(chroma_, Half(box), Chroma(color), cv::FILLED);
  }
  // Only on luma: at half size letters would be unreadable, and the background behind them is filled.
  void Text(const std::string& text, cv::Point at, double scale) {
    cv::putText(first_, text, at, cv::FONT_HERSHEY_SIMPLEX, scale, First(kTextColor), 1, cv::LINE_AA);
  }

 private:
  cv::Scalar First(Color c) const {
    if (format_ == OsdFormat::kNv12) return Luma(c);
    return format_ == OsdFormat::kRgb ? cv::Scalar(c.r, c.g, c.b) : cv::Scalar(c.b, c.g, c.r);
  }
  static cv::Rect Half(cv::Rect r) { return {r.x / 2, r.y / 2, (r.width + 1) / 2, (r.height + 1) / 2}; }

  const OsdFormat format_;
  cv::Mat first_;
  cv::Mat chroma_;
};

void DrawLabel(Canvas& canvas, const DetectedObject& object, cv::Rect box, Color color, const OsdStyle& style) {
  std::string text = fmt::format("{} {:.0f}%", object.label, object.detection.confidence * 100);
  if (object.track_id >= 0) text = fmt::format("#{} {}", object.track_id, text);
  int baseline = 0;
  const cv::Size size = cv::getTextSize(text, cv::FONT_HERSHEY_SIMPLEX, style.text_scale, 1, &baseline);
  const int height = size.height + baseline + 2;
  const int top = box.y >= height ? box.y - height : box.y;  // inside the box where there is no room above it
  canvas.Fill({box.x, top, size.width + 2, height}, color);
  canvas.Text(text, {box.x + 1, top + size.height + 1}, style.text_scale);
}

void DrawObject(Canvas& canvas, const DetectedObject& object, const OsdStyle& style) {
  const Box& box = object.detection.box;
  const cv::Point low(static_cast<int>(std::lround(box.x_min)), static_cast<int>(std::lround(box.y_min)));
  const cv::Point high(static_cast<int>(std::lround(box.x_max)), static_cast<int>(std::lround(box.y_max)));
  const cv::Rect rect(low, high);
  const Color color = kPalette[static_cast<size_t>(std::max(0, object.detection.label_id)) % kPalette.size()];
  canvas.Frame(rect, color, style.line_width);
  if (style.labels) DrawLabel(canvas, object, rect, color, style);
}

}  // namespace

Status DrawDetections(const OsdPicture& picture, const DetectionResult& result, const OsdStyle& style) {
  try {
    Canvas canvas(picture);
    for (const DetectedObject& object : result.objects) DrawObject(canvas, object, style);
  } catch (const cv::Exception& failure) {
    return Status(StatusCode::kInternal, fmt::format("drawing: {}", failure.what()));
  }
  return Status();
}

}  // namespace npustream::elements
