#include <cstring>
#include <memory>
#include <span>

#include <acl/acl_mdl.h>

#include "base/file.h"
#include "base/thread_budget.h"
#include "npu_sim/om/file_header.h"
#include "npu_sim/om/om_reader.h"
#include "npu_sim/program/native_plans.h"
#include "runtime/acl/context.h"
#include "runtime/acl/error.h"
#include "runtime/acl/memory.h"
#include "runtime/acl/model.h"

namespace npustream::acl {
namespace {

// Device memory which the caller of a loader lends; null: the model gets its own.
struct LentMemory {
  void* work = nullptr;
  size_t work_bytes = 0;
  void* weights = nullptr;
  size_t weight_bytes = 0;
};

aclError GeError(uint32_t code) { return static_cast<aclError>(code); }

// Which of the documented codes tells best what is wrong with bytes that are no sound OM.
aclError CodeForDamage(std::span<const std::byte> bytes) {
  om::FileHeader header{};
  if (bytes.empty()) return GeError(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID);
  if (bytes.size() < sizeof om::kMagic || std::memcmp(bytes.data(), om::kMagic, sizeof om::kMagic) != 0) {
    return GeError(ACL_ERROR_GE_PARAM_INVALID);
  }
  if (bytes.size() < sizeof header) return GeError(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID);
  std::memcpy(&header, bytes.data(), sizeof header);
  return GeError(header.file_bytes != bytes.size() ? ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID
                                                   : ACL_ERROR_GE_LOAD_MODEL);
}

aclError FailToOpen(const Status& status, std::string_view name, std::span<const std::byte> bytes) {
  const aclError code =
      status.code() == StatusCode::kCorruptData ? CodeForDamage(bytes) : ToAclError(status.code(), Area::kModel);
  const bool named = status.message().find(name) != std::string::npos;
  return Fail(code, named ? status.message() : fmt::format("{}: {}", name, status.message()));
}

aclError OpenFile(const char* path, std::unique_ptr<om::OmFile>* file) {
  if (path == nullptr || *path == '\0') return Fail(ACL_ERROR_INVALID_PARAM, "no model file was named");
  auto opened = om::OmFile::Open(path);
  if (!opened.ok()) {
    const auto mapped = MappedFile::Open(path);
    return FailToOpen(opened.status(), path, mapped.ok() ? mapped->bytes() : std::span<const std::byte>());
  }
  *file = std::move(opened).value();
  return ACL_SUCCESS;
}

aclError OpenBytes(const void* model, size_t bytes, std::unique_ptr<om::OmFile>* file) {
  if (model == nullptr) return Fail(ACL_ERROR_INVALID_PARAM, "no model was given");
  if (bytes == 0) return Fail(GeError(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID), "a model of 0 bytes was given");
  MemorySpan span;
  if (const aclError error = LookUp("the model", model, bytes, Access::kRead, &span); error != ACL_SUCCESS)
    return error;
  const std::span<const std::byte> content(span.host, bytes);
  auto opened = om::OmFile::FromBytes(content);
  if (!opened.ok()) return FailToOpen(opened.status(), "the model in memory", content);
  *file = std::move(opened).value();
  return ACL_SUCCESS;
}

// The memory for one purpose: the caller's if there is any, else a new block.
aclError Provide(const char* what, void* lent, size_t lent_bytes, size_t needed, device::Memory& memory,
                 DeviceBlock* block, std::span<std::byte>* view) {
  if (needed == 0) return ACL_SUCCESS;
  if (lent == nullptr) {
    auto allocated = DeviceBlock::Allocate(memory, needed);
    if (!allocated.ok()) {
      return Fail(GeError(ACL_ERROR_GE_MEMORY_ALLOCATION), "{}: {}", what, allocated.status().message());
    }
    *block = std::move(allocated).value();
    lent = block->address();
  } else if (lent_bytes < needed) {
    return Fail(GeError(ACL_ERROR_GE_PARAM_INVALID), "{}: {} bytes were given, {} are needed", what, lent_bytes,
                needed);
  }
  MemorySpan span;
  if (const aclError error = LookUpDevice(what, lent, needed, &span); error != ACL_SUCCESS) return error;
  *view = {span.host, needed};
  return ACL_SUCCESS;
}

aclError CheckSoc(const om::OmFile& file, const device::Device& device, std::string_view name) {
  if (file.info().soc.empty() || file.info().soc == device.soc().name) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_SOC_VERSION,
              "{} was compiled for {}, this device is {}: compile it again with --soc_version={}", name,
              file.info().soc, device.soc().name, device.soc().name);
}

aclError Load(const om::OmFile& file, std::string_view name, const LentMemory& lent, uint32_t* model_id) {
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  device::Device& device = context->device();
  if (const aclError error = CheckSoc(file, device, name); error != ACL_SUCCESS) return error;
  const auto plans = program::NativePlans::Of(file);
  if (!plans.ok()) return FailToOpen(plans.status(), name, {});
  const program::MemoryNeeds needs = program::Program::Query(*plans, device.AiCoreCount());

  LoadedModel::Parts parts;
  parts.context = context->handle();
  parts.device = &device;
  program::ProgramMemory memory;
  if (const aclError error = Provide("work memory", lent.work, lent.work_bytes, needs.work_bytes, device.memory(),
                                     &parts.work, &memory.work);
      error != ACL_SUCCESS) {
    return error;
  }
  if (const aclError error = Provide("weight memory", lent.weights, lent.weight_bytes, needs.weight_bytes,
                                     device.memory(), &parts.weights, &memory.weights);
      error != ACL_SUCCESS) {
    return error;
  }
  auto program = program::Program::Load(file, *plans, device.AiCoreCount(), memory);
  if (!program.ok()) return FailToOpen(program.status(), name, {});
  auto stream = device.CreateStream();
  if (!stream.ok()) return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, stream.status().message());
  parts.description = std::make_shared<ModelDescription>(DescribeModel(file.info(), **program));
  parts.program = std::move(program).value();
  parts.own_stream = std::move(stream).value();

  auto model = std::make_shared<LoadedModel>(std::move(parts));
  const void* child = model.get();
  const uint32_t id = AddModel(std::move(model));
  context->Adopt(child, [id] { UnloadModel(id); });
  *model_id = id;
  return ACL_SUCCESS;
}

aclError Query(const om::OmFile& file, std::string_view name, size_t* work_bytes, size_t* weight_bytes) {
  const auto context = CurrentContext();
  const auto needs =
      program::Program::Query(file, context == nullptr ? ThreadBudget() : context->device().AiCoreCount());
  if (!needs.ok()) return FailToOpen(needs.status(), name, {});
  *work_bytes = needs->work_bytes;
  *weight_bytes = needs->weight_bytes;
  return ACL_SUCCESS;
}

aclError NoPlace() { return Fail(ACL_ERROR_INVALID_PARAM, "no place for the result was given"); }

constexpr std::string_view kInMemory = "the model in memory";

}  // namespace
}  // namespace npustream::acl

using namespace npustream::acl;  // NOLINT: the C functions below are this folder's face
using npustream::om::OmFile;

aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId) {
  return aclmdlLoadFromFileWithMem(modelPath, modelId, nullptr, 0, nullptr, 0);
}

aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId, void* workPtr, size_t workSize,
                                   void* weightPtr, size_t weightSize) {
  if (modelId == nullptr) return NoPlace();
  if (CurrentContext() == nullptr) return NoContext();
  std::unique_ptr<OmFile> file;
  if (const aclError error = OpenFile(modelPath, &file); error != ACL_SUCCESS) return error;
  return Load(*file, modelPath, {workPtr, workSize, weightPtr, weightSize}, modelId);
}

aclError aclmdlLoadFromMem(const void* model, size_t modelSize, uint32_t* modelId) {
  return aclmdlLoadFromMemWithMem(model, modelSize, modelId, nullptr, 0, nullptr, 0);
}

aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize, uint32_t* modelId, void* workPtr,
                                  size_t workSize, void* weightPtr, size_t weightSize) {
  if (modelId == nullptr) return NoPlace();
  if (CurrentContext() == nullptr) return NoContext();
  std::unique_ptr<OmFile> file;
  if (const aclError error = OpenBytes(model, modelSize, &file); error != ACL_SUCCESS) return error;
  return Load(*file, kInMemory, {workPtr, workSize, weightPtr, weightSize}, modelId);
}

aclError aclmdlUnload(uint32_t modelId) {
  const auto context = CurrentContext();
  if (context == nullptr) return NoContext();
  const auto model = FindModel(modelId);
  if (model == nullptr) return NoModel(modelId);
  if (model->context() != context->handle()) {
    return Fail(ACL_ERROR_RT_MODEL_CONTEXT, "model {} was loaded in another context than this thread's", modelId);
  }
  context->Disown(model.get());
  return UnloadModel(modelId) ? ACL_SUCCESS : NoModel(modelId);
}

aclError aclmdlQuerySize(const char* fileName, size_t* workSize, size_t* weightSize) {
  if (workSize == nullptr || weightSize == nullptr) return NoPlace();
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  std::unique_ptr<OmFile> file;
  if (const aclError error = OpenFile(fileName, &file); error != ACL_SUCCESS) return error;
  return Query(*file, fileName, workSize, weightSize);
}

aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize, size_t* workSize, size_t* weightSize) {
  if (workSize == nullptr || weightSize == nullptr) return NoPlace();
  if (const aclError error = CheckInitialized(); error != ACL_SUCCESS) return error;
  std::unique_ptr<OmFile> file;
  if (const aclError error = OpenBytes(model, modelSize, &file); error != ACL_SUCCESS) return error;
  return Query(*file, kInMemory, workSize, weightSize);
}
