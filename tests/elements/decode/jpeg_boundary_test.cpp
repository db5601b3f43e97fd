#include "elements/decode/jpeg_boundary.h"

#include <string_view>

#include <gtest/gtest.h>

namespace npustream::elements {
namespace {

using namespace std::string_view_literals;

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// SOI, APP1 with a thumbnail's EOI inside, a scan with stuffing and a restart, EOI behind a fill byte.
constexpr std::string_view kPicture =
    "\xFF\xD8\xFF\xE1\x00\x06\xFF\xD8\xFF\xD9\xFF\xDA\x00\x02\x12\xFF\x00\xD9\xFF\xD0\x34\xFF\xFF\xD9"sv;

TEST(JpegBoundary, APictureEndsAtItsOwnEndOfImage) {
  JpegBoundary boundary;
  EXPECT_EQ(boundary.Scan(Bytes(kPicture)), kPicture.size());
}

TEST(JpegBoundary, PiecesMayBeCutAnywhere) {
  for (size_t cut = 1; cut < kPicture.size(); ++cut) {
    JpegBoundary boundary;
    EXPECT_EQ(boundary.Scan(Bytes(kPicture.substr(0, cut))), std::nullopt) << cut;
    EXPECT_EQ(boundary.Scan(Bytes(kPicture.substr(cut))), kPicture.size() - cut) << cut;
  }
}

TEST(JpegBoundary, ThePictureBehindIsTheNextOne) {
  JpegBoundary boundary;
  const std::string two = std::string(kPicture) + std::string(kPicture);
  ASSERT_EQ(boundary.Scan(Bytes(two)), kPicture.size());
  EXPECT_EQ(boundary.Scan(Bytes(std::string_view(two).substr(kPicture.size()))), kPicture.size());
}

TEST(JpegBoundary, APictureThatIsCutOffHasNoEnd) {
  JpegBoundary boundary;
  EXPECT_EQ(boundary.Scan(Bytes(kPicture.substr(0, kPicture.size() - 1))), std::nullopt);
}

}  // namespace
}  // namespace npustream::elements
