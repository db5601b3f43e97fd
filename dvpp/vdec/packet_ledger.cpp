#include "dvpp/vdec/packet_ledger.h"

namespace npustream::dvpp {

std::vector<int64_t> PacketLedger::TakeLost(int64_t newest, int delay) {
  const auto end = pending_.lower_bound(newest - delay);
  std::vector<int64_t> lost(pending_.begin(), end);
  pending_.erase(pending_.begin(), end);
  return lost;
}

std::vector<int64_t> PacketLedger::TakeAll() {
  std::vector<int64_t> all(pending_.begin(), pending_.end());
  pending_.clear();
  return all;
}

}  // namespace npustream::dvpp
