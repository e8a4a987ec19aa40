// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/conformance/lacks.h"

namespace softdat::conformance {

DAT_EP_ATTR default_attributes() {
  DAT_EP_ATTR attributes{};
  attributes.service_type = DAT_SERVICE_TYPE_RC;
  attributes.max_message_size = 1 << 20;
  attributes.max_rdma_size = 1 << 20;
  attributes.recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
  attributes.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
  attributes.max_recv_dtos = 32;
  attributes.max_request_dtos = 32;
  attributes.max_recv_iov = 4;
  attributes.max_request_iov = 4;
  attributes.max_rdma_read_in = 4;
  attributes.max_rdma_read_out = 4;
  attributes.max_rdma_read_iov = std::min(4, max_read_segments());
  attributes.max_rdma_write_iov = 4;
  return attributes;
}

Peer::Peer(const char* name, const PeerOptions& wanted) : options(wanted), adapter(name) {
  pz = adapter.make_pz();
  if (options.one_dispatcher) {
    recv_evd = adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, options.queue_length);
    request_evd = recv_evd;
    connect_evd = recv_evd;
  } else {
    recv_evd = adapter.make_evd(DAT_EVD_DTO_FLAG, options.queue_length);
    request_evd = adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, options.queue_length);
    connect_evd = adapter.make_evd(DAT_EVD_CONNECTION_FLAG, options.queue_length);
  }
  cr_evd = adapter.make_evd(DAT_EVD_CR_FLAG, options.queue_length);
  memory = std::make_unique<Memory>(adapter.handle(), pz, options.memory, options.privileges);
  renew_endpoint();
}

void Peer::renew_endpoint() {
  if (ep != DAT_HANDLE_NULL) require(dat_ep_free(ep), "dat_ep_free");
  ep = DAT_HANDLE_NULL;
  const DAT_EP_ATTR attributes = options.attributes.value_or(default_attributes());
  require(dat_ep_create(adapter.handle(), pz, recv_evd, request_evd, connect_evd, &attributes, &ep), "dat_ep_create");
}

DAT_RETURN Peer::connect(const Peer& server, DAT_CONN_QUAL qualifier, std::string_view private_data,
                         DAT_TIMEOUT timeout) {
  std::string copy(private_data);
  return dat_ep_connect(ep, server.adapter.address(), qualifier, timeout, static_cast<DAT_COUNT>(copy.size()),
                        copy.empty() ? nullptr : copy.data(), DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

DAT_CONN_QUAL Peer::listen() {
  const DAT_CONN_QUAL qualifier = unused_qualifier();
  psp = adapter.make_psp(qualifier, cr_evd);
  return qualifier;
}

void Peer::stop_listening() {
  require(dat_psp_free(psp), "dat_psp_free");
  psp = DAT_HANDLE_NULL;
}

DAT_CR_HANDLE Peer::next_request() {
  return next_event(cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data.cr_handle;
}

DAT_RETURN Peer::post_send(std::size_t offset, std::size_t length, std::uint64_t cookie, int flags) {
  DAT_LMR_TRIPLET segment = memory->local(offset, length);
  return dat_ep_post_send(ep, 1, &segment, make_cookie(cookie), static_cast<DAT_COMPLETION_FLAGS>(flags));
}

DAT_RETURN Peer::post_recv(std::size_t offset, std::size_t length, std::uint64_t cookie, int flags) {
  DAT_LMR_TRIPLET segment = memory->local(offset, length);
  return dat_ep_post_recv(ep, 1, &segment, make_cookie(cookie), static_cast<DAT_COMPLETION_FLAGS>(flags));
}

DAT_RETURN Peer::post_write(std::size_t offset, std::size_t length, const DAT_RMR_TRIPLET& target, std::uint64_t cookie,
                            int flags) {
  DAT_LMR_TRIPLET segment = memory->local(offset, length);
  return dat_ep_post_rdma_write(ep, 1, &segment, make_cookie(cookie), &target,
                                static_cast<DAT_COMPLETION_FLAGS>(flags));
}

DAT_RETURN Peer::post_read(std::size_t offset, std::size_t length, const DAT_RMR_TRIPLET& source, std::uint64_t cookie,
                           int flags) {
  DAT_LMR_TRIPLET segment = memory->local(offset, length);
  return dat_ep_post_rdma_read(ep, 1, &segment, make_cookie(cookie), &source, static_cast<DAT_COMPLETION_FLAGS>(flags));
}

DAT_EP_STATE Peer::state() const {
  DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
  require(dat_ep_get_status(ep, &state, nullptr, nullptr), "dat_ep_get_status");
  return state;
}

void establish(Peer& server, Peer& client) {
  const DAT_CONN_QUAL qualifier = server.listen();
  require(client.connect(server, qualifier), "dat_ep_connect");
  require(dat_cr_accept(server.next_request(), server.ep, 0, nullptr), "dat_cr_accept");
  next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  next_event(server.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  server.stop_listening();
}

ConnectedPair::ConnectedPair(const PeerOptions& options) : ConnectedPair(options, options) {}

ConnectedPair::ConnectedPair(const PeerOptions& server_options, const PeerOptions& client_options)
    : server(kServerName, server_options), client(kClientName, client_options) {
  establish(server, client);
}

namespace {

void expect_message(Peer& from, Peer& to, unsigned seed) {
  constexpr std::size_t kLength = 512;
  from.memory->fill(0, kLength, seed);
  ASSERT_THAT(to.post_recv(kLength, kLength, seed), succeeds());
  ASSERT_THAT(from.post_send(0, kLength, seed), succeeds());
  const auto received = next_completion(to.recv_evd);
  const auto sent = next_completion(from.request_evd);
  EXPECT_EQ(received.status, DAT_DTO_SUCCESS);
  EXPECT_EQ(received.transfered_length, kLength);
  EXPECT_EQ(received.user_cookie.as_64, seed);
  EXPECT_EQ(sent.status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(to.memory->holds(kLength, kLength, seed));
}

}  // namespace

void expect_conversation(Peer& server, Peer& client) {
  expect_message(client, server, 71);
  expect_message(server, client, 72);
}

}  // namespace softdat::conformance
