// The program as a user calls it, as far as it goes without a model: flags, messages and exit codes.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace npustream::apps {
namespace {

using testing::HasSubstr;
using testing_support::RunShell;
using testing_support::TemporaryFolder;

struct WrongUse {
  const char* name;
  const char* arguments;
  const char* message;
};

class WrongCalls : public testing::TestWithParam<WrongUse> {};

TEST_P(WrongCalls, ExitWithTwoAndSayWhatIsWrong) {
  const auto run = RunShell(std::string("npustream ") + GetParam().arguments);
  EXPECT_EQ(run.exit_code, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongCalls,
    testing::Values(WrongUse{"NoCommand", "", "subcommand is required"}, WrongUse{"UnknownCommand", "detekt", "detekt"},
                    WrongUse{"UnknownFlag", "detect --model a --input b --output c --thresold 0.5", "--thresold"},
                    WrongUse{"MissingModel", "detect --input a --output b", "--model is required"},
                    WrongUse{"ThresholdRange", "detect --model a --input b --output c --threshold 1.5", "--threshold"},
                    WrongUse{"ThresholdNan", "detect --model a --input b --output c --threshold nan", "--threshold"},
                    WrongUse{"EmptyOutput", "detect --model a --input b --output ''", "--output"},
                    WrongUse{"EmptyInput", "detect --model a --input '' --output c", "--input"},
                    WrongUse{"BatchRange", "detect --model a --input b --output c --batch 0", "--batch"},
                    WrongUse{"Precision", "detect --model a --input b --output c --precision int3", "--precision"},
                    WrongUse{"Format", "detect --model a --input b --output c --picture-format yuv",
                             "--picture-format"},
                    WrongUse{"RunWithoutConfig", "run", "--config is required"},
                    WrongUse{"ModelsAlone", "models", "subcommand is required"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Npustream, VersionAndHelp) {
  const auto version = RunShell("npustream --version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.output, testing::MatchesRegex("npustream [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  const auto help = RunShell("npustream detect --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, HasSubstr("--picture-format"));
}

TEST(Check, MistakesExitWithTwoAndNameFileLineAndKey) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "cameras.yaml";
  std::ofstream(file) << "cameras:\n  gate:\n    uri: a.mp4\n    treshold: 0.5\n";
  const auto run = RunShell("npustream check -c '" + file + "'");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.output,
            "npustream: " + file + ":4: cameras.gate.treshold: is not a known key; did you mean 'threshold'?\n");
  const auto absent = RunShell("npustream check -c '" + folder.path().string() + "/absent.yaml'");
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.output, HasSubstr("absent.yaml"));
}

TEST(Check, PrintsPipelinesThatGstLaunchUnderstands) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "cameras.yaml";
  std::ofstream(file)
      << "models:\n  day:\n    description: coco-day\ncameras:\n  gate:\n    uri: \"with space's.mp4\"\n"
         "    region: {x: 0.25, w: 0.5}\n    interval: 2\noutputs:\n  records: out.jsonl\n";
  const auto run = RunShell("npustream check -c '" + file + "' --print-pipeline");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, testing::StartsWith("# gate\ngst-launch-1.0 filesrc"));
  // The file does not exist: gst-launch gets as far as opening it, so every element and property is known.
  const auto launched = RunShell(run.output);
  EXPECT_NE(launched.exit_code, 0);
  EXPECT_THAT(launched.output, HasSubstr("with space's.mp4"));
  EXPECT_THAT(launched.output, testing::Not(HasSubstr("no element")));
  EXPECT_THAT(launched.output, testing::Not(HasSubstr("no property")));
}

TEST(Detect, AnUnknownModelIsOneSentenceAndLeavesNothing) {
  const TemporaryFolder folder;
  const std::string output = folder.path() / "out.jsonl";
  const auto run = RunShell(
      "npustream detect --model no-such-model --input '" NPUSTREAM_SOURCE_DIR "/LICENSE' --output '" + output + "'");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.output, HasSubstr("no-such-model"));
  EXPECT_EQ(std::count(run.output.begin(), run.output.end(), '\n'), 1) << run.output;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Models, ListNamesTheEmbeddedOnes) {
  const auto run = RunShell("npustream models list");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, HasSubstr("coco-day"));
  EXPECT_THAT(run.output, HasSubstr("coco-night"));
}

TEST(Models, InfoShowsTheDescriptionAndRefusesUnknownNames) {
  const auto run = RunShell("npustream models info coco-day");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.output, HasSubstr("nanodet"));
  const auto unknown = RunShell("npustream models info coco-dya");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.output, HasSubstr("coco-dya"));
}

// Under a closed standard error the first file that is opened would take its place.
TEST(StandardStreams, WhatIsLostIsNoSuccessAndNoCrash) {
  for (const char* command : {"npustream models list", "npustream --help", "npustream check --print-pipeline -c FILE"}) {
    std::string line = command;
    if (const size_t at = line.find("FILE"); at != std::string::npos)
      line.replace(at, 4, NPUSTREAM_SOURCE_DIR "/configs/cameras-1.yaml");
    if (line.find("check") != std::string::npos) line = "NPUSTREAM_DEMO_CLIP=/proc/self/exe " + line;
    const auto full = RunShell("{ " + line + " >/dev/full; }");
    EXPECT_EQ(full.exit_code, 1) << command;
    EXPECT_THAT(full.output, HasSubstr("standard output cannot be written: No space left on device")) << command;
    EXPECT_EQ(RunShell(line + " >&-").exit_code, 1) << command;
  }
  EXPECT_EQ(RunShell("atc --help >/dev/full").exit_code, 1);
  EXPECT_EQ(RunShell("npustream models info nothing 2>&-").exit_code, 2);
}

}  // namespace
}  // namespace npustream::apps
