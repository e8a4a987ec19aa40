// SPDX-License-Identifier: BSD-2-Clause
// One of two processes that do RDMA with each other: one IA, one endpoint, one registered buffer
// whose key the other side knows. Single-threaded; every failure is a Failure, a disconnect
// included.
#pragma once

#include <dat2/udat.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace softdat::tools {

class Peer {
 public:
  Peer(const std::string& ia_name, std::size_t buffer_size);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Waits for one peer; `on_listening` is called as soon as it may come.
  void accept(DAT_CONN_QUAL qual, const std::function<void()>& on_listening);
  // Connects to a peer that listens on the same host.
  void connect(DAT_CONN_QUAL qual);
  void disconnect();
  void await_disconnect();

  // The data buffer that both sides register with every right.
  volatile std::uint8_t* data() { return buffer_.data(); }
  std::size_t size() const { return buffer_.size(); }

  // Each posts one operation of `length` bytes at the start of both buffers. The tail of the buffer
  // is left to the words of the protocol.
  void post_send(std::size_t length);
  void post_recv(std::size_t length);
  void post_write(std::size_t length);
  void post_read(std::size_t length);

  // Polls until one completion arrived; a failed one is a Failure.
  void finish_request();
  void finish_recv();

  // Throws when the peer has gone; for loops that watch memory.
  void check_connected();

 private:
  void create_endpoint();
  void exchange_keys();
  void wait_established();
  DAT_LMR_TRIPLET piece(std::size_t length) const;
  void poll_completion(DAT_EVD_HANDLE evd, const char* what);

  std::vector<std::uint8_t> buffer_;
  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd_ = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE recv_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE request_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connection_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE cr_evd_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
  DAT_RMR_TRIPLET remote_{};
};

}  // namespace softdat::tools
