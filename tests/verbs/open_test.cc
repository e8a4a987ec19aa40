// SPDX-License-Identifier: BSD-2-Clause
// Opening what is not there ends in a reason that a person can act on; on machines with RDMA devices as well.
#include "verbs/open.h"

#include <gtest/gtest.h>

namespace softdat::verbs {
namespace {

TEST(OpenVerbsTest, WhatIsNotThereIsRefusedWithAReason) {
  for (const char* target : {"no-such-device", "192.0.2.1", "2001:db8::1"}) {
    const auto device = open_device(target);
    ASSERT_FALSE(device.ok()) << target;
    EXPECT_FALSE(device.reason().empty()) << target;
  }
}

TEST(OpenVerbsTest, ListingNamesWhatThereIsOrWhyThereIsNone) {
  const auto listing = list_devices();
  for (const Listing& row : listing) {
    EXPECT_TRUE(row.name.starts_with("verbs"));
    EXPECT_NE(row.details.empty(), row.problem.empty()) << row.name;
    EXPECT_EQ(open_device(row.name == "verbs" ? "" : row.name.substr(6)).ok(), row.problem.empty()) << row.name;
  }
  EXPECT_FALSE(listing.empty());
}

}  // namespace
}  // namespace softdat::verbs
