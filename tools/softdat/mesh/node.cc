// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/mesh/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/event_names.h"
#include "tools/softdat/perf/foreign_memory.h"
#include "tools/softdat/perf/lanes.h"

namespace softdat::tools::mesh {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr DAT_TIMEOUT kPatience = 120'000'000;  // us
constexpr DAT_COUNT kDepth = 4;

// What `from` tells `to`.
std::uint64_t word_of(std::uint32_t from, std::uint32_t to) {
  return std::uint64_t{from + 1} << 32 | (to + 1);
}

// A check that fails when what is awaited takes too long.
perf::LivenessCheck patience_for(const char* what) {
  const auto deadline = Clock::now() + std::chrono::microseconds(kPatience);
  return [=] {
    if (Clock::now() > deadline) throw Failure(fmt::format("waiting for {} took too long", what));
  };
}

}  // namespace

Node::Node(const NodePlan& plan)
    : plan_(plan),
      adapter_(plan.ia),
      outgoing_(adapter_, plan.processes * kWord),
      incoming_(adapter_, plan.processes * kWord),
      // Requests and the ends of connecting come by one EVD, so that one thread can wait for both.
      connections_(adapter_, static_cast<DAT_COUNT>(4 * plan.processes), DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG),
      requests_(adapter_, static_cast<DAT_COUNT>(2 * plan.processes), DAT_EVD_DTO_FLAG),
      receives_(adapter_, static_cast<DAT_COUNT>(plan.processes), DAT_EVD_DTO_FLAG),
      endpoints_(plan.processes),
      cards_(plan.processes) {
  register_memory();
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  require(dat_psp_create(adapter_.ia(), plan.qual + plan.rank, connections_.handle(), DAT_PSP_CONSUMER_FLAG, &psp),
          "dat_psp_create");
}

void Node::register_memory() {
  const auto start = Clock::now();
  for (std::uint32_t i = 0; i < plan_.registrations; ++i) {
    regions_.push_back(std::make_unique<perf::Region>(adapter_, kWord));
  }
  const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  us_per_registration_ = us / plan_.registrations;
}

// The others' regions lie as far from each other as there is room.
const perf::Region& Node::region_of(std::uint32_t peer) const {
  return *regions_[std::uint64_t{peer} * regions_.size() / plan_.processes];
}

Node::Card Node::card_for(std::uint32_t peer) const {
  const DAT_RMR_TRIPLET memory = region_of(peer).remote();
  return {memory.virtual_address, plan_.rank, memory.rmr_context};
}

void Node::create_endpoints() {
  for (std::uint32_t peer = 0; peer < plan_.processes; ++peer) {
    if (peer == plan_.rank) continue;
    endpoints_[peer] = perf::create_endpoint(adapter_, kDepth, receives_, requests_, connections_);
    // The receive is there before the connection is, so that no message of the peer has to wait for one.
    DAT_LMR_TRIPLET segment = incoming_.local(peer * kWord, kWord);
    DAT_DTO_COOKIE cookie{};
    cookie.as_64 = peer;
    require(dat_ep_post_recv(endpoints_[peer], 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_recv");
  }
}

// Lower ranks connect to higher ones, so that a pair has one connection. Private data carries each side's card: which
// region the peer may write into.
void Node::connect() {
  create_endpoints();
  for (std::uint32_t peer = plan_.rank + 1; peer < plan_.processes; ++peer) {
    Card card = card_for(peer);
    require(dat_ep_connect(endpoints_[peer], adapter_.address(), plan_.qual + peer, kPatience, sizeof card, &card,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            "dat_ep_connect");
  }
  const perf::LivenessCheck check = patience_for("the connections");
  for (std::uint32_t established = 0; established < plan_.processes - 1;) {
    DAT_EVENT event;
    connections_.take(perf::Waiting::kBlock, check, event);
    if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
      accept(event.event_data.cr_arrival_event_data.cr_handle);
    } else if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) {
      note_established(event.event_data.connect_event_data);
      ++established;
    } else {
      throw Failure(fmt::format("a connection failed: {}", event_text(event.event_number)));
    }
  }
}

void Node::take_card(const Card& card, std::uint32_t peer) {
  if (card.rank != peer) throw Failure(fmt::format("process {} said that it was process {}", peer, card.rank));
  cards_[peer] = card;
}

void Node::accept(DAT_CR_HANDLE request) {
  DAT_CR_PARAM parameters{};
  require(dat_cr_query(request, DAT_CR_FIELD_ALL, &parameters), "dat_cr_query");
  Card card{};
  if (static_cast<std::size_t>(parameters.private_data_size) < sizeof card) throw Failure("a request bears no card");
  std::memcpy(&card, parameters.private_data, sizeof card);
  if (card.rank >= plan_.rank) throw Failure(fmt::format("process {} connects downward", card.rank));
  take_card(card, card.rank);
  Card own = card_for(card.rank);
  require(dat_cr_accept(request, endpoints_[card.rank], sizeof own, &own), "dat_cr_accept");
}

std::uint32_t Node::rank_of(DAT_EP_HANDLE ep) const {
  const auto found = std::find(endpoints_.begin(), endpoints_.end(), ep);
  if (found == endpoints_.end()) throw Failure("an event of no endpoint of ours");
  return static_cast<std::uint32_t>(found - endpoints_.begin());
}

void Node::note_established(const DAT_CONNECTION_EVENT_DATA& event) {
  const std::uint32_t peer = rank_of(event.ep_handle);
  // Its card came with the request (accept()).
  if (peer < plan_.rank) return;
  Card card{};
  if (static_cast<std::size_t>(event.private_data_size) < sizeof card) throw Failure("an answer bears no card");
  std::memcpy(&card, event.private_data, sizeof card);
  take_card(card, peer);
}

// The write is there when what was sent behind it is.
void Node::post_to(std::uint32_t peer) {
  perf::set_foreign_word(outgoing_.data() + peer * kWord, word_of(plan_.rank, peer));
  DAT_LMR_TRIPLET segment = outgoing_.local(peer * kWord, kWord);
  DAT_RMR_TRIPLET target{};
  target.virtual_address = cards_[peer].address;
  target.segment_length = kWord;
  target.rmr_context = cards_[peer].rmr_context;
  require(dat_ep_post_rdma_write(endpoints_[peer], 1, &segment, DAT_DTO_COOKIE{}, &target, DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ep_post_rdma_write");
  require(dat_ep_post_send(endpoints_[peer], 1, &segment, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ep_post_send");
}

void Node::look_at(std::uint32_t peer) const {
  const std::uint64_t expected = word_of(peer, plan_.rank);
  const bool is_sent = perf::foreign_word(incoming_.data() + peer * kWord) == expected;
  const bool is_written = perf::foreign_word(region_of(peer).data()) == expected;
  if (!is_sent) throw Failure(fmt::format("what process {} sent is not what came", peer));
  if (!is_written) throw Failure(fmt::format("what process {} wrote is not here", peer));
}

void Node::exchange() {
  for (std::uint32_t peer = 0; peer < plan_.processes; ++peer) {
    if (peer != plan_.rank) post_to(peer);
  }
  const perf::LivenessCheck check = patience_for("the others' messages");
  DAT_EVENT event;
  for (std::uint32_t i = 1; i < plan_.processes; ++i) {
    receives_.take(perf::Waiting::kBlock, check, event);
    look_at(static_cast<std::uint32_t>(perf::completion_of(event).user_cookie.as_64));
  }
  // A write and a send for each of the others.
  for (std::uint32_t i = 1; i < 2 * plan_.processes - 1; ++i) {
    requests_.take(perf::Waiting::kBlock, check, event);
    perf::completion_of(event);
  }
}

}  // namespace softdat::tools::mesh
