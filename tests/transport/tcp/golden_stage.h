// SPDX-License-Identifier: BSD-2-Clause
// GoldenStage: conversations that come out the same byte by byte each time, because what could differ (addresses, keys,
// the moment at which somebody speaks) is fixed, and nobody speaks before the last word has been heard.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "tests/transport/tcp/capture.h"
#include "tests/transport/tcp/raw_peer.h"

namespace softdat::transport::tcp {

class GoldenStage : public RawTest {
 public:
  struct Scene {
    const char* name;  // also of its files
    void (GoldenStage::*play)();
  };
  static std::span<const Scene> scenes();

  // Two carriers.
  void converse_without_crc() { converse(false); }
  void converse_with_crc() { converse(true); }
  void meet_in_other_ways();
  void be_refused();
  void exchange_datagrams();
  // A plain socket on the other side.
  void serve_foreign_initiators();
  void call_foreign_responders();
  void terminate_breaches();
  void terminate_requests();

 protected:
  ~GoldenStage() override { leave(); }
  Capture capture_;

 private:
  void leave();
  // Own peers.
  void open_pair(const TcpOptions& options);
  void ask_own();
  void ask_with(const Offer& request, const Offer& reply);
  void connect_own();
  void accept_own();
  void say(Peer& from, Peer& to, const Message& message, Bytes bytes = {});
  void part_own();
  [[nodiscard]] bool reach_own(const std::function<bool()>& is_done);
  void converse(bool has_crc);
  void exchange_atomics();
  void exchange_notes();

  // A foreign peer.
  void open_port();
  void call_in();
  void begin_foreign(const Bytes& request, std::size_t reply_frames = 1);
  void establish_foreign(const Bytes& request);
  [[nodiscard]] bool outlast_hold(const Peer& peer);
  void says(const Bytes& bytes);
  void hears(std::size_t frames);
  void greet();
  void call_out(const TcpOptions& options = {});
  void breach(const char* request_flags, const Bytes& bytes);
  void refuse_request(const TerminateCode& code, const Bytes& request);

  bool is_raw_client_ = true;
  RawPeer listening_;
  RawPeer raw_;
  std::unique_ptr<Reactor> there_reactor_;
  std::unique_ptr<TcpCarrier> there_;
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<PeerPort> port_;
  std::unique_ptr<Peer> active_, passive_;
};

}  // namespace softdat::transport::tcp
