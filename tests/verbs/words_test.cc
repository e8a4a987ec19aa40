// SPDX-License-Identifier: BSD-2-Clause
// What is told in words of a request that a device fails, and of a connection that ends.
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>

#include "tests/verbs/stand.h"

namespace softdat::verbs {
namespace {

// Prints the facts, as an endpoint would print a sentence of them.
class Printer final : public hca::QueuePairSink {
 public:
  void on_connection_event(const hca::ConnectionEvent&) override {}
  std::string on_failure(const hca::Failure& failure) override {
    std::fprintf(stderr, "rule %d, key %#x, address %#llx, length %llu, status %d: %s\n",
                 static_cast<int>(failure.rule), failure.key, static_cast<unsigned long long>(failure.address),
                 static_cast<unsigned long long>(failure.length), static_cast<int>(failure.status),
                 failure.device_words.c_str());
    return {};
  }
};

// How much is said is read once in a process, so the story has one of its own.
[[noreturn]] void tell_of_failed_write(const char* level) {
  ::setenv("SOFTDAT_LOG", level, 1);
  Stand stand;
  Printer printer;
  const auto queue = stand.make_cq(8);
  const auto queue_pair = stand.make_qp(*queue, 8, &printer);
  Stand::accept(*queue_pair);
  while (queue_pair->state() != hca::QueuePairState::kConnected) ::usleep(1000);
  hca::SendRequest write;
  write.wr_id = 7;
  write.opcode = hca::SendOpcode::kWrite;
  write.flags = hca::kSignaled;
  write.remote_address = 0x1000;
  write.rkey = 0xab;
  const bool is_posted = bool(queue_pair->post_send(write));
  fake::fail_send(fake::last_queue_pair(), IBV_WC_REM_ACCESS_ERR, 0x8a);
  hca::Completion completion;
  while (queue->poll({&completion, 1}) == 0) continue;
  ::_exit(is_posted ? 0 : 1);
}

TEST(VerbsWords, AFailedRequestIsToldOfWithWhatTheDeviceReports) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  char expected[128];
  std::snprintf(expected, sizeof expected,
                "rule %d, key 0xab, address 0x1000, length 0, status %d: ", static_cast<int>(hca::Rule::kDeviceReport),
                static_cast<int>(hca::CompletionStatus::kRemoteAccess));
  EXPECT_EXIT(tell_of_failed_write("notice"), testing::ExitedWithCode(0),
              std::string("^") + expected + "IBV_WC_REM_ACCESS_ERR, vendor error 0x8a\n$");
}

TEST(VerbsWords, NothingIsToldUnlessItIsWanted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(tell_of_failed_write("warning"), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace softdat::verbs
