// SPDX-License-Identifier: BSD-2-Clause
// Calls that fail on purpose.
#include "tests/simnic/fault/fault_world.h"

namespace softdat::simnic::testing {
namespace {

class CallFaultTest : public FaultTest {};

TEST_F(CallFaultTest, ARegistrationFailsWithTheReasonAskedFor) {
  use("fail-create op=lmr nth=2 reason=memory; fail-create op=lmr nth=3 reason=limit; fail-create op=lmr nth=4 "
      "reason=protection");
  std::byte memory[16];
  const auto register_it = [&] {
    return here().nic().register_memory(here().pd(), reinterpret_cast<std::uintptr_t>(memory), sizeof memory,
                                        kEverything);
  };
  EXPECT_EQ(reason(register_it()), std::nullopt);
  EXPECT_EQ(reason(register_it()), hca::Error::kNoMemory);
  EXPECT_EQ(reason(register_it()), hca::Error::kLimitReached);
  EXPECT_EQ(reason(register_it()), hca::Error::kPermission);
  EXPECT_EQ(reason(register_it()), std::nullopt);
}

TEST_F(CallFaultTest, EveryCreationMayFail) {
  for (const std::string op : {"pz", "evd", "rmr", "psp"}) {
    // The world has made a domain, and the queues of one endpoint.
    use("fail-create reason=limit process=here nth=3 op=" + op);
    auto& nic = here().nic();
    CompletionLog completions;
    ListenerLog requests;
    const auto create = [&]() -> std::optional<hca::Error> {
      if (op == "pz") return reason(nic.create_pd());
      if (op == "evd") return reason(nic.create_cq(4, completions));
      if (op == "rmr") return reason(nic.create_window(here().pd(), hca::WindowScope::kDomain, 0));
      return reason(nic.listen(kService, 1, requests));
    };
    int failures = 0;
    for (int i = 0; i < 4; ++i) failures += create() == hca::Error::kLimitReached ? 1 : 0;
    EXPECT_EQ(failures, 1) << op;
  }
}

TEST_F(CallFaultTest, APostFailsAndChangesNothing) {
  connect("fail-post process=here op=send nth=2 reason=limit; fail-post process=there op=recv nth=1 reason=memory");
  Memory from(here(), bytes("ab")), to(there(), 2);
  EXPECT_EQ(reason(passive_->recv(7, {to.segment(0, 1)})), hca::Error::kNoMemory);
  expect_ok(passive_->recv(1, {to.segment(0, 1)}));
  expect_ok(passive_->recv(2, {to.segment(1, 1)}));
  expect_ok(active_->send(1, {from.segment(0, 1)}));
  EXPECT_EQ(reason(active_->send(2, {from.segment(1, 1)})), hca::Error::kLimitReached);
  expect_ok(active_->send(3, {from.segment(1, 1)}));
  settle();
  EXPECT_EQ(active_->sends(), "1:ok 3:ok");
  EXPECT_EQ(passive_->recvs(), "1:ok 2:ok");
  EXPECT_EQ(to.text(2), "ab");
}

}  // namespace
}  // namespace softdat::simnic::testing
