#pragma once

#include <acl/acl.h>

namespace npustream::serving {

// Calls of AscendCL that a test can let fail. The test program's definitions of these functions stand in front of the
// library's and pass everything on that is not to fail.
enum class AclCall { kExecuteAsync, kSynchronizeEvent };

// The call after `calls_before` more of its kind is not made but gives `error`; once. Any thread.
void LetFail(AclCall call, int calls_before, aclError error);

}  // namespace npustream::serving
