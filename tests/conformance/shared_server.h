// SPDX-License-Identifier: BSD-2-Clause
// A server whose endpoints take their receives from one shared queue.
#pragma once

#include <memory>
#include <vector>

#include "tests/conformance/peer.h"

namespace softdat::conformance {

DAT_SRQ_ATTR srq_attributes(DAT_COUNT max_recv_dtos, DAT_COUNT max_recv_iov = 2, DAT_COUNT low_watermark = 0);

// The next event of the asynchronous dispatcher, which must have this number and name this object.
DAT_ASYNCH_ERROR_EVENT_DATA next_async(const Adapter& adapter, DAT_EVENT_NUMBER number, DAT_HANDLE object);

// Everything is public: tests take it apart. Throws SetupFailure.
struct SharedServer {
  explicit SharedServer(DAT_COUNT max_recv_dtos = 8, DAT_COUNT low_watermark = 0, const PeerOptions& options = {});

  // An endpoint of the queue with the server's dispatchers, unconnected.
  DAT_EP_HANDLE make_endpoint();
  // A client, connected to a new endpoint: clients[i] to endpoints[i].
  Peer& connect_client();

  // Posts to the queue one segment of the server's memory, or nothing for a message of no bytes.
  DAT_RETURN post(std::size_t offset, std::size_t length, std::uint64_t cookie = 0);
  DAT_RETURN post_empty(std::uint64_t cookie = 0);
  void post_many(int count);

  // The client sends a message of no bytes; with take() its receive is reaped too.
  void send(std::size_t client);
  DAT_DTO_COMPLETION_EVENT_DATA take(std::size_t client);

  DAT_SRQ_PARAM query() const;
  DAT_ASYNCH_ERROR_EVENT_DATA next_low_event() const;

  Peer peer;
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  std::vector<DAT_EP_HANDLE> endpoints;
  std::vector<std::unique_ptr<Peer>> clients;
};

}  // namespace softdat::conformance
