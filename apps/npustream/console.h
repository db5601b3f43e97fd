#pragma once

#include <string_view>

#include "base/status.h"
#include "pipeline/run.h"

namespace npustream::apps {

// "npustream: message" on stderr; a progress line that is there is wiped first.
void PrintMessage(std::string_view message);
// PrintMessage, and its exit code: a name or file that is not there, or a value that can never work, is wrong use.
int Fail(const Status& status);

// Shows progress in one line of stderr which is written over; silent unless stderr is a terminal.
void ShowProgressLine(std::string_view text);
void WipeProgress();

// Options with which commands run cameras: progress, notices and failures on stderr; the first SIGINT, SIGTERM or
// SIGHUP stops them, a second one ends the program at once.
pipeline::RunOptions ConsoleRunOptions();

}  // namespace npustream::apps
