// SPDX-License-Identifier: BSD-2-Clause
// Sends, writes and reads, both ways, and the bytes they leave.
#include <array>

#include "tests/conformance/answers.h"
#include "tests/conformance/events.h"
#include "tests/vm/interop/cases.h"

namespace softdat::interop {
namespace {

using conformance::make_cookie;
using conformance::require;

constexpr auto kHere = Conversation::kHere;
constexpr auto kThere = Conversation::kThere;

// Around the borders of a segment on usual links, and large.
constexpr std::array<std::size_t, 8> kSizes{1, 7, 64, 1427, 1428, 4096, 65536, 1000003};

unsigned seed_of(std::size_t size, int round) {
  return static_cast<unsigned>(size) + static_cast<unsigned>(round);
}

// The initiator acts in the first round, the responder in the second.
bool is_active(const Conversation& c, int round) {
  return c.is_initiator() == (round == 0);
}

// Each message is answered by one like it.
void exchange_sends(Conversation& c, DAT_COUNT segments) {
  c.connect();
  for (const std::size_t size : kSizes) {
    if (size < static_cast<std::size_t>(segments)) continue;
    if (!c.is_initiator()) c.hear_pattern(size, seed_of(size, 0));
    c.post_pattern(size, seed_of(size, c.is_initiator() ? 0 : 1), segments);
    c.await_request(size);
    if (c.is_initiator()) c.hear_pattern(size, seed_of(size, 1));
  }
  c.part();
}

void send(Conversation& c) {
  exchange_sends(c, 1);
}

void send_segments(Conversation& c) {
  exchange_sends(c, 3);
}

// A send behind the write says that it is there.
void write(Conversation& c) {
  c.connect();
  const DAT_RMR_TRIPLET there = c.exchange_places();
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t size : kSizes) {
      if (is_active(c, round)) {
        c.memory().fill(kHere, size, seed_of(size, round));
        require(c.peer().post_write(kHere, size, there), "dat_ep_post_rdma_write");
        c.await_request(size);
        c.tell(size);
        c.hear();
      } else {
        expect(c.hear().a == size, "another size was written");
        expect(c.memory().holds(kThere, size, seed_of(size, round)), "what was written is not what came");
        c.tell();
      }
    }
  }
  c.part();
}

void read(Conversation& c) {
  c.connect();
  const DAT_RMR_TRIPLET there = c.exchange_places();
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t size : kSizes) {
      if (is_active(c, round)) {
        c.hear();
        DAT_RMR_TRIPLET part = there;
        part.segment_length = size;
        require(c.peer().post_read(kHere, size, part), "dat_ep_post_rdma_read");
        c.await_request(size);
        expect(c.memory().holds(kHere, size, seed_of(size, round)), "what was read is not what is there");
        c.tell();
      } else {
        c.memory().fill(kThere, size, seed_of(size, round));
        c.tell();
        c.hear();
      }
    }
  }
  c.part();
}

// More reads than either side bears at a time: those beyond wait at whoever reads.
void reads_beyond_limits(Conversation& c) {
  constexpr std::size_t kReads = 24;
  constexpr std::size_t kEach = 8192;
  c.connect();
  const DAT_RMR_TRIPLET there = c.exchange_places();
  c.memory().fill(kThere, kReads * kEach, 7);
  for (int round = 0; round < 2; ++round) {
    if (!is_active(c, round)) {
      c.tell();
      c.hear();
      continue;
    }
    c.hear();
    for (std::size_t i = 0; i < kReads; ++i) {
      DAT_RMR_TRIPLET part = there;
      part.virtual_address += i * kEach;
      part.segment_length = kEach;
      require(c.peer().post_read(kHere + i * kEach, kEach, part, i), "dat_ep_post_rdma_read");
    }
    for (std::size_t i = 0; i < kReads; ++i) c.await_request(kEach);
    expect(c.memory().holds(kHere, kReads * kEach, 7), "what was read is not what is there");
    c.tell();
  }
  c.part();
}

// Both sides write and send at once, all the time.
void crossing(Conversation& c) {
  constexpr int kRounds = 100;
  constexpr std::size_t kSize = 65536;
  c.connect();
  const DAT_RMR_TRIPLET there = c.exchange_places();
  c.memory().fill(kHere, kSize, c.is_initiator() ? 1 : 2);
  for (int i = 0; i < kRounds; ++i) {
    require(c.peer().post_write(kHere, kSize, there, 0, DAT_COMPLETION_SUPPRESS_FLAG), "dat_ep_post_rdma_write");
    c.tell(static_cast<std::uint64_t>(i));
    expect(c.hear().a == static_cast<std::uint64_t>(i), "messages came out of their order");
    expect(c.memory().holds(kThere, kSize, c.is_initiator() ? 2 : 1), "what was written is not what came");
  }
  c.part();
}

constexpr std::array kCases{Case{"send", send},
                            Case{"send_segments", send_segments},
                            Case{"write", write},
                            Case{"read", read},
                            Case{"reads_beyond_limits", reads_beyond_limits},
                            Case{"crossing", crossing}};

}  // namespace

std::span<const Case> data_cases() {
  return kCases;
}

}  // namespace softdat::interop
