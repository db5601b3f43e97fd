// A program written against the vendor's interface is compiled by a plain C compiler and linked with -lascendcl alone.
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::e2e {
namespace {

using testing_support::RunShell;
using testing_support::TemporaryFolder;

// ONNX of y = Relu(x + [0.5, -1, 2, 0]) for x [1, 4], opset 13, as the onnx Python package serialises it.
constexpr char kAddRelu[] =
    "\010\007\072\150\012\016\012\001\170\012\001\143\022\001\163\042\003\101\144\144\012\014\012\001\163\022\001\171\042"
    "\004\122\145\154\165\022\001\147\052\033\010\001\010\004\020\001\102\001\143\112\020\000\000\000\077\000\000\200\277"
    "\000\000\000\100\000\000\000\000\132\023\012\001\170\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\004"
    "\142\023\012\001\171\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\004\102\004\012\000\020\015";

TEST(AclProgram, CompilesAndRunsAsOnACard) {
  const TemporaryFolder folder;
  const std::string stem = (folder.path() / "net").string();
  std::ofstream(stem + ".onnx", std::ios::binary) << std::string_view(kAddRelu, sizeof kAddRelu - 1);
  const auto compiled = RunShell("atc --framework=5 --model='" + stem + ".onnx' --output='" + stem +
                                 "' --soc_version=Ascend310P3");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.output;

  const std::string root = NPUSTREAM_SOURCE_DIR, libraries = NPUSTREAM_BINARY_DIR "/lib";
  const auto built = RunShell("cc -Wall -Wextra -Werror -I'" + root + "/runtime/acl/include' '" + root +
                              "/tests/e2e/acl_program/main.c' -L'" + libraries + "' -lascendcl -Wl,-rpath,'" + libraries +
                              "' -o '" + stem + "'");
  ASSERT_EQ(built.exit_code, 0) << built.output;

  const auto run = RunShell("'" + stem + "' '" + stem + ".om'");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(run.output, "1.5 0 0 7\n");

  const auto foreign = RunShell("'" + stem + "' '" + stem + ".onnx'");
  EXPECT_EQ(foreign.exit_code, 1);
  EXPECT_NE(foreign.output.find("ONNX"), std::string::npos) << foreign.output;
}

}  // namespace
}  // namespace npustream::e2e
