#pragma once

#include <atomic>
#include <string_view>

#include "base/status.h"
#include "pipeline/run.h"

namespace npustream::apps {

// "npustream: message" on stderr; a progress line that is there is wiped first.
void PrintError(std::string_view message);
// PrintError, and the exit code for it: a name or file that is not there, or a value that can never work, is wrong use.
int Fail(const Status& status);
void PrintNotice(std::string_view message);

// Shows progress in one line of stderr which is written over; silent unless stderr is a terminal.
void ShowProgress(const pipeline::Progress& progress);
void ShowProgressLine(std::string_view text);
void WipeProgress();

// Becomes true with the first SIGINT, SIGTERM or SIGHUP; a second one ends the program at once.
const std::atomic<bool>& StopOnSignal();

// Options with which commands run cameras: progress, notices and failures on stderr, signals stop.
pipeline::RunOptions ConsoleRunOptions();

}  // namespace npustream::apps
