#include "npu_sim/extension/registry.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/log.h"
#include "base/mutex.h"

namespace npustream::extension {
namespace {

Status Refuse(const std::string& path, std::string_view reason) {
  return {StatusCode::kInvalidArgument, fmt::format("extension library {}: {}", path, reason)};
}

bool HasText(const char* text) { return text != nullptr && *text != '\0'; }

std::string NameOf(const NpustreamOperator& op) { return fmt::format("{}.{}", op.domain, op.type); }

Status CheckOperator(const std::string& path, const NpustreamOperator& op) {
  if (!HasText(op.domain) || !HasText(op.type)) return Refuse(path, "an operator lacks its domain or type");
  if (!op.infer || !op.run) return Refuse(path, fmt::format("operator {} lacks infer or run", NameOf(op)));
  if (op.min_inputs < 0 || op.max_inputs < op.min_inputs || op.outputs < 1)
    return Refuse(path, fmt::format("operator {} has impossible numbers of inputs and outputs", NameOf(op)));
  return {};
}

class Registry {
 public:
  // Never destroyed: kernels may run while the process ends.
  static Registry& Get() {
    static auto* registry = new Registry;
    return *registry;
  }

  Status Load(const std::string& path) {
    const MutexLock lock(mutex_);
    return LoadLocked(path);
  }

  const NpustreamOperator* Find(std::string_view name) {
    const MutexLock lock(mutex_);
    LoadFromEnvironment();
    const auto found = operators_.find(name);
    return found == operators_.end() ? nullptr : found->second;
  }

  std::vector<NpustreamPass> Passes() {
    const MutexLock lock(mutex_);
    LoadFromEnvironment();
    return passes_;
  }

 private:
  Status LoadLocked(const std::string& path) NPUSTREAM_REQUIRES(mutex_) {
    // A name without a slash would be looked for in the system's folders.
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return {StatusCode::kNotFound, fmt::format("extension library {}: {}", path, dlerror())};
    if (!loaded_.insert(library).second) return {};
    const Status status = TakeUp(path, library);
    if (!status.ok()) {
      loaded_.erase(library);
      dlclose(library);
    }
    return status;
  }

  Status TakeUp(const std::string& path, void* library) NPUSTREAM_REQUIRES(mutex_) {
    const auto entry = reinterpret_cast<const NpustreamExtension* (*)()>(dlsym(library, "npustream_extension"));
    if (!entry) return Refuse(path, "it has no function npustream_extension");
    const NpustreamExtension* extension = entry();
    if (!extension) return Refuse(path, "npustream_extension returned nothing");
    if (extension->version != NPUSTREAM_EXTENSION_VERSION)
      return Refuse(path, fmt::format("it is of version {} of the interface; {} is needed", extension->version,
                                      NPUSTREAM_EXTENSION_VERSION));
    NPUSTREAM_RETURN_IF_ERROR(Check(path, *extension));
    for (size_t i = 0; i < extension->operator_count; ++i)
      operators_.emplace(NameOf(extension->operators[i]), &extension->operators[i]);
    for (size_t i = 0; i < extension->pass_count; ++i) passes_.push_back(extension->passes[i]);
    return {};
  }

  Status Check(const std::string& path, const NpustreamExtension& extension) NPUSTREAM_REQUIRES(mutex_) {
    if ((extension.operator_count > 0 && !extension.operators) || (extension.pass_count > 0 && !extension.passes))
      return Refuse(path, "a table is missing");
    std::set<std::string> names;
    for (size_t i = 0; i < extension.operator_count; ++i) {
      NPUSTREAM_RETURN_IF_ERROR(CheckOperator(path, extension.operators[i]));
      const std::string name = NameOf(extension.operators[i]);
      if (operators_.count(name) != 0 || !names.insert(name).second)
        return Refuse(path, fmt::format("there is an operator {} already", name));
    }
    for (size_t i = 0; i < extension.pass_count; ++i) {
      if (!HasText(extension.passes[i].name) || !extension.passes[i].run)
        return Refuse(path, "a pass lacks its name or run");
    }
    return {};
  }

  void LoadFromEnvironment() NPUSTREAM_REQUIRES(mutex_) {
    if (asked_environment_) return;
    asked_environment_ = true;
    const char* paths = std::getenv("NPUSTREAM_EXTENSIONS");
    std::string_view rest = paths ? paths : "";
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(':'), rest.size());
      const std::string path(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (path.empty()) continue;
      const Status status = LoadLocked(path);
      if (!status.ok()) Log(LogLevel::kError, "extension", "{}", status.message());
    }
  }

  Mutex mutex_;
  std::set<void*> loaded_ NPUSTREAM_GUARDED_BY(mutex_);
  std::map<std::string, const NpustreamOperator*, std::less<>> operators_ NPUSTREAM_GUARDED_BY(mutex_);
  std::vector<NpustreamPass> passes_ NPUSTREAM_GUARDED_BY(mutex_);
  bool asked_environment_ NPUSTREAM_GUARDED_BY(mutex_) = false;
};

}  // namespace

Status LoadLibrary(const std::string& path) { return Registry::Get().Load(path); }
const NpustreamOperator* FindOperator(std::string_view name) { return Registry::Get().Find(name); }
std::vector<NpustreamPass> Passes() { return Registry::Get().Passes(); }

}  // namespace npustream::extension
