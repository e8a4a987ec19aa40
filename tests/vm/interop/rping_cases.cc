// SPDX-License-Identifier: BSD-2-Clause
// The protocol of rping, which librdmacm brings: the client offers a text, the server reads it, asks for a place, and
// writes it back there. Each step is announced by a message of 16 bytes: address (8), key (4), size (4), big-endian.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/byte_order.h"
#include "tests/conformance/answers.h"
#include "tests/conformance/events.h"
#include "tests/vm/interop/cases.h"

namespace softdat::interop {
namespace {

using conformance::require;

constexpr std::size_t kNotice = 16;
constexpr int kRounds = 10;
constexpr auto kText = Conversation::kHere;    // the client's text; what the server read
constexpr auto kEcho = Conversation::kThere;   // what came back
constexpr auto kOut = Conversation::kWordsAt;  // of a notice

void post_notice_receive(Conversation& c) {
  require(c.peer().post_recv(0, kNotice), "dat_ep_post_recv");
}

void await_notice(Conversation& c) {
  const auto completion = next_completion(c.peer().recv_evd, "a notice");
  expect(completion.status == DAT_DTO_SUCCESS, "a notice came with status " + std::to_string(completion.status));
  expect(completion.transfered_length == kNotice, "a notice has another length");
}

void give_notice(Conversation& c, std::size_t place, std::size_t size) {
  std::byte* const at = reinterpret_cast<std::byte*>(c.memory().data() + kOut);
  base::store_be(at, std::uint64_t{reinterpret_cast<std::uintptr_t>(c.memory().data() + place)});
  base::store_be(at + 8, static_cast<std::uint32_t>(c.memory().rmr_context()));
  base::store_be(at + 12, static_cast<std::uint32_t>(size));
  require(c.peer().post_send(kOut, kNotice), "dat_ep_post_send");
  c.await_request(kNotice);
}

DAT_RMR_TRIPLET place_of_notice(Conversation& c) {
  const std::byte* const at = reinterpret_cast<const std::byte*>(c.memory().data());
  return conformance::make_remote(base::load_be<std::uint64_t>(at), base::load_be<std::uint32_t>(at + 12),
                                  base::load_be<std::uint32_t>(at + 8));
}

std::string text_of(int round, std::size_t size) {
  std::string text = "rdma-ping-" + std::to_string(round) + ": ";
  for (char letter = static_cast<char>('A' + round); text.size() + 1 < size; ++letter) {
    if (letter > 'z') letter = 'A';
    text += letter;
  }
  return text;
}

void be_client(Conversation& c, std::size_t size) {
  post_notice_receive(c);
  c.begin();
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = text_of(round, size);
    std::memcpy(c.memory().data() + kText, text.c_str(), size);
    std::memset(c.memory().data() + kEcho, 0, size);
    give_notice(c, kText, size);
    await_notice(c);
    post_notice_receive(c);
    give_notice(c, kEcho, size);
    await_notice(c);
    post_notice_receive(c);
    expect(std::memcmp(c.memory().data() + kEcho, text.c_str(), size) == 0, "the text came back otherwise");
  }
  c.part();
}

// As many rounds as the client likes; it ends them by leaving.
void be_server(Conversation& c) {
  DAT_EVENT event{};
  post_notice_receive(c);
  c.begin();
  for (;;) {
    event = next_event(c.peer().recv_evd, "a notice or the end");
    if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) break;
    const DAT_RMR_TRIPLET source = place_of_notice(c);
    const auto size = static_cast<std::size_t>(source.segment_length);
    post_notice_receive(c);
    require(c.peer().post_read(kText, size, source), "dat_ep_post_rdma_read");
    c.await_request(size);
    give_notice(c, kText, size);
    await_notice(c);
    const DAT_RMR_TRIPLET target = place_of_notice(c);
    post_notice_receive(c);
    require(c.peer().post_write(kText, size, target), "dat_ep_post_rdma_write");
    c.await_request(size);
    give_notice(c, kText, size);
  }
  c.await_end();
}

void ping(Conversation& c, std::size_t size) {
  return c.is_initiator() ? be_client(c, size) : be_server(c);
}

void rping(Conversation& c) {
  ping(c, 64);
}

void rping_large(Conversation& c) {
  ping(c, 65535);
}

constexpr std::array kCases{Case{"rping", rping}, Case{"rping_large", rping_large}};

}  // namespace

std::span<const Case> rping_cases() {
  return kCases;
}

}  // namespace softdat::interop
