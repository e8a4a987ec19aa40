// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/inbox.h"

#include <gtest/gtest.h>

namespace softdat::transport::loop {
namespace {

Item chunk(std::size_t length) {
  Item item;
  item.bytes.resize(length);
  return item;
}

constexpr base::Time kSoon{std::chrono::milliseconds(1)};
constexpr base::Time kLater{std::chrono::milliseconds(2)};

TEST(Inbox, NoItemIsDueBeforeOneAhead) {
  Inbox inbox;
  EXPECT_FALSE(inbox.next_due());
  inbox.put(chunk(1), kLater);
  inbox.put(chunk(1), kSoon);
  EXPECT_EQ(inbox.take_oldest().due, kLater);
  EXPECT_EQ(inbox.next_due(), kLater);
}

TEST(Inbox, ItCostsWhatItsItemsCost) {
  Inbox inbox;
  inbox.put(chunk(10), kSoon);
  inbox.put({.kind = ItemKind::kBye}, kSoon);
  const std::size_t bye = Item{}.cost();
  EXPECT_EQ(inbox.cost(), chunk(10).cost() + bye);
  inbox.drop_chunks();
  EXPECT_EQ(inbox.waiting(), 1u);
  EXPECT_EQ(inbox.cost(), bye);
  inbox.take_oldest();
  EXPECT_EQ(inbox.cost(), 0u);
}

TEST(Inbox, AReasonTakesThePlaceOfAllItems) {
  Inbox inbox;
  inbox.put(chunk(10), kSoon);
  inbox.end_with(CloseReason::kLost);
  EXPECT_EQ(inbox.waiting(), 1u);
  EXPECT_EQ(inbox.cost(), 0u);
  EXPECT_FALSE(inbox.next_due());
  EXPECT_EQ(inbox.reason(), CloseReason::kLost);
  inbox.clear();
  EXPECT_EQ(inbox.waiting(), 0u);
}

}  // namespace
}  // namespace softdat::transport::loop
