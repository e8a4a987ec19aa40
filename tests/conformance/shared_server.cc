// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/shared_server.h"

#include <gtest/gtest.h>

namespace softdat::conformance {

DAT_SRQ_ATTR srq_attributes(DAT_COUNT max_recv_dtos, DAT_COUNT max_recv_iov, DAT_COUNT low_watermark) {
  DAT_SRQ_ATTR attributes{};
  attributes.max_recv_dtos = max_recv_dtos;
  attributes.max_recv_iov = max_recv_iov;
  attributes.low_watermark = low_watermark;
  return attributes;
}

DAT_ASYNCH_ERROR_EVENT_DATA next_async(const Adapter& adapter, DAT_EVENT_NUMBER number, DAT_HANDLE object) {
  const DAT_EVENT event = next_event(adapter.async_evd(), number);
  EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, object);
  return event.event_data.asynch_error_event_data;
}

SharedServer::SharedServer(DAT_COUNT max_recv_dtos, DAT_COUNT low_watermark, const PeerOptions& options)
    : peer(kServerName, options) {
  DAT_SRQ_ATTR attributes = srq_attributes(max_recv_dtos, 2, low_watermark);
  require(dat_srq_create(peer.adapter.handle(), peer.pz, &attributes, &srq), "dat_srq_create");
}

DAT_EP_HANDLE SharedServer::make_endpoint() {
  const DAT_EP_ATTR attributes = peer.options.attributes.value_or(default_attributes());
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  require(dat_ep_create_with_srq(peer.adapter.handle(), peer.pz, peer.recv_evd, peer.request_evd, peer.connect_evd, srq,
                                 &attributes, &ep),
          "dat_ep_create_with_srq");
  return ep;
}

Peer& SharedServer::connect_client() {
  const DAT_EP_HANDLE own = peer.ep;
  endpoints.push_back(make_endpoint());
  clients.push_back(std::make_unique<Peer>(kClientName));
  peer.ep = endpoints.back();
  establish(peer, *clients.back());
  peer.ep = own;
  return *clients.back();
}

DAT_RETURN SharedServer::post(std::size_t offset, std::size_t length, std::uint64_t cookie) {
  DAT_LMR_TRIPLET segment = peer.memory->local(offset, length);
  return dat_srq_post_recv(srq, 1, &segment, make_cookie(cookie));
}

DAT_RETURN SharedServer::post_empty(std::uint64_t cookie) {
  return dat_srq_post_recv(srq, 0, nullptr, make_cookie(cookie));
}

void SharedServer::post_many(int count) {
  for (int i = 0; i < count; ++i) require(post_empty(), "dat_srq_post_recv");
}

void SharedServer::send(std::size_t client) {
  require(dat_ep_post_send(clients[client]->ep, 0, nullptr, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ep_post_send");
}

DAT_DTO_COMPLETION_EVENT_DATA SharedServer::take(std::size_t client) {
  send(client);
  return next_completion(peer.recv_evd);
}

DAT_SRQ_PARAM SharedServer::query() const {
  DAT_SRQ_PARAM param{};
  require(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param), "dat_srq_query");
  return param;
}

DAT_ASYNCH_ERROR_EVENT_DATA SharedServer::next_low_event() const {
  const auto event = next_async(peer.adapter, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, srq);
  EXPECT_EQ(event.reason, DAT_SRQ_LOW_WATERMARK_EVENT);
  return event;
}

}  // namespace softdat::conformance
