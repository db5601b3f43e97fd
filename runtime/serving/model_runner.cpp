#include "runtime/serving/model_runner.h"

#include <map>
#include <tuple>

#include "base/log.h"
#include "base/mutex.h"
#include "runtime/serving/npu_model_runner.h"

namespace npustream::serving {
namespace {

using RunnerKey = std::tuple<std::string, int, std::string>;  // OM, device, instance

struct RunnerEntry {
  Mutex mutex;  // held while the runner is made, so that one load serves all who ask at once
  std::weak_ptr<ModelRunner> runner NPUSTREAM_GUARDED_BY(mutex);
  RunnerOptions options NPUSTREAM_GUARDED_BY(mutex);
};

// The entry of a key; entries stay, as there are as many as models were ever named.
std::shared_ptr<RunnerEntry> EntryOf(const RunnerKey& key) {
  static Mutex& mutex = *new Mutex;
  static auto& entries = *new std::map<RunnerKey, std::shared_ptr<RunnerEntry>>;
  MutexLock lock(mutex);
  std::shared_ptr<RunnerEntry>& entry = entries[key];
  if (entry == nullptr) entry = std::make_shared<RunnerEntry>();
  return entry;
}

bool SameOptions(const RunnerOptions& a, const RunnerOptions& b) {
  return std::tie(a.batch_size, a.batch_timeout_ms, a.queue_size, a.depth) ==
         std::tie(b.batch_size, b.batch_timeout_ms, b.queue_size, b.depth);
}

}  // namespace

Result<std::shared_ptr<ModelRunner>> ModelRunner::Create(const RunnerOptions& options, Clock& clock) {
  return NpuModelRunner::Create(options, clock);
}

Result<std::shared_ptr<ModelRunner>> ModelRunner::Acquire(const RunnerOptions& options,
                                                          const std::string& instance_id) {
  std::error_code ignored;
  const std::string om = std::filesystem::weakly_canonical(options.om, ignored).string();
  const auto entry = EntryOf({om, options.device_id, instance_id});
  MutexLock lock(entry->mutex);
  if (auto runner = entry->runner.lock()) {
    if (!SameOptions(options, entry->options)) {
      Log(LogLevel::kWarning, "serving", "{} runs already; batch size, timeout, queue size and depth stay as they are",
          options.om.string());
    }
    return runner;
  }
  NPUSTREAM_ASSIGN_OR_RETURN(std::shared_ptr<ModelRunner> runner, Create(options));
  entry->runner = runner;
  entry->options = options;
  return runner;
}

}  // namespace npustream::serving
