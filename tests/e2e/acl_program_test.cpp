// Programs written against the vendor's interface are compiled by plain compilers and linked with -lascendcl alone.
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

class AclProgram : public testing::Test {
 protected:
  AclProgram() {
    std::ofstream(stem_ + ".onnx", std::ios::binary) << std::string_view(kAddRelu, sizeof kAddRelu - 1);
    const auto compiled = RunShell("atc --framework=5 --model='" + stem_ + ".onnx' --output='" + stem_ +
                                   "' --soc_version=Ascend310P3");
    EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
  }

  // Compiles a program with that compiler and runs it with the model.
  auto BuildAndRun(const std::string& compiler, const std::string& source, const std::string& model) {
    const std::string root = NPUSTREAM_SOURCE_DIR, libraries = NPUSTREAM_BINARY_DIR "/lib";
    const auto built = RunShell(compiler + " -Wall -Wextra -Werror -I'" + root + "/runtime/acl/include' '" + root +
                                "/tests/e2e/acl_program/" + source + "' -L'" + libraries +
                                "' -lascendcl -pthread -Wl,-rpath,'" + libraries + "' -o '" + stem_ + "'");
    EXPECT_EQ(built.exit_code, 0) << built.output;
    return RunShell("'" + stem_ + "' '" + stem_ + model + "'");
  }

  const TemporaryFolder folder_;
  const std::string stem_ = (folder_.path() / "net").string();
};

TEST_F(AclProgram, CompilesAsCAndAsCxxAndRunsAsOnACard) {
  for (const char* compiler : {"cc", "c++ -std=c++11 -x c++"}) {
    const auto run = BuildAndRun(compiler, "main.c", ".om");
    EXPECT_EQ(run.exit_code, 0) << run.output;
    EXPECT_EQ(run.output, "1.5 0 0 7\n");
  }
}

TEST_F(AclProgram, SaysWhatAFileIsThatIsNoModel) {
  const auto foreign = BuildAndRun("cc", "main.c", ".onnx");
  EXPECT_EQ(foreign.exit_code, 1);
  EXPECT_NE(foreign.output.find("ONNX"), std::string::npos) << foreign.output;
}

TEST_F(AclProgram, DoesWhatSamplesForACardDo) {
  const auto run = BuildAndRun("c++ -std=c++11", "samples.cpp", ".om");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output,
            "Ascend310P3, device 0, run mode 1, memory: yes\n"
            "from a file: 1.5 0 0 7\n"
            "from memory: 1.5 0 0 7\n"
            "into own memory: 1.5 0 0 7\n"
            "from memory into own memory: 1.5 0 0 7\n"
            "1 input, 1 output\n"
            "input \"x\": 1 4\n"
            "input \"x\": 1 4\n"
            "output \"y\": 1 4\n"
            "output \"y\": 1 4\n"
            "x is 0 of 16 bytes, y is 0 of 16 bytes\n"
            "type 0, bytes of one 4, format 2\n"
            "0 gears, 0 image sizes\n"
            "asynchronously: 1.5 0 0 7\n"
            "time passed: yes, happened: 1, callbacks: 1\n"
            "tensor: 24 elements, 48 bytes, 3 dims, the last 4\n"
            "half of 1.5: 0x3e00, back: 1.5\n");
}

}  // namespace
}  // namespace npustream::e2e
