#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"

namespace npustream::serving {

// A shell script that takes atc's flags. Mode 1 writes the file `interface`, mode 0 appends its arguments to `calls`
// and writes an "OM" with the AIPP file's content. While `broken` exists it fails as atc does.
class FakeAtc {
 public:
  explicit FakeAtc(const std::filesystem::path& folder)
      : program(folder / "atc"),
        interface(folder / "interface.json"),
        calls(folder / "calls"),
        broken(folder / "broken") {
    const std::string script =
        "#!/bin/sh\n"
        "for a in \"$@\"; do case $a in --mode=*) mode=${a#*=};; --json=*) json=${a#*=};;\n"
        "  --output=*) output=${a#*=};; --insert_op_conf=*) aipp=${a#*=};; esac; done\n"
        "if [ -e '" +
        broken.string() +
        "' ]; then\n"
        "  echo 'ATC start working now, please wait for a moment.'; echo ...\n"
        "  echo 'E13010: no parser for operator Foo (node bar)'\n"
        "  echo 'ATC run failed, Please check the detail log'; exit 1; fi\n"
        "if [ \"$mode\" = 1 ]; then cp '" +
        interface.string() +
        "' \"$json\"; exit 0; fi\n"
        "echo \"$@\" >> '" +
        calls.string() +
        "'\n"
        "cp \"$aipp\" \"$output.om\"\n";
    EXPECT_TRUE(WriteFileAtomically(program, script).ok());
    EXPECT_EQ(chmod(program.c_str(), 0755), 0);
    DescribeModel("images", {1, 3, 416, 416}, {{"out", {1, 3549, 85}}});
  }

  void DescribeModel(const std::string& input, const std::vector<int>& dims,
                     const std::vector<std::pair<std::string, std::vector<int>>>& outputs) {
    std::string text = "{\"graph\":{\"input\":[" + Port(input, dims) + "],\"output\":[";
    for (size_t i = 0; i < outputs.size(); ++i) text += (i ? "," : "") + Port(outputs[i].first, outputs[i].second);
    EXPECT_TRUE(WriteFileAtomically(interface, text + "]}}").ok());
  }

  // The arguments of each compilation, one line each.
  std::string Calls() const {
    const auto text = ReadTextFile(calls);
    return text.ok() ? *text : "";
  }
  size_t CallCount() const {
    const std::string text = Calls();
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  const std::filesystem::path program;
  const std::filesystem::path interface;
  const std::filesystem::path calls;
  const std::filesystem::path broken;

 private:
  static std::string Port(const std::string& name, const std::vector<int>& dims) {
    std::string text;
    for (const int dim : dims) text += (text.empty() ? "" : ",") + ("{\"dim_value\":" + std::to_string(dim) + "}");
    return "{\"name\":\"" + name + "\",\"type\":{\"tensor_type\":{\"shape\":{\"dim\":[" + text + "]}}}}";
  }
};

}  // namespace npustream::serving
