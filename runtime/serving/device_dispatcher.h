#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "runtime/serving/batcher.h"
#include "runtime/serving/model_scheduler.h"

namespace npustream::serving {

// Puts the batches of all models of one device onto their streams, on one thread, in the scheduler's order. One object
// per device and process, which lives while a model holds it. Thread-safe.
class DeviceDispatcher {
 public:
  // A model as the dispatcher sees it.
  class Client {
   public:
    virtual ~Client() = default;
    // Takes away, and counts, what came too late to run. Under the dispatcher's mutex.
    virtual std::vector<PendingRequest> TakeExpired() = 0;
    // Storage for the batch that is about to leave. Under the dispatcher's mutex; while the batcher is Ready().
    virtual Batch& TakeSlot() = 0;
    // Puts that batch onto the model's stream. On the dispatcher's thread, without the mutex.
    virtual void Launch() = 0;
  };

  // The device's dispatcher, made on first use with `options`; who comes later finds it as it is.
  static std::shared_ptr<DeviceDispatcher> OfDevice(int device_id, const SchedulerOptions& options, Clock& clock);
  DeviceDispatcher(const SchedulerOptions& options, size_t cores, Clock& clock);
  ~DeviceDispatcher();
  DeviceDispatcher(const DeviceDispatcher&) = delete;
  DeviceDispatcher& operator=(const DeviceDispatcher&) = delete;

  // Guards the batchers of all clients.
  Mutex& mutex() { return mutex_; }
  // To be called under the mutex when a batcher has changed.
  void Wake() NPUSTREAM_REQUIRES(mutex_) { work_.NotifyOne(); }

  void Add(Client& client, Batcher& batcher, double weight);
  // Afterwards the dispatcher's thread has nothing to do with the client any more.
  void Remove(Client& client);

  // One weight transfer at a time: loading beside loading makes both, and whoever runs meanwhile, wait.
  Mutex& load_mutex() { return load_mutex_; }

 private:
  struct Entry {
    Client* client = nullptr;
    Batcher* batcher = nullptr;
  };

  void Run();
  bool AnswerExpired(MutexLock& lock) NPUSTREAM_REQUIRES(mutex_);
  bool LaunchNext(MutexLock& lock) NPUSTREAM_REQUIRES(mutex_);

  Clock& clock_;
  Mutex load_mutex_;
  Mutex mutex_;
  CondVar work_;
  CondVar launched_;
  ModelScheduler scheduler_ NPUSTREAM_GUARDED_BY(mutex_);
  std::vector<Entry> entries_ NPUSTREAM_GUARDED_BY(mutex_);
  const Client* launching_ NPUSTREAM_GUARDED_BY(mutex_) = nullptr;
  bool closing_ NPUSTREAM_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace npustream::serving
