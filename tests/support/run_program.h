#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace npustream::testing_support {

struct ProgramRun {
  int exit_code = -1;      // 128 + signal when it was killed by one
  std::string output;      // stdout and stderr together
};

// Runs a shell command to its end. Programs of the build come first on PATH and GStreamer finds the built plugin.
inline ProgramRun RunShell(const std::string& command) {
  const std::string build = NPUSTREAM_BINARY_DIR;
  const std::string prefix = "export PATH='" + build + "/bin:'$PATH GST_PLUGIN_PATH='" + build + "/lib/gstreamer-1.0'; ";
  ProgramRun run;
  FILE* pipe = popen((prefix + "{ " + command + "\n} 2>&1").c_str(), "r");
  if (pipe == nullptr) return run;
  char buffer[4096];
  while (const size_t count = fread(buffer, 1, sizeof buffer, pipe)) run.output.append(buffer, count);
  const int status = pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

}  // namespace npustream::testing_support
