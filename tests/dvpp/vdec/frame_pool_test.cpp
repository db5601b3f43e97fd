#include "dvpp/vdec/frame_pool.h"

#include <gtest/gtest.h>

#include "dvpp/vdec/channel.h"
#include "tests/dvpp/vdec/host_block_source.h"
#include "tests/dvpp/vdec/media_file.h"
#include "tests/support/test_data.h"

namespace npustream::dvpp {
namespace {

TEST(FramePool, UsesMemoryAgainAndFreesItWhenTheSizeChanges) {
  auto source = std::make_shared<HostBlockSource>();
  {
    const auto pool = FramePool::Create(source);
    const void* first = pool->Take(1000, 10).value()->block.host;
    EXPECT_EQ(pool->Take(1000, 10).value()->block.host, first);
    EXPECT_EQ(pool->allocations(), 1u);
    EXPECT_EQ(source->live(), 1);
    EXPECT_NE(pool->Take(2000, 10).value(), nullptr);
    EXPECT_EQ(source->live(), 1) << "the block of the old size is freed";
  }
  EXPECT_EQ(source->live(), 0);
}

TEST(FramePool, MemoryOutlivesThePoolsOwner) {
  auto source = std::make_shared<HostBlockSource>();
  std::shared_ptr<FrameMemory> memory = FramePool::Create(source)->Take(1000, 0).value();
  EXPECT_EQ(source->live(), 1);
  memory.reset();
  EXPECT_EQ(source->live(), 0);
}

TEST(FramePool, DecodingStopsAllocating) {
  NPUSTREAM_TEST_DATA_OR_SKIP(path, "videos/vtest.avi");
  const std::optional<MediaFile> file = MediaFile::Read(path);
  const auto pool = FramePool::Create(std::make_shared<HostBlockSource>());
  const auto decoder = Decoder::Create({*file->stream_format(), PIXEL_FORMAT_YUV_SEMIPLANAR_420,
                                        file->parameters->width, file->parameters->height},
                                       pool);
  size_t after_ten = 0;
  int good = 0;
  for (int i = 0; i < 60; ++i) {
    const Status status = decoder.value()->Decode(
        i, *file->packets[i], [&good](int64_t, Result<DecodedPicture> picture) { good += picture.ok(); });
    EXPECT_TRUE(status.ok()) << status.message();
    if (i == 9) after_ten = pool->allocations();
  }
  EXPECT_GE(good, 59);
  EXPECT_GT(after_ten, 0u);
  EXPECT_EQ(pool->allocations(), after_ten);
}

}  // namespace
}  // namespace npustream::dvpp
