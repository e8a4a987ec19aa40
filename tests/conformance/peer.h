// SPDX-License-Identifier: BSD-2-Clause
// One side of a conversation, and two of them connected to each other.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "tests/conformance/adapter.h"
#include "tests/conformance/answers.h"
#include "tests/conformance/events.h"

namespace softdat::conformance {

struct PeerOptions {
  DAT_COUNT queue_length = 64;
  std::size_t memory = 64 * 1024;
  int privileges = DAT_MEM_PRIV_ALL_FLAG;
  std::optional<DAT_EP_ATTR> attributes;  // of the endpoint; else default_attributes()
  bool one_dispatcher = false;            // receives, requests and connection events on one
};

// Attributes that every test can live with.
DAT_EP_ATTR default_attributes();

// An adapter with a protection zone, a dispatcher for each stream, an endpoint and memory.
// Everything is public: tests take it apart. Throws SetupFailure.
struct Peer {
  explicit Peer(const char* name, const PeerOptions& options = {});

  // Frees the endpoint and makes another one like it.
  void renew_endpoint();

  // Requests a connection to the peer that listens on `qualifier`.
  DAT_RETURN connect(const Peer& server, DAT_CONN_QUAL qualifier, std::string_view private_data = {},
                     DAT_TIMEOUT timeout = kPatience);

  // Listens on a fresh qualifier.
  DAT_CONN_QUAL listen();
  void stop_listening();

  // The next connection request's handle.
  DAT_CR_HANDLE next_request();

  // Posts with the cookie; one segment at `offset` of the memory.
  DAT_RETURN post_send(std::size_t offset, std::size_t length, std::uint64_t cookie = 0, int flags = 0);
  DAT_RETURN post_recv(std::size_t offset, std::size_t length, std::uint64_t cookie = 0, int flags = 0);
  DAT_RETURN post_write(std::size_t offset, std::size_t length, const DAT_RMR_TRIPLET& target, std::uint64_t cookie = 0,
                        int flags = 0);
  DAT_RETURN post_read(std::size_t offset, std::size_t length, const DAT_RMR_TRIPLET& source, std::uint64_t cookie = 0,
                       int flags = 0);

  DAT_EP_STATE state() const;

  PeerOptions options;
  Adapter adapter;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE recv_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE request_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connect_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE cr_evd = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  std::unique_ptr<Memory> memory;
};

// Connects the client's endpoint to the server's and takes both ESTABLISHED events.
void establish(Peer& server, Peer& client);

// Two peers, connected.
struct ConnectedPair {
  explicit ConnectedPair(const PeerOptions& options = {});
  ConnectedPair(const PeerOptions& server_options, const PeerOptions& client_options);

  Peer server;
  Peer client;
};

// A message goes each way and arrives whole: the proof that a connection still works.
void expect_conversation(Peer& server, Peer& client);

}  // namespace softdat::conformance
