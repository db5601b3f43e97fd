#pragma once

#include <cassert>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace npustream {

// What kind of failure it is. Each edge (acl, GStreamer, a program's exit code) translates it once into its own terms.
enum class StatusCode {
  kOk,
  kInvalidArgument,   // the caller passed something that can never work
  kNotFound,          // a file, name or id that does not exist
  kAlreadyExists,
  kFailedPrecondition,// right call, wrong moment (not initialised, wrong context, already running)
  kUnsupported,       // understood, but this build or device cannot do it
  kCorruptData,       // bytes from outside that are not what they claim to be
  kResourceExhausted, // out of memory, handles or queue space
  kTimeout,
  kUnavailable,       // a peer is away or a queue is shutting down
  kIoError,
  kInternal,          // a fault of ours
};

std::string_view ToString(StatusCode code);

// The outcome of an operation without a value: ok, or a code, a sentence for people and the place where it was made.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // `message` may quote bytes from outside: what a terminal cannot show is kept as \xNN (base/printable.h).
  Status(StatusCode code, std::string_view message, std::source_location where = std::source_location::current());

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::source_location& where() const { return where_; }

  // The same failure with what was being done put in front: "loading x.om: truncated at byte 12".
  Status WithContext(std::string_view context) const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
  std::source_location where_;
};

// A value, or the reason why there is none. Never holds an ok Status.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {  // NOLINT: implicit by design
    assert(!std::get<1>(state_).ok());
  }

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Status status() const { return ok() ? Status() : std::get<1>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace npustream

#define NPUSTREAM_CONCAT_INNER(a, b) a##b
#define NPUSTREAM_CONCAT(a, b) NPUSTREAM_CONCAT_INNER(a, b)

// Returns early from a function returning Status or Result when `expression` (a Status) failed.
#define NPUSTREAM_RETURN_IF_ERROR(expression)                  \
  do {                                                         \
    if (::npustream::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

// `declaration = value of the Result`, or returns early with its Status.
#define NPUSTREAM_ASSIGN_OR_RETURN(declaration, expression) \
  NPUSTREAM_ASSIGN_OR_RETURN_INNER(NPUSTREAM_CONCAT(result_, __LINE__), declaration, expression)
#define NPUSTREAM_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                             \
  if (!result.ok()) return result.status();                               \
  declaration = std::move(result).value()
