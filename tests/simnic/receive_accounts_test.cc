// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/receive_accounts.h"

#include <gtest/gtest.h>

namespace softdat::simnic::testing {
namespace {

TEST(ReceiveAccountsTest, ChargesAndSettlementsBalance) {
  ReceiveAccounts accounts;
  const auto number = accounts.open();
  ASSERT_TRUE(number.has_value());
  accounts.charge(*number);
  accounts.charge(*number);
  EXPECT_EQ(accounts.owed(*number), 2u);
  accounts.settle(*number);
  EXPECT_EQ(accounts.owed(*number), 1u);
}

TEST(ReceiveAccountsTest, NoNumberIsGivenTwiceAndTheyEnd) {
  ReceiveAccounts accounts;
  std::vector<bool> is_seen(ReceiveAccounts::kMost + 1u);
  for (unsigned i = 0; i < ReceiveAccounts::kMost; ++i) {
    const auto number = accounts.open();
    ASSERT_TRUE(number.has_value());
    EXPECT_FALSE(is_seen[*number]);
    is_seen[*number] = true;
  }
  EXPECT_FALSE(is_seen[0]);
  EXPECT_EQ(accounts.open(), std::nullopt);
  accounts.close(7);
  EXPECT_EQ(accounts.open(), ReceiveAccounts::Number{7});
}

TEST(ReceiveAccountsTest, AClosedAccountRestsUntilNothingIsOwed) {
  ReceiveAccounts accounts;
  for (unsigned i = 0; i < ReceiveAccounts::kMost; ++i) static_cast<void>(accounts.open());
  accounts.charge(3);
  accounts.close(3);
  EXPECT_EQ(accounts.open(), std::nullopt);
  accounts.settle(3);
  EXPECT_EQ(accounts.open(), ReceiveAccounts::Number{3});
}

TEST(ReceiveAccountsTest, WrongSettlementsAreIgnored) {
  ReceiveAccounts accounts;
  const auto number = accounts.open();
  accounts.settle(0);
  accounts.settle(ReceiveAccounts::kMost + 1);
  accounts.settle(0xffff);
  accounts.settle(*number);
  EXPECT_EQ(accounts.owed(*number), 0u);
}

}  // namespace
}  // namespace softdat::simnic::testing
