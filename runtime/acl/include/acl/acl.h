// AscendCL: beginning, end, and everything that programs usually need.
#pragma once

#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 13
#define ACL_PATCH_VERSION 0

// Starts AscendCL for the process. `configPath` names a JSON file, or is null. ACL_ERROR_REPEAT_INITIALIZE when it is
// running already, which a program may ignore; ACL_ERROR_INVALID_FILE when the file cannot be read,
// ACL_ERROR_PARSE_FILE when it is not JSON.
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);
// Ends it. ACL_ERROR_UNINITIALIZE without aclInit, ACL_ERROR_REPEAT_FINALIZE when it has ended already.
ACL_FUNC_VISIBILITY aclError aclFinalize(void);
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion);
// A sentence about the calling thread's last failure, which is thereby taken: the next call gives null, as does a
// thread without a failure. Valid until the thread's next failing call.
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif
