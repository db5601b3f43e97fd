#include "runtime/acl/model.h"

#include <map>
#include <utility>

#include "runtime/acl/context.h"
#include "runtime/acl/error.h"

namespace npustream::acl {
namespace {

struct Models {
  Mutex mutex;
  std::map<uint32_t, std::shared_ptr<LoadedModel>> by_id NPUSTREAM_GUARDED_BY(mutex);
  uint32_t next_id NPUSTREAM_GUARDED_BY(mutex) = 1;
};

Models& AllModels() {
  static auto* models = new Models;  // NOLINT: kept until the process ends; static objects may still use it at exit
  return *models;
}

}  // namespace

const om::AippConfig* ModelDescription::StaticAipp(size_t input) const {
  for (const om::AippConfig& config : info.aipp) {
    if (config.related_input_rank == static_cast<int64_t>(input) && config.aipp_mode == "static") return &config;
  }
  return nullptr;
}

Result<DeviceBlock> DeviceBlock::Allocate(device::Memory& memory, size_t bytes) {
  DeviceBlock block;
  if (bytes == 0) return block;
  NPUSTREAM_ASSIGN_OR_RETURN(block.address_, memory.Allocate(bytes, device::PagePolicy::kHugeFirst));
  block.memory_ = &memory;
  return block;
}

DeviceBlock::DeviceBlock(DeviceBlock&& other) noexcept
    : memory_(other.memory_), address_(std::exchange(other.address_, nullptr)) {}

DeviceBlock& DeviceBlock::operator=(DeviceBlock&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(address_, other.address_);
  return *this;
}

DeviceBlock::~DeviceBlock() {
  if (address_ != nullptr) (void)memory_->Free(address_);
}

LoadedModel::~LoadedModel() { WaitUntilIdle(); }

ModelRunHandle LoadedModel::BeginRun(const device::Stream& stream) {
  MutexLock lock(mutex_);
  if (in_flight_ > 0 && busy_stream_ != &stream) return nullptr;
  busy_stream_ = &stream;
  ++in_flight_;
  if (unused_ == nullptr) {
    auto run = std::make_unique<ModelRun>();
    run->model = this;
    run->inputs.resize(parts_.program->info().inputs.size());
    run->outputs.resize(parts_.program->info().outputs.size());
    unused_ = run.get();
    runs_.push_back(std::move(run));
  }
  ModelRun* run = unused_;
  unused_ = run->next;
  run->failure = nullptr;
  return ModelRunHandle(run);
}

void ReturnRun::operator()(ModelRun* run) const { run->model->EndRun(run); }

void LoadedModel::EndRun(ModelRun* run) {
  MutexLock lock(mutex_);
  run->next = unused_;
  unused_ = run;
  // Notified under the lock: whoever waits destroys this object next.
  if (--in_flight_ == 0) idle_.NotifyAll();
}

void LoadedModel::WaitUntilIdle() {
  MutexLock lock(mutex_);
  while (in_flight_ > 0) idle_.Wait(lock);
}

void LoadedModel::ReportFailure(ModelRun& run, Status status) {
  MutexLock lock(mutex_);
  if (run.failure != nullptr && run.failure->ok()) *run.failure = std::move(status);
}

uint32_t AddModel(std::shared_ptr<LoadedModel> model) {
  Models& models = AllModels();
  MutexLock lock(models.mutex);
  const uint32_t id = models.next_id++;
  models.by_id[id] = std::move(model);
  return id;
}

std::shared_ptr<LoadedModel> FindModel(uint32_t id) {
  if (!IsInitialized()) return nullptr;
  Models& models = AllModels();
  MutexLock lock(models.mutex);
  const auto found = models.by_id.find(id);
  return found == models.by_id.end() ? nullptr : found->second;
}

bool UnloadModel(uint32_t id) {
  std::shared_ptr<LoadedModel> model;
  {
    Models& models = AllModels();
    MutexLock lock(models.mutex);
    const auto found = models.by_id.find(id);
    if (found == models.by_id.end()) return false;
    model = std::move(found->second);
    models.by_id.erase(found);
  }
  model->WaitUntilIdle();
  return true;
}

aclError NoModel(uint32_t id) {
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  return Fail(static_cast<aclError>(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID), "there is no model {}, or it was unloaded",
              id);
}

}  // namespace npustream::acl
