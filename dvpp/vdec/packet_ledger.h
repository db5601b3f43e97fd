#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace npustream::dvpp {

// Which packets of a stream still owe a picture. Every packet is settled exactly once: claimed by a picture, failed, or
// lost. Sequence numbers only grow. Not thread-safe.
class PacketLedger {
 public:
  void Sent(int64_t sequence) { pending_.insert(sequence); }

  // Settles a packet for its picture. False: it was settled before (a second picture of one packet, or the picture of a
  // packet that had failed), so the picture belongs to nobody.
  bool Settle(int64_t sequence) { return pending_.erase(sequence) != 0; }

  // Settles and returns, in order, packets sent more than `delay` packets before `newest`.
  std::vector<int64_t> TakeLost(int64_t newest, int delay);
  // Settles and returns all.
  std::vector<int64_t> TakeAll();

  size_t pending() const { return pending_.size(); }

 private:
  std::set<int64_t> pending_;
};

}  // namespace npustream::dvpp
