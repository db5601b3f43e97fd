#include "runtime/serving/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

extern char** environ;

namespace npustream::serving {
namespace {

constexpr size_t kKeptOutputBytes = 64 * 1024;

Status SystemError(const std::filesystem::path& program, int error) {
  return Status(error == ENOENT ? StatusCode::kNotFound : StatusCode::kIoError,
                fmt::format("cannot run {}: {}", program.string(), std::strerror(error)));
}

// Starts the program with both outputs on `output_fd`; gives errno's value, 0 when it runs.
int Spawn(const std::filesystem::path& program, const std::vector<std::string>& arguments, int output_fd, pid_t& pid) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  if (const int error = posix_spawn_file_actions_init(&actions); error != 0) return error;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output_fd, STDERR_FILENO);
  const int error = posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::string ReadToEnd(int fd) {
  std::string output;
  std::array<char, 4096> chunk;
  while (true) {
    const ssize_t count = read(fd, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    output.append(chunk.data(), static_cast<size_t>(count));
    if (output.size() > 2 * kKeptOutputBytes) output.erase(0, output.size() - kKeptOutputBytes);
  }
  if (output.size() > kKeptOutputBytes) output.erase(0, output.size() - kKeptOutputBytes);
  return output;
}

}  // namespace

Result<ProcessOutcome> RunProgram(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  std::array<int, 2> pipe_fds;
  if (pipe2(pipe_fds.data(), O_CLOEXEC) != 0) return SystemError(program, errno);
  pid_t pid = 0;
  const int error = Spawn(program, arguments, pipe_fds[1], pid);
  close(pipe_fds[1]);
  if (error != 0) {
    close(pipe_fds[0]);
    return SystemError(program, error);
  }
  ProcessOutcome outcome;
  outcome.output = ReadToEnd(pipe_fds[0]);
  close(pipe_fds[0]);

  int status = 0;
  pid_t waited = 0;
  do {
    waited = waitpid(pid, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited < 0) return SystemError(program, errno);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

}  // namespace npustream::serving
