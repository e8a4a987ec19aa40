// SPDX-License-Identifier: BSD-2-Clause
#include "tests/vm/interop/conversation.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/events.h"

namespace softdat::interop {

using conformance::kPatience;
using conformance::require;

namespace {

constexpr DAT_COUNT kQueueLength = 256;

conformance::PeerOptions options() {
  conformance::PeerOptions wanted;
  wanted.memory = Conversation::kMemory;
  wanted.queue_length = kQueueLength;
  wanted.attributes = conformance::default_attributes();
  wanted.attributes->max_message_size = 2 << 20;
  // All that iWARP devices bear.
  wanted.attributes->max_rdma_read_iov = 1;
  return wanted;
}

}  // namespace

void expect(bool right, const std::string& what) {
  if (!right) throw conformance::SetupFailure(what);
}

DAT_EVENT next_event(DAT_EVD_HANDLE evd, const std::string& what) {
  std::optional<DAT_EVENT> event;
  expect(conformance::eventually([&] { return (event = conformance::take_event(evd)).has_value(); }),
         "nothing came of " + what);
  return *event;
}

DAT_DTO_COMPLETION_EVENT_DATA next_completion(DAT_EVD_HANDLE evd, const std::string& what) {
  const DAT_EVENT event = next_event(evd, what);
  expect(event.event_number == DAT_DTO_COMPLETION_EVENT,
         "not of " + what + ": event " + std::to_string(event.event_number));
  return event.event_data.dto_completion_event_data;
}

Conversation::Conversation(const Place& place, bool is_initiator) : place_(place), is_initiator_(is_initiator) {
  peer_ = std::make_unique<Peer>(place_.adapter.c_str(), options());
}

void Conversation::listen() {
  peer_->psp = peer_->adapter.make_psp(place_.port, peer_->cr_evd);
  std::puts("ready");
  std::fflush(stdout);
}

// Receives stand before the connection does: peers without flow control break it when one is missing.
void Conversation::post_receives() {
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    require(peer_->post_recv(slot * kSlot, kSlot, slot), "dat_ep_post_recv");
  }
  next_slot_ = 0;
}

void Conversation::request_connection(std::string_view private_data) {
  // Of either family.
  sockaddr_in6 six{};
  sockaddr_in four{};
  four.sin_family = AF_INET;
  six.sin6_family = AF_INET6;
  const bool is_four = inet_pton(AF_INET, place_.address.c_str(), &four.sin_addr) == 1;
  expect(is_four || inet_pton(AF_INET6, place_.address.c_str(), &six.sin6_addr) == 1, "no address: " + place_.address);
  const auto to = is_four ? reinterpret_cast<DAT_IA_ADDRESS_PTR>(&four) : reinterpret_cast<DAT_IA_ADDRESS_PTR>(&six);
  std::string copy(private_data);
  require(dat_ep_connect(peer_->ep, to, place_.port, kPatience, static_cast<DAT_COUNT>(copy.size()),
                         copy.empty() ? nullptr : copy.data(), DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
          "dat_ep_connect");
}

void Conversation::ask(std::string_view private_data) {
  post_receives();
  request_connection(private_data);
}

DAT_CR_HANDLE Conversation::take_request() {
  const DAT_CR_HANDLE request = peer_->next_request();
  post_receives();
  return request;
}

std::string Conversation::await_established() {
  const DAT_EVENT event = next_event(peer_->connect_evd, "a connection");
  expect(event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED,
         "event " + std::to_string(event.event_number) + " in place of a connection");
  const auto& data = event.event_data.connect_event_data;
  if (data.private_data == nullptr || data.private_data_size <= 0) return {};
  return {static_cast<const char*>(data.private_data), static_cast<std::size_t>(data.private_data_size)};
}

std::string Conversation::connect(std::string_view private_data) {
  post_receives();
  return begin(private_data);
}

std::string Conversation::begin(std::string_view private_data) {
  if (is_initiator_) {
    request_connection(private_data);
  } else {
    require(dat_cr_accept(peer_->next_request(), peer_->ep, 0, nullptr), "dat_cr_accept");
  }
  return await_established();
}

// The stock provider aborts the process when it is asked for completions that a broken connection flushed, so those go
// with their dispatchers.
void Conversation::renew() {
  Peer& peer = *peer_;
  require(dat_ep_free(peer.ep), "dat_ep_free");
  peer.ep = DAT_HANDLE_NULL;
  // What the adapter still tells of this endpoint must not be taken for the end of the next.
  while (conformance::take_event(peer.adapter.async_evd())) {
  }
  for (const DAT_EVD_HANDLE evd : {peer.recv_evd, peer.request_evd, peer.connect_evd}) {
    require(dat_evd_free(evd), "dat_evd_free");
  }
  peer.recv_evd = peer.adapter.make_evd(DAT_EVD_DTO_FLAG, kQueueLength);
  peer.request_evd = peer.adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, kQueueLength);
  peer.connect_evd = peer.adapter.make_evd(DAT_EVD_CONNECTION_FLAG, kQueueLength);
  peer.renew_endpoint();
}

void Conversation::tell(std::uint64_t a, std::uint64_t b) {
  const Words words{a, b};
  std::memcpy(memory().data() + kWordsAt, &words, sizeof words);
  require(peer_->post_send(kWordsAt, sizeof words), "dat_ep_post_send");
  await_request(sizeof words);
}

Conversation::Words Conversation::hear() {
  Words words;
  const std::size_t slot = await_receive(sizeof words);
  std::memcpy(&words, memory().data() + slot * kSlot, sizeof words);
  repost();
  return words;
}

void Conversation::post_pattern(std::size_t size, unsigned seed, DAT_COUNT segments) {
  memory().fill(kHere, size, seed);
  std::vector<DAT_LMR_TRIPLET> parts;
  const std::size_t each = size / static_cast<std::size_t>(segments);
  for (DAT_COUNT i = 0; i < segments; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * each;
    parts.push_back(memory().local(kHere + at, i + 1 == segments ? size - at : each));
  }
  require(
      dat_ep_post_send(peer_->ep, segments, parts.data(), conformance::make_cookie(seed), DAT_COMPLETION_DEFAULT_FLAG),
      "dat_ep_post_send");
}

void Conversation::hear_pattern(std::size_t size, unsigned seed) {
  const std::size_t slot = await_receive(size);
  expect(memory().holds(slot * kSlot, size, seed), "a message of " + std::to_string(size) + " bytes came otherwise");
  repost();
}

DAT_RMR_TRIPLET Conversation::exchange_places() {
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(memory().data() + kThere);
  const std::uint64_t key = memory().rmr_context();
  if (is_initiator_) tell(address, key);
  const Words there = hear();
  if (!is_initiator_) tell(address, key);
  return conformance::make_remote(there.a, kWindow, static_cast<DAT_RMR_CONTEXT>(there.b));
}

void Conversation::await_request(std::size_t length) {
  const auto completion = next_completion(peer_->request_evd, "a request");
  expect(completion.status == DAT_DTO_SUCCESS, "a request completed with status " + std::to_string(completion.status));
  expect(completion.transfered_length == length,
         "a request of " + std::to_string(length) + " bytes moved " + std::to_string(completion.transfered_length));
}

std::size_t Conversation::await_receive(std::size_t length) {
  const auto completion = next_completion(peer_->recv_evd, "a receive");
  expect(completion.status == DAT_DTO_SUCCESS, "a receive completed with status " + std::to_string(completion.status));
  expect(completion.transfered_length == length,
         "a receive of " + std::to_string(length) + " bytes got " + std::to_string(completion.transfered_length));
  expect(completion.user_cookie.as_64 == next_slot_, "receives completed out of their order");
  return next_slot_;
}

void Conversation::repost() {
  require(peer_->post_recv(next_slot_ * kSlot, kSlot, next_slot_), "dat_ep_post_recv");
  next_slot_ = (next_slot_ + 1) % kSlots;
}

void Conversation::part() {
  if (is_initiator_) require(dat_ep_disconnect(peer_->ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
  await_disconnected();
}

void Conversation::await_disconnected() {
  const auto number = next_event(peer_->connect_evd, "the connection's end").event_number;
  expect(number == DAT_CONNECTION_EVENT_DISCONNECTED, "event " + std::to_string(number) + " in place of an end");
}

// The stock provider sometimes has only an asynchronous error for it.
void Conversation::await_end() {
  std::optional<DAT_EVENT> event;
  const bool has_come = conformance::eventually([&] {
    event = conformance::take_event(peer_->connect_evd);
    return event || conformance::take_event(peer_->adapter.async_evd());
  });
  expect(has_come, "the connection does not end");
  if (!event) return;
  const bool is_end =
      event->event_number == DAT_CONNECTION_EVENT_DISCONNECTED || event->event_number == DAT_CONNECTION_EVENT_BROKEN;
  expect(is_end, "event " + std::to_string(event->event_number) + " is no end of a connection");
}

}  // namespace softdat::interop
