#pragma once

#include <cstdint>
#include <memory>

#include <acl/acl_rt.h>

#include "npu_sim/device/inline_function.h"

namespace npustream::acl {

// What a program's thread runs inside aclrtProcessReport.
using Report = device::InlineFunction<void(), 64>;

// Callbacks on their way to one thread of the program.
class ReportQueue;

// Keeps a thread of the program subscribed: while one of these lives, aclrtProcessReport on that thread waits for
// reports instead of failing. May be used on any thread.
class ReportSubscription {
 public:
  // `thread_id` is pthread_self() of the thread.
  explicit ReportSubscription(uint64_t thread_id);
  ~ReportSubscription();
  ReportSubscription(const ReportSubscription&) = delete;
  ReportSubscription& operator=(const ReportSubscription&) = delete;

  uint64_t thread_id() const { return thread_id_; }
  // Hands a callback to the thread. Reports run one at a time, in the order of posting, also those that are still
  // there when the subscription has ended.
  void Post(Report report) const;

 private:
  const uint64_t thread_id_;
  const std::shared_ptr<ReportQueue> queue_;  // shared with the thread that waits in it
};

// The subscription of a stream, null without one.
std::shared_ptr<ReportSubscription> SubscriptionOf(aclrtStream stream);
void UnsubscribeStream(aclrtStream stream);

}  // namespace npustream::acl
