#include "pipeline/config/expand_env.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace npustream::pipeline {
namespace {

TEST(ExpandEnvironment, ReplacesVariables) {
  setenv("NPUSTREAM_TEST_A", "one", 1);
  setenv("NPUSTREAM_TEST_EMPTY", "", 1);
  unsetenv("NPUSTREAM_TEST_B");
  EXPECT_EQ(*ExpandEnvironment("x${NPUSTREAM_TEST_A}y${NPUSTREAM_TEST_A}"), "xoneyone");
  EXPECT_EQ(*ExpandEnvironment("${NPUSTREAM_TEST_B:-two}"), "two");
  EXPECT_EQ(*ExpandEnvironment("${NPUSTREAM_TEST_EMPTY:-two}"), "two");
  EXPECT_EQ(*ExpandEnvironment("${NPUSTREAM_TEST_EMPTY}"), "");
  EXPECT_EQ(*ExpandEnvironment("plain $HOME text"), "plain $HOME text");
}

TEST(ExpandEnvironment, IsNotAppliedToWhatItPutIn) {
  setenv("NPUSTREAM_TEST_A", "${NPUSTREAM_TEST_A}", 1);
  EXPECT_EQ(*ExpandEnvironment("${NPUSTREAM_TEST_A}"), "${NPUSTREAM_TEST_A}");
}

TEST(ExpandEnvironment, RefusesWhatItCannotReplace) {
  unsetenv("NPUSTREAM_TEST_B");
  EXPECT_EQ(ExpandEnvironment("${NPUSTREAM_TEST_B}").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ExpandEnvironment("${NPUSTREAM_TEST_B").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ExpandEnvironment("${}").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ExpandEnvironment("${1A}").status().code(), StatusCode::kInvalidArgument);
}

TEST(WithoutPassword, HidesThePasswordOnly) {
  EXPECT_EQ(WithoutPassword("rtsp://user:secret@host:554/path"), "rtsp://user:***@host:554/path");
  EXPECT_EQ(WithoutPassword("rtsp://user:se@cr:et@host/path"), "rtsp://user:***@host/path");
  EXPECT_EQ(WithoutPassword("rtsp://user:se/c?r#et@host/path"), "rtsp://user:***@host/path");
  EXPECT_EQ(WithoutPassword("rtsp://user:${PASSWORD:-a/b}@host/path"), "rtsp://user:***@host/path");
  EXPECT_EQ(WithoutPassword("rtsp://[::1]/a@b"), "rtsp://[::1]/a@b");
  EXPECT_EQ(WithoutPassword("rtsp://host:554/a@b"), "rtsp://host:554/a@b");
  EXPECT_EQ(WithoutPassword("rtsp://user@host/"), "rtsp://user@host/");
  EXPECT_EQ(WithoutPassword("/a:b@c"), "/a:b@c");
}

}  // namespace
}  // namespace npustream::pipeline
