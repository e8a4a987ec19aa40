// SPDX-License-Identifier: BSD-2-Clause
#include "hca/receive_accounts.h"

#include <gtest/gtest.h>

namespace softdat::hca {
namespace {

constexpr ReceiveAccounts::Number kMost = 4095;

TEST(ReceiveAccountsTest, ChargesAndSettlementsBalance) {
  ReceiveAccounts accounts(kMost);
  const auto number = accounts.open();
  ASSERT_TRUE(number.has_value());
  accounts.charge(*number);
  accounts.charge(*number);
  EXPECT_EQ(accounts.owed(*number), 2u);
  accounts.settle(*number);
  EXPECT_EQ(accounts.owed(*number), 1u);
}

TEST(ReceiveAccountsTest, NoNumberIsGivenTwiceAndTheyEnd) {
  ReceiveAccounts accounts(kMost);
  std::vector<bool> is_seen(kMost + 1u);
  for (unsigned i = 0; i < kMost; ++i) {
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
  ReceiveAccounts accounts(kMost);
  for (unsigned i = 0; i < kMost; ++i) static_cast<void>(accounts.open());
  accounts.charge(3);
  accounts.close(3);
  EXPECT_EQ(accounts.open(), std::nullopt);
  accounts.settle(3);
  EXPECT_EQ(accounts.open(), ReceiveAccounts::Number{3});
}

TEST(ReceiveAccountsTest, WrongSettlementsAreIgnored) {
  ReceiveAccounts accounts(kMost);
  const auto number = accounts.open();
  accounts.settle(0);
  accounts.settle(kMost + 1);
  accounts.settle(0xffff);
  accounts.settle(*number);
  EXPECT_EQ(accounts.owed(*number), 0u);
}

TEST(ReceiveAccountsTest, TheLargestNumberOfAccountsIsGivenOut) {
  ReceiveAccounts accounts(0xffff);
  for (unsigned i = 1; i <= 0xffff; ++i) ASSERT_EQ(accounts.open(), static_cast<ReceiveAccounts::Number>(i));
  EXPECT_EQ(accounts.open(), std::nullopt);
  accounts.close(0xffff);
  EXPECT_EQ(accounts.open(), ReceiveAccounts::Number{0xffff});
}

}  // namespace
}  // namespace softdat::hca
