#include "elements/sink/record_writer.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/support/temporary_folder.h"

namespace npustream::elements {
namespace {

FrameInfo Frame() {
  FrameInfo frame;
  frame.camera_id = "gate";
  frame.frame_id = 12;
  return frame;
}

DetectionResult Result() {
  DetectionResult result;
  result.model_name = "coco-day";
  result.model_version = "1";
  result.profile = "day";
  result.frame_width = 1920;
  result.frame_height = 1080;
  return result;
}

// `date -u -d 2026-11-30T08:00:00Z +%s` says 1796025600.
constexpr int64_t kCaptureTimeNs = 1796025600'480'000'000;

TEST(FormatUtc, GivesMilliseconds) {
  EXPECT_EQ(FormatUtc(kCaptureTimeNs), "2026-11-30T08:00:00.480Z");
  EXPECT_EQ(FormatUtc(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatUtc(-1), "1969-12-31T23:59:59.999Z");
}

// The record of docs/records.md with numbers whose quotients are written out by hand: 480 / 1920 = 0.25, 270 / 1080 =
// 0.25, 576 / 1920 = 0.3, 405 / 1080 = 0.375.
TEST(FormatRecord, WritesTheFormatOfTheArchitecture) {
  FrameInfo frame = Frame();
  frame.capture_time_ns = kCaptureTimeNs;
  frame.source = "gate.mp4";
  DetectionResult result = Result();
  result.objects.push_back({{{480, 270, 576, 405}, 0.91f, 0, {}}, "person", 7});
  EXPECT_EQ(
      FormatRecord(frame, 480000000, result),
      R"({"schema_version":1,"camera_id":"gate","frame_id":12,"pts_ns":480000000,)"
      R"("capture_time":"2026-11-30T08:00:00.480Z","source":"gate.mp4","resolution":{"width":1920,"height":1080},)"
      R"("profile":"day","model":{"name":"coco-day","version":"1"},)"
      R"("objects":[{"label":"person","label_id":0,"confidence":0.91,"x":480.0,"y":270.0,"w":96.0,"h":135.0,)"
      R"("detection":{"bounding_box":{"x_min":0.25,"y_min":0.25,"x_max":0.3,"y_max":0.375},"confidence":0.91,)"
      R"("label":"person","label_id":0},"id":7}]})");
}

TEST(FormatRecord, LeavesOutWhatIsNotKnown) {
  DetectionResult result = Result();
  result.profile.clear();
  EXPECT_EQ(
      FormatRecord(Frame(), -1, result),
      R"({"schema_version":1,"camera_id":"gate","frame_id":12,"pts_ns":null,"resolution":{"width":1920,"height":1080},)"
      R"("model":{"name":"coco-day","version":"1"},"objects":[]})");
}

TEST(FormatRecord, WritesLandmarksOfModelsThatHaveThem) {
  DetectionResult result = Result();
  result.objects.push_back({{{0, 0, 96, 54}, 0.5f, 3, {{1.25f, 2.5f}}}, "face", -1});
  const std::string record = FormatRecord(Frame(), 0, result);
  EXPECT_NE(record.find(R"("landmarks":[{"x":1.25,"y":2.5}])"), std::string::npos) << record;
  EXPECT_EQ(record.find(R"("id":)"), std::string::npos) << record;
}

TEST(FormatRecord, ALabelThatIsNotUtf8CostsNoRecord) {
  DetectionResult result = Result();
  result.objects.push_back({{{0, 0, 1, 1}, 0.5f, 0, {}}, "\xff", -1});
  EXPECT_NE(FormatRecord(Frame(), 0, result).find("\xef\xbf\xbd"), std::string::npos);  // U+FFFD
}

TEST(RecordWriter, WritesLinesAndTruncatesWhatWasThere) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder / "out.jsonl";
  ASSERT_TRUE(WriteFileAtomically(path, std::string_view("old content")).ok());
  auto writer = RecordWriter::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  EXPECT_TRUE((*writer)->WriteLine("{}").ok());
  EXPECT_TRUE((*writer)->WriteLine("[]").ok());
  EXPECT_TRUE((*writer)->Flush().ok());
  EXPECT_EQ(*ReadTextFile(path), "{}\n[]\n");
}

TEST(RecordWriter, NamesTheFileThatCannotBeWritten) {
  const auto writer = RecordWriter::Open("/nowhere/out.jsonl");
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.status().code(), StatusCode::kIoError);
  EXPECT_NE(writer.status().message().find("/nowhere/out.jsonl"), std::string::npos);
  EXPECT_FALSE(RecordWriter::Open("").ok());
}

TEST(RecordWriter, AFullDiskIsAnError) {
  auto writer = RecordWriter::Open("/dev/full");
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE((*writer)->WriteLine("{}").ok());
  EXPECT_EQ((*writer)->Flush().code(), StatusCode::kIoError);
}

}  // namespace
}  // namespace npustream::elements
