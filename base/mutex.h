#pragma once

#include <condition_variable>
#include <mutex>

// Clang's thread-safety annotations; other compilers see nothing.
#if defined(__clang__)
#define NPUSTREAM_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define NPUSTREAM_THREAD_ATTRIBUTE(x)
#endif
#define NPUSTREAM_GUARDED_BY(mutex) NPUSTREAM_THREAD_ATTRIBUTE(guarded_by(mutex))
#define NPUSTREAM_REQUIRES(...) NPUSTREAM_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define NPUSTREAM_EXCLUDES(...) NPUSTREAM_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

namespace npustream {

// std::mutex that the analysis understands.
class NPUSTREAM_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void Lock() NPUSTREAM_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void Unlock() NPUSTREAM_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a Mutex for a scope; may be released and taken again in between, and waited on with a CondVar.
class NPUSTREAM_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) NPUSTREAM_THREAD_ATTRIBUTE(acquire_capability(mutex)) : lock_(mutex.mutex_) {}
  ~MutexLock() NPUSTREAM_THREAD_ATTRIBUTE(release_capability()) = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() NPUSTREAM_THREAD_ATTRIBUTE(release_capability()) { lock_.unlock(); }
  void Lock() NPUSTREAM_THREAD_ATTRIBUTE(acquire_capability()) { lock_.lock(); }

 private:
  friend class CondVar;
  std::unique_lock<std::mutex> lock_;
};

// A condition variable for MutexLock. Callers re-check their condition in a loop of their own, so that the analysis
// sees guarded members read under the lock.
class CondVar {
 public:
  void Wait(MutexLock& lock) { condition_.wait(lock.lock_); }
  template <typename Rep, typename Period>
  std::cv_status WaitFor(MutexLock& lock, std::chrono::duration<Rep, Period> longest) {
    return condition_.wait_for(lock.lock_, longest);
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace npustream
