#pragma once

namespace CLI {
class App;
}

namespace npustream::apps {

// Exit codes of every program of ours.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;    // the work failed
inline constexpr int kExitWrongUse = 2;  // a flag, name or configuration file that can never work

// Each adds a subcommand to `app`; when it is the one that was called, its work is done in the parser's callback and
// its exit code goes to `exit_code`.
void AddBenchCommand(CLI::App& app, int& exit_code);
void AddCheckCommand(CLI::App& app, int& exit_code);
void AddCompareCommand(CLI::App& app, int& exit_code);
void AddDetectCommand(CLI::App& app, int& exit_code);
void AddModelsCommand(CLI::App& app, int& exit_code);
void AddQuantizeCommand(CLI::App& app, int& exit_code);
void AddRunCommand(CLI::App& app, int& exit_code);

}  // namespace npustream::apps
