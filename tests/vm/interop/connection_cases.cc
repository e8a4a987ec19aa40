// SPDX-License-Identifier: BSD-2-Clause
// Beginning, refusing and leaving.
#include <array>

#include "tests/conformance/answers.h"
#include "tests/conformance/events.h"
#include "tests/vm/interop/cases.h"

namespace softdat::interop {
namespace {

using conformance::require;

constexpr std::uint64_t kConnections = 20;

std::string words_of(std::size_t size, char first) {
  std::string words(size, first);
  for (std::size_t i = 0; i < size; ++i) words[i] = static_cast<char>(first + static_cast<char>(i % 26));
  return words;
}

bool begins_with(const std::string& data, const std::string& words) {
  return data.compare(0, words.size(), words) == 0;
}

std::string data_of(DAT_CR_HANDLE request) {
  DAT_CR_PARAM param{};
  require(dat_cr_query(request, DAT_CR_FIELD_ALL, &param), "dat_cr_query");
  if (param.private_data == nullptr) return {};
  return {static_cast<const char*>(param.private_data), static_cast<std::size_t>(param.private_data_size)};
}

void private_data(Conversation& c) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{48}, std::size_t{128}}) {
    const std::string question = words_of(size, 'A');
    std::string answer = words_of(size, 'a');
    if (c.is_initiator()) {
      expect(begins_with(c.connect(question), answer), "the private data of the reply came otherwise");
    } else {
      const DAT_CR_HANDLE request = c.take_request();
      expect(begins_with(data_of(request), question), "the private data of the request came otherwise");
      require(dat_cr_accept(request, c.peer().ep, static_cast<DAT_COUNT>(size), answer.data()), "dat_cr_accept");
      c.await_established();
    }
    c.tell(size);
    expect(c.hear().a == size, "another size was told");
    c.part();
    c.renew();
  }
}

// The initiator has the first word, again and again: it comes right behind the reply.
void initiator_first(Conversation& c) {
  for (std::uint64_t i = 0; i < kConnections; ++i) {
    if (i > 0) c.renew();
    c.connect();
    if (c.is_initiator()) c.tell(i);
    expect(c.hear().a == i, "another word came");
    if (!c.is_initiator()) c.tell(i);
    c.part();
  }
}

// The same with the responder, whose word must not come too close behind the reply.
void responder_first(Conversation& c) {
  for (std::uint64_t i = 0; i < kConnections; ++i) {
    if (i > 0) c.renew();
    c.connect();
    if (!c.is_initiator()) c.tell(i);
    expect(c.hear().a == i, "another word came");
    if (c.is_initiator()) c.tell(i);
    c.part();
  }
}

void both_first(Conversation& c) {
  for (std::uint64_t i = 0; i < kConnections; ++i) {
    if (i > 0) c.renew();
    c.connect();
    c.tell(i);
    expect(c.hear().a == i, "another word came");
    c.part();
  }
}

void reject(Conversation& c) {
  if (c.is_initiator()) {
    c.ask("may I?");
    // Over iWARP the stock provider cannot tell who refused.
    const auto number = next_event(c.peer().connect_evd, "a refusal").event_number;
    expect(number == DAT_CONNECTION_EVENT_PEER_REJECTED || number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED,
           "event " + std::to_string(number) + " is no refusal");
  } else {
    require(dat_cr_reject(c.take_request(), 0, nullptr), "dat_cr_reject");
  }
  c.renew();
  // The listener is there as before.
  c.connect();
  c.tell(1);
  expect(c.hear().a == 1, "another word came");
  c.part();
}

// The last case of a process: its responder listens no more.
void no_listener(Conversation& c) {
  if (!c.is_initiator()) {
    c.connect();
    require(dat_psp_free(c.peer().psp), "dat_psp_free");
    c.tell();
    c.part();
    return;
  }
  c.connect();
  c.hear();
  c.part();
  DAT_EVENT_NUMBER number{};
  // The stock provider's listener stays, and refuses, until the last connection that it took has ended there too.
  conformance::eventually([&] {
    c.renew();
    c.ask({});
    number = next_event(c.peer().connect_evd, "a refusal").event_number;
    return number != DAT_CONNECTION_EVENT_PEER_REJECTED;
  });
  // The stock provider calls a connection broken that never was.
  expect(number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED || number == DAT_CONNECTION_EVENT_UNREACHABLE ||
             number == DAT_CONNECTION_EVENT_BROKEN,
         "event " + std::to_string(number) + " does not say that nobody listens");
}

void leave(Conversation& c, bool initiator_leaves, DAT_CLOSE_FLAGS flags) {
  c.connect();
  c.tell(3);
  expect(c.hear().a == 3, "another word came");
  if (c.is_initiator() == initiator_leaves) require(dat_ep_disconnect(c.peer().ep, flags), "dat_ep_disconnect");
  c.await_disconnected();
}

void initiator_leaves(Conversation& c) {
  leave(c, true, DAT_CLOSE_GRACEFUL_FLAG);
}

void responder_leaves(Conversation& c) {
  leave(c, false, DAT_CLOSE_GRACEFUL_FLAG);
}

void initiator_leaves_abruptly(Conversation& c) {
  leave(c, true, DAT_CLOSE_ABRUPT_FLAG);
}

void responder_leaves_abruptly(Conversation& c) {
  leave(c, false, DAT_CLOSE_ABRUPT_FLAG);
}

constexpr std::array kCases{Case{"private_data", private_data},
                            Case{"initiator_first", initiator_first},
                            Case{"responder_first", responder_first},
                            Case{"both_first", both_first},
                            Case{"reject", reject},

                            Case{"initiator_leaves", initiator_leaves},
                            Case{"responder_leaves", responder_leaves},
                            Case{"initiator_leaves_abruptly", initiator_leaves_abruptly},
                            Case{"responder_leaves_abruptly", responder_leaves_abruptly},
                            Case{"no_listener", no_listener}};

}  // namespace

std::span<const Case> connection_cases() {
  return kCases;
}

}  // namespace softdat::interop
