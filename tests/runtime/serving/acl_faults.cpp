#include "tests/runtime/serving/acl_faults.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdlib>

namespace npustream::serving {
namespace {

struct Fault {
  std::atomic<int> calls_before = -1;  // below 0: none
  std::atomic<aclError> error = ACL_SUCCESS;
};

std::array<Fault, 2>& Faults() {
  static std::array<Fault, 2> faults;
  return faults;
}

// The error that this call is to give, ACL_SUCCESS when it is to be made.
aclError Due(AclCall call) {
  Fault& fault = Faults()[static_cast<size_t>(call)];
  if (fault.calls_before < 0) return ACL_SUCCESS;
  return fault.calls_before-- == 0 ? fault.error.load() : ACL_SUCCESS;
}

template <typename Function>
Function* Next(const char* name) {
  void* const symbol = dlsym(RTLD_NEXT, name);
  if (symbol == nullptr) std::abort();
  return reinterpret_cast<Function*>(symbol);
}

}  // namespace

void LetFail(AclCall call, int calls_before, aclError error) {
  Fault& fault = Faults()[static_cast<size_t>(call)];
  fault.error = error;
  fault.calls_before = calls_before;
}

}  // namespace npustream::serving

using npustream::serving::AclCall;
using npustream::serving::Due;
using npustream::serving::Next;

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output, aclrtStream stream) {
  static auto* const next = Next<decltype(aclmdlExecuteAsync)>("aclmdlExecuteAsync");
  const aclError due = Due(AclCall::kExecuteAsync);
  return due != ACL_SUCCESS ? due : next(modelId, input, output, stream);
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  static auto* const next = Next<decltype(aclrtSynchronizeEvent)>("aclrtSynchronizeEvent");
  const aclError due = Due(AclCall::kSynchronizeEvent);
  return due != ACL_SUCCESS ? due : next(event);
}
