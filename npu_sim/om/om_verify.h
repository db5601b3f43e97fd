#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "npu_sim/om/om_model.h"

namespace npustream::om {

inline constexpr size_t kMaxRank = 8;
inline constexpr uint64_t kMaxTensorBytes = uint64_t{1} << 40;

// Bytes of a tensor in `layout`, or nothing when type or dims are invalid or the product of all dims but zeros is too
// large.
std::optional<uint64_t> CheckedBytes(DataType type, const Dims& dims, Layout layout = Layout::kPlain);

// Checks shared by reader and writer; kCorruptData names the tensor, node, value or step that is wrong.
// `constant_bytes[i]` is the size of tensor i's content when it is a constant.
Status VerifyGraph(const Graph& graph, const std::vector<std::optional<uint64_t>>& constant_bytes);
Status VerifyNative(const NativePlan& plan, const Graph& graph);
// The ports, gears and AIPP of `info`, and that they agree with the plans.
Status VerifyInfo(const OmInfo& info);
Status VerifyPlans(const OmInfo& info, const std::vector<const OmPlan*>& plans);

}  // namespace npustream::om
