#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace npustream::testing_support {

// Sets an environment variable, or removes it (nullptr), until the end of the scope. For tests without other threads.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    Set(value);
  }
  ScopedEnvironment(const char* name, const std::string& value) : ScopedEnvironment(name, value.c_str()) {}
  ~ScopedEnvironment() { Set(before_ ? before_->c_str() : nullptr); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  void Set(const char* value) { value ? setenv(name_.c_str(), value, 1) : unsetenv(name_.c_str()); }

  const std::string name_;
  std::optional<std::string> before_;
};

}  // namespace npustream::testing_support
