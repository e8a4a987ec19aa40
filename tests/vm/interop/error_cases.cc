// SPDX-License-Identifier: BSD-2-Clause
// What must not be done costs the connection, on both sides, and nothing else: the next one works.
#include <array>

#include "tests/conformance/answers.h"
#include "tests/conformance/events.h"
#include "tests/vm/interop/cases.h"

namespace softdat::interop {
namespace {

using conformance::require;

constexpr auto kHere = Conversation::kHere;

using Deed = void (*)(Conversation&, const DAT_RMR_TRIPLET&);

// One side does the deed, first the initiator and then, on another connection, the responder.
void break_connections(Conversation& c, Deed deed) {
  for (int round = 0; round < 2; ++round) {
    c.connect();
    const DAT_RMR_TRIPLET there = c.exchange_places();
    if (c.is_initiator() == (round == 0)) deed(c, there);
    c.await_end();
    c.renew();
  }
  c.connect();
  c.tell(9);
  expect(c.hear().a == 9, "another word came");
  c.part();
}

// A write may be told complete before the other side has judged it.
void write_by_a_wrong_key(Conversation& c, const DAT_RMR_TRIPLET& there) {
  DAT_RMR_TRIPLET wrong = there;
  wrong.rmr_context ^= 0x5a5a00;
  require(c.peer().post_write(kHere, 512, wrong), "dat_ep_post_rdma_write");
}

void write_beyond_the_end(Conversation& c, const DAT_RMR_TRIPLET& there) {
  DAT_RMR_TRIPLET wrong = there;
  wrong.virtual_address += std::uint64_t{1} << 30;
  require(c.peer().post_write(kHere, 512, wrong), "dat_ep_post_rdma_write");
}

void read_wrongly(Conversation& c, const DAT_RMR_TRIPLET& wrong) {
  DAT_RMR_TRIPLET part = wrong;
  part.segment_length = 512;
  require(c.peer().post_read(kHere, 512, part), "dat_ep_post_rdma_read");
  const auto completion = next_completion(c.peer().request_evd, "a read");
  expect(completion.status != DAT_DTO_SUCCESS, "a read that nobody may answer succeeded");
}

void read_by_a_wrong_key(Conversation& c, const DAT_RMR_TRIPLET& there) {
  DAT_RMR_TRIPLET wrong = there;
  wrong.rmr_context ^= 0x5a5a00;
  read_wrongly(c, wrong);
}

void read_beyond_the_end(Conversation& c, const DAT_RMR_TRIPLET& there) {
  DAT_RMR_TRIPLET wrong = there;
  wrong.virtual_address += std::uint64_t{1} << 30;
  read_wrongly(c, wrong);
}

// The receives over there have room for kSlot.
void send_too_much(Conversation& c, const DAT_RMR_TRIPLET&) {
  DAT_LMR_TRIPLET segment = c.memory().local(kHere, Conversation::kSlot + 4096);
  require(dat_ep_post_send(c.peer().ep, 1, &segment, conformance::make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ep_post_send");
}

void bad_write_key(Conversation& c) {
  break_connections(c, write_by_a_wrong_key);
}

void bad_write_range(Conversation& c) {
  break_connections(c, write_beyond_the_end);
}

void bad_read_key(Conversation& c) {
  break_connections(c, read_by_a_wrong_key);
}

void bad_read_range(Conversation& c) {
  break_connections(c, read_beyond_the_end);
}

void long_send(Conversation& c) {
  break_connections(c, send_too_much);
}

constexpr std::array kCases{Case{"bad_write_key", bad_write_key}, Case{"bad_write_range", bad_write_range},
                            Case{"bad_read_key", bad_read_key}, Case{"bad_read_range", bad_read_range},
                            Case{"long_send", long_send}};

}  // namespace

std::span<const Case> error_cases() {
  return kCases;
}

}  // namespace softdat::interop
