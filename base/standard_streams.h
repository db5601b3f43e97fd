#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace npustream {

// A program's standard streams. Main thread, before anything else: opens those that were closed by the caller, so that no
// file which is opened later takes their place; what is written to them then is lost, as the caller wanted.
void ClaimStandardStreams();

// What a program says. Never throws; what standard output does not take is found by FlushStandardOutput.
template <typename... Args>
void Print(std::FILE* to, fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), to);
}

// False, with a sentence on stderr, when something that was written to standard output is lost.
bool FlushStandardOutput();

}  // namespace npustream
