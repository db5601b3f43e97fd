#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <acl/acl_mdl.h>

#include "base/mutex.h"
#include "npu_sim/device/device.h"
#include "npu_sim/om/om_model.h"
#include "npu_sim/program/program.h"

namespace npustream::acl {

// An input or output as aclmdlDesc shows it.
struct PortDescription {
  std::string name;
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  om::Dims dims;          // −1 where gears differ
  om::Dims picture_dims;  // of inputs: what is handed in, which differs from `dims` with static AIPP
  size_t bytes = 0;       // in the gear that needs most
};

struct ModelDescription {
  std::vector<PortDescription> inputs;  // with gears one more than the program has: what chooses one
  std::vector<PortDescription> outputs;
  om::OmInfo info;
  size_t largest_gear = 0;

  // The static AIPP of an input, null without one.
  const om::AippConfig* StaticAipp(size_t input) const;
  // What the network itself sees of an input that is handed in with these dims.
  om::Dims NetworkDims(size_t input, const om::Dims& picture) const;
};

ModelDescription DescribeModel(const program::Program& program);

// Writes dims for the program's user.
void FillDims(const std::string& name, const om::Dims& dims, aclmdlIODims* filled);

// A block of device memory that ends with the object.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  static Result<DeviceBlock> Allocate(device::Memory& memory, size_t bytes);
  DeviceBlock(DeviceBlock&& other) noexcept;
  DeviceBlock& operator=(DeviceBlock&& other) noexcept;
  ~DeviceBlock();
  void* address() const { return address_; }

 private:
  device::Memory* memory_ = nullptr;
  void* address_ = nullptr;
};

class LoadedModel;

// One run on its way, with the host's view of its buffers. Recycled by the model, so that running allocates nothing.
struct ModelRun {
  LoadedModel* model = nullptr;
  size_t gear = 0;
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  Status* failure = nullptr;  // where a caller that waits reads it; else it stays with the stream
  ModelRun* next = nullptr;
};

struct ReturnRun {
  void operator()(ModelRun* run) const;
};
using ModelRunHandle = std::unique_ptr<ModelRun, ReturnRun>;

// A model under its id. Thread-safe.
class LoadedModel {
 public:
  struct Parts {
    aclrtContext context = nullptr;
    device::Device* device = nullptr;
    DeviceBlock work;
    DeviceBlock weights;
    std::unique_ptr<program::Program> program;
    std::shared_ptr<const ModelDescription> description;  // shared with the descriptions handed to the program's user
    std::unique_ptr<device::Stream> own_stream;
  };

  explicit LoadedModel(Parts parts) : parts_(std::move(parts)), current_gear_(parts_.description->largest_gear) {}
  // Waits for the runs.
  ~LoadedModel();

  aclrtContext context() const { return parts_.context; }
  device::Device& device() const { return *parts_.device; }
  const program::Program& program() const { return *parts_.program; }
  const std::shared_ptr<const ModelDescription>& description() const { return parts_.description; }
  // Where synchronous runs are queued: several threads may ask for them, one after the other runs.
  device::Stream& own_stream() const { return *parts_.own_stream; }

  size_t current_gear() const { return current_gear_; }
  void set_current_gear(size_t gear) { current_gear_ = gear; }

  // A run on `stream`; null while runs are on their way on another stream.
  ModelRunHandle BeginRun(const device::Stream& stream);
  void WaitUntilIdle();
  // Keeps the first failure of a run for the caller that waits for it.
  void ReportFailure(ModelRun& run, Status status);

 private:
  friend struct ReturnRun;
  void EndRun(ModelRun* run);

  const Parts parts_;
  std::atomic<size_t> current_gear_;
  Mutex mutex_;
  CondVar idle_;
  int in_flight_ NPUSTREAM_GUARDED_BY(mutex_) = 0;
  const device::Stream* busy_stream_ NPUSTREAM_GUARDED_BY(mutex_) = nullptr;
  std::vector<std::unique_ptr<ModelRun>> runs_ NPUSTREAM_GUARDED_BY(mutex_);  // all that were ever needed at once
  ModelRun* unused_ NPUSTREAM_GUARDED_BY(mutex_) = nullptr;
};

// The loaded models by id. Ids begin at 1 and are not used twice.
uint32_t AddModel(std::shared_ptr<LoadedModel> model);
std::shared_ptr<LoadedModel> FindModel(uint32_t id);
// Waits for its runs and forgets it. False when there is no such model.
bool UnloadModel(uint32_t id);
// Remembers that there is no such model.
aclError NoModel(uint32_t id);

}  // namespace npustream::acl
