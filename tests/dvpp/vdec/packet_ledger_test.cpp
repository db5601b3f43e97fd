#include "dvpp/vdec/packet_ledger.h"

#include <gmock/gmock.h>

namespace npustream::dvpp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PacketLedger, SettlesEveryPacketOnce) {
  PacketLedger ledger;
  for (int64_t i = 0; i < 4; ++i) ledger.Sent(i);
  EXPECT_TRUE(ledger.Settle(2));
  EXPECT_FALSE(ledger.Settle(2)) << "a second picture of one packet";
  EXPECT_FALSE(ledger.Settle(9)) << "never sent";
  EXPECT_THAT(ledger.TakeAll(), ElementsAre(0, 1, 3));
  EXPECT_THAT(ledger.TakeAll(), IsEmpty());
}

TEST(PacketLedger, LosesWhatIsOlderThanTheDelay) {
  PacketLedger ledger;
  for (int64_t i = 0; i < 6; ++i) ledger.Sent(i);
  EXPECT_TRUE(ledger.Settle(1));
  EXPECT_THAT(ledger.TakeLost(5, 3), ElementsAre(0));
  EXPECT_THAT(ledger.TakeLost(5, 0), ElementsAre(2, 3, 4)) << "the newest itself may still give its picture";
  EXPECT_EQ(ledger.pending(), 1u);
}

}  // namespace
}  // namespace npustream::dvpp
