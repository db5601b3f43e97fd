#include "apps/npustream/console.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "apps/npustream/commands.h"
#include "base/standard_streams.h"

namespace npustream::apps {
namespace {

std::atomic<bool> progress_shown = false;
std::atomic<bool> stop_requested = false;

void OnSignal(int) { stop_requested = true; }

bool OnTerminal() {
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  return terminal;
}

void ShowProgress(const pipeline::Progress& progress) {
  const double fps = progress.seconds > 0 ? static_cast<double>(progress.frames) / progress.seconds : 0;
  ShowProgressLine(fmt::format("{} frames, {:.1f} fps, {:.0f} s, {} camera{} running", progress.frames, fps,
                               progress.seconds, progress.cameras_running, progress.cameras_running == 1 ? "" : "s"));
}

const std::atomic<bool>& StopOnSignal() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // under nohup it stays ignored
  return stop_requested;
}

}  // namespace

void WipeProgress() {
  if (progress_shown.exchange(false)) std::fputs("\r\x1b[K", stderr);
}

void PrintMessage(std::string_view message) {
  WipeProgress();
  Print(stderr, "npustream: {}\n", message);
}

int Fail(const Status& status) {
  PrintMessage(status.message());
  const bool wrong_use = status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kNotFound;
  return wrong_use ? kExitWrongUse : kExitFailed;
}

void ShowProgressLine(std::string_view text) {
  if (!OnTerminal()) return;
  progress_shown = true;
  Print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
}

pipeline::RunOptions ConsoleRunOptions() {
  pipeline::RunOptions options;
  options.stop = &StopOnSignal();
  options.on_progress = ShowProgress;
  options.on_notice = PrintMessage;
  options.on_failure = PrintMessage;
  return options;
}

}  // namespace npustream::apps
