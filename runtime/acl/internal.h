#pragma once

// What libraries above this one (dvpp) may use of AscendCL's inside: the objects behind handles, the last failure, and
// callbacks on the program's threads.

#include <memory>

#include <acl/acl_rt.h>

#include "npu_sim/device/device.h"
#include "runtime/acl/context.h"       // FindStream, StreamObject, CurrentContext, NoContext
#include "runtime/acl/error.h"         // Fail
#include "runtime/acl/handle_table.h"  // HandleTable, HandleKind
#include "runtime/acl/memory.h"        // LookUp, LookUpDevice
#include "runtime/acl/report.h"        // ReportSubscription
