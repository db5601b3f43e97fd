// What crosses between host and device is the compressed stream and the output tensors, to the byte.
#include <cstdint>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/e2e/summary.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::e2e {
namespace {

using testing_support::RunShell;
using testing_support::TemporaryFolder;

// coco-day: six float outputs, 80 scores and 44 distances for each of 52², 26² and 13² cells.
constexpr int64_t kOutputBytes = (52 * 52 + 26 * 26 + 13 * 13) * (80 + 44) * 4;
constexpr int64_t kFrames = 30;

TEST(DeviceResidency, OnlyTheBitstreamGoesUpAndOnlyTensorsComeDown) {
  const TemporaryFolder folder;
  // An elementary stream of MJPEG pictures: the bytes that reach VDEC are those of the file.
  const std::string clip = (folder.path() / "clip.avi").string();
  const std::string pictures = (folder.path() / "pictures.bin").string();
  const auto made = RunShell(
      "gst-launch-1.0 -q videotestsrc num-buffers=30 ! video/x-raw,width=320,height=240,framerate=25/1 ! jpegenc ! tee name=t "
      "t. ! queue ! avimux ! filesink location='" + clip + "' t. ! queue ! filesink location='" + pictures + "'");
  ASSERT_EQ(made.exit_code, 0) << made.output;

  const auto config = folder.path() / "cameras.yaml";
  const auto summary_file = folder.path() / "summary.json";
  std::ofstream(config) << "models:\n  day:\n    description: coco-day\ncameras:\n  one:\n    uri: " << clip
                        << "\n    model: day\n";
  const auto run = RunShell("npustream run -c '" + config.string() + "' --summary-json '" + summary_file.string() + "'");
  ASSERT_EQ(run.exit_code, 0) << run.output;

  const auto copied = ReadJson(summary_file)["bytes_copied"];
  EXPECT_EQ(copied["h2d"].get<int64_t>(), static_cast<int64_t>(std::filesystem::file_size(pictures)));
  EXPECT_EQ(copied["d2h"].get<int64_t>(), kFrames * kOutputBytes);
}

}  // namespace
}  // namespace npustream::e2e
