// SPDX-License-Identifier: BSD-2-Clause
// What is not offered yet says so, by its answers and by the attributes, and changes nothing. When a
// function comes to life, its lines here become tests of what it does.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

class Unsupported : public testing::Test {
 protected:
  DAT_PROVIDER_ATTR provider() {
    DAT_PROVIDER_ATTR attributes{};
    require(dat_ia_query(peer_.adapter.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attributes),
            "dat_ia_query");
    return attributes;
  }

  Peer peer_{kServerName};
};

TEST_F(Unsupported, MultipathAndThreadSafeOpening) {
  EXPECT_EQ(provider().supports_multipath, DAT_FALSE);
  EXPECT_THAT(dat_ep_connect(peer_.ep, peer_.adapter.address(), unused_qualifier(), kPatience, 0, nullptr,
                             DAT_QOS_BEST_EFFORT, DAT_CONNECT_MULTIPATH_FLAG),
              testing::AnyOf(is_not_supported(), succeeds()));
}

#if SOFTDAT_DAT_MAJOR == 2

// dtest asks by name whether it may read.
TEST_F(Unsupported, ReadsHoweverAreOffered) {
  const DAT_PROVIDER_ATTR attributes = provider();
  bool found = false;
  for (DAT_COUNT i = 0; i < attributes.num_provider_specific_attr; ++i) {
    const DAT_NAMED_ATTR& attribute = attributes.provider_specific_attr[i];
    found =
        found || (std::strcmp(attribute.name, "DAT_IB_RDMA_READ") == 0 && std::strcmp(attribute.value, "TRUE") == 0);
  }
  EXPECT_TRUE(found);
}

#endif

}  // namespace
}  // namespace softdat::conformance
