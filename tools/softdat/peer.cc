// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/peer.h"

#include <fmt/format.h>

#include <cstring>

#include "tools/softdat/dat_call.h"

namespace softdat::tools {
namespace {

constexpr DAT_COUNT kQueueLength = 256;
constexpr DAT_TIMEOUT kPatience = 10'000'000;  // us
constexpr auto kAllRights = static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_ALL_FLAG);

DAT_EVENT wait_event(DAT_EVD_HANDLE evd, const char* what) {
  DAT_EVENT event;
  DAT_COUNT more = 0;
  const DAT_RETURN result = dat_evd_wait(evd, kPatience, 1, &event, &more);
  if (result != DAT_SUCCESS) throw Failure(fmt::format("waiting for {}: {}", what, describe(result)));
  return event;
}

DAT_EVD_HANDLE create_evd(DAT_IA_HANDLE ia, int flags) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  require(dat_evd_create(ia, kQueueLength, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(flags), &evd), "dat_evd_create");
  return evd;
}

}  // namespace

Peer::Peer(const std::string& ia_name, std::size_t buffer_size) : buffer_(buffer_size) {
  std::string name = ia_name;
  require(dat_ia_open(name.data(), 8, &async_evd_, &ia_), "dat_ia_open");
  require(dat_pz_create(ia_, &pz_), "dat_pz_create");
  recv_evd_ = create_evd(ia_, DAT_EVD_DTO_FLAG);
  request_evd_ = create_evd(ia_, DAT_EVD_DTO_FLAG);
  connection_evd_ = create_evd(ia_, DAT_EVD_CONNECTION_FLAG);
  cr_evd_ = create_evd(ia_, DAT_EVD_CR_FLAG);
  DAT_REGION_DESCRIPTION region{};
  region.for_va = buffer_.data();
  require(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, region, buffer_.size(), pz_, kAllRights, DAT_VA_TYPE_VA, &lmr_,
                         &lmr_context_, &rmr_context_, nullptr, nullptr),
          "dat_lmr_create");
  create_endpoint();
}

Peer::~Peer() {
  // An abrupt close frees everything below the IA, whatever state a failure left it in.
  if (ia_ != DAT_HANDLE_NULL) dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG);
}

void Peer::create_endpoint() {
  DAT_EP_ATTR attributes{};
  attributes.service_type = DAT_SERVICE_TYPE_RC;
  attributes.max_recv_dtos = kQueueLength;
  attributes.max_request_dtos = kQueueLength;
  attributes.max_recv_iov = 1;
  attributes.max_request_iov = 1;
  attributes.max_rdma_read_in = 4;
  attributes.max_rdma_read_out = 4;
  attributes.max_rdma_read_iov = 1;
  attributes.max_rdma_write_iov = 1;
  require(dat_ep_create(ia_, pz_, recv_evd_, request_evd_, connection_evd_, &attributes, &ep_), "dat_ep_create");
}

void Peer::wait_established() {
  const DAT_EVENT event = wait_event(connection_evd_, "the connection");
  if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) {
    throw Failure(fmt::format("the connection failed with event {:#x}", static_cast<unsigned>(event.event_number)));
  }
}

void Peer::accept(DAT_CONN_QUAL qual, const std::function<void()>& on_listening) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  require(dat_psp_create(ia_, qual, cr_evd_, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create");
  post_recv(sizeof(DAT_RMR_TRIPLET));
  on_listening();
  const DAT_EVENT event = wait_event(cr_evd_, "a peer");
  require(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep_, 0, nullptr), "dat_cr_accept");
  wait_established();
  require(dat_psp_free(psp), "dat_psp_free");
  exchange_keys();
}

void Peer::connect(DAT_CONN_QUAL qual) {
  DAT_IA_ATTR attributes;
  require(dat_ia_query(ia_, nullptr, DAT_IA_FIELD_IA_ADDRESS_PTR, &attributes, 0, nullptr), "dat_ia_query");
  post_recv(sizeof(DAT_RMR_TRIPLET));
  require(dat_ep_connect(ep_, attributes.ia_address_ptr, qual, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG),
          "dat_ep_connect");
  wait_established();
  exchange_keys();
}

void Peer::exchange_keys() {
  // Receives of this exchange land in the first bytes, sends leave from the middle: neither
  // overwrites the other.
  DAT_RMR_TRIPLET mine{};
  mine.virtual_address = reinterpret_cast<std::uintptr_t>(buffer_.data());
  mine.segment_length = static_cast<DAT_SEG_LENGTH>(buffer_.size());
  mine.rmr_context = rmr_context_;
  std::uint8_t* const outgoing = buffer_.data() + buffer_.size() / 2;
  std::memcpy(outgoing, &mine, sizeof mine);
  DAT_LMR_TRIPLET segment = piece(sizeof mine);
  segment.virtual_address = reinterpret_cast<std::uintptr_t>(outgoing);
  require(dat_ep_post_send(ep_, 1, &segment, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_send");
  finish_request();
  finish_recv();
  std::memcpy(&remote_, buffer_.data(), sizeof remote_);
}

void Peer::disconnect() {
  require(dat_ep_disconnect(ep_, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
  await_disconnect();
}

void Peer::await_disconnect() {
  wait_event(connection_evd_, "the disconnect");
}

DAT_LMR_TRIPLET Peer::piece(std::size_t length) const {
  DAT_LMR_TRIPLET segment{};
  segment.virtual_address = reinterpret_cast<std::uintptr_t>(buffer_.data());
  segment.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  segment.lmr_context = lmr_context_;
  return segment;
}

void Peer::post_send(std::size_t length) {
  DAT_LMR_TRIPLET segment = piece(length);
  require(dat_ep_post_send(ep_, 1, &segment, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_send");
}

void Peer::post_recv(std::size_t length) {
  DAT_LMR_TRIPLET segment = piece(length);
  require(dat_ep_post_recv(ep_, 1, &segment, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_recv");
}

void Peer::post_write(std::size_t length) {
  DAT_LMR_TRIPLET segment = piece(length);
  DAT_RMR_TRIPLET target = remote_;
  target.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  require(dat_ep_post_rdma_write(ep_, 1, &segment, DAT_DTO_COOKIE{}, &target, DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ep_post_rdma_write");
}

void Peer::post_read(std::size_t length) {
  DAT_LMR_TRIPLET segment = piece(length);
  DAT_RMR_TRIPLET source = remote_;
  source.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  require(dat_ep_post_rdma_read(ep_, 1, &segment, DAT_DTO_COOKIE{}, &source, DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ep_post_rdma_read");
}

void Peer::poll_completion(DAT_EVD_HANDLE evd, const char* what) {
  constexpr int kPollsBetweenChecks = 100'000;
  DAT_EVENT event;
  for (int polls = 0;; ++polls) {
    const DAT_RETURN result = dat_evd_dequeue(evd, &event);
    if (result == DAT_SUCCESS) break;
    if (DAT_GET_TYPE(result) != DAT_QUEUE_EMPTY) require(result, "dat_evd_dequeue");
    if (polls % kPollsBetweenChecks == kPollsBetweenChecks - 1) check_connected();
  }
  const auto& completion = event.event_data.dto_completion_event_data;
  if (completion.status != DAT_DTO_SUCCESS) {
    throw Failure(fmt::format("a {} completed with status {}", what, static_cast<int>(completion.status)));
  }
}

void Peer::finish_request() {
  poll_completion(request_evd_, "request");
}
void Peer::finish_recv() {
  poll_completion(recv_evd_, "receive");
}

void Peer::check_connected() {
  DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
  require(dat_ep_get_status(ep_, &state, nullptr, nullptr), "dat_ep_get_status");
  if (state != DAT_EP_STATE_CONNECTED) throw Failure("the peer is gone");
}

}  // namespace softdat::tools
