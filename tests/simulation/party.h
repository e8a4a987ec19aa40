// SPDX-License-Identifier: BSD-2-Clause
// Party: one queue pair of a simulation, and beside it a model of what must become of everything
// posted: each request completes exactly once, in order, with the right bytes; after the first
// failure of a life everything is flushed; each established connection ends exactly once.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/receive_pool.h"

namespace softdat::simnic::simulation {

using testing::CompletionStatus;

class Party final : public hca::QueuePairSink {
 public:
  // Takes its receives from the pool, if there is one.
  Party(Host& host, const hca::QueuePairLimits& limits, ReceivePool* pool);
  ~Party();

  hca::QueuePair& qp() { return *qp_; }
  Host& host() { return host_; }
  void set_peer(Party& peer) { peer_ = &peer; }

  // Posts something random; refusals for want of room or state are part of life.
  void post_send(Random& random);
  void post_write(Random& random);
  void post_read(Random& random);
  void post_write_immediate(Random& random);
  void post_atomic(Random& random);
  void post_recv(Random& random);
  // Binds a window; once that is done, a transfer of the peer's takes it.
  void post_bind(Random& random);
  // A remote access that the peer must refuse.
  void post_forbidden(Random& random);
  // Takes the memory of some outstanding request away.
  void revoke_something(Random& random);

  // Polls everything and holds it against the model. The first deviation, or nothing.
  std::string check();
  // As check(), of a party whose connection has ended: nothing may be left.
  std::string check_ended();
  // A new life on the same queue pair, which must be reset first.
  void begin_life();

  bool is_dead = false;  // its process was killed: it hears nothing more
  int established() const { return established_; }
  int ended() const { return ended_; }
  bool has_failed_to_connect() const { return has_failed_to_connect_; }

 private:
  // What a receive of the peer's has to bring.
  struct Sent {
    std::vector<std::byte> bytes;
    std::optional<std::uint32_t> immediate;
  };
  using WorkList = std::deque<Work>;

  void on_connection_event(const hca::ConnectionEvent& event) override;
  Work make(Random& random, Kind kind, std::size_t length);
  void post(Work work, hca::SendOpcode opcode, const testing::Segments& segments, std::uint32_t flags,
            std::uint64_t remote_address, std::uint32_t rkey);
  std::string check_send(const hca::Completion& completion);
  std::string check_recv(const hca::Completion& completion);
  std::unique_ptr<Work> take_recv(std::uint64_t wr_id);
  std::string check_status(const Work& work, CompletionStatus status, bool& has_failed) const;
  std::string check_success(Work& work);
  bool take_window(Random& random, Work& work);
  std::string describe(const Work& work, CompletionStatus status, const char* what) const;

  Host& host_;
  ReceivePool* const pool_;
  Party* peer_ = nullptr;
  testing::CompletionLog completions_;
  std::unique_ptr<hca::CompletionQueue> send_cq_;
  std::unique_ptr<hca::CompletionQueue> recv_cq_;
  std::unique_ptr<hca::QueuePair> qp_;
  std::uint64_t next_wr_ = 1;
  WorkList sends_;
  WorkList recvs_;
  std::uint64_t last_pooled_ = 0;  // receives of a pool come in its order
  WorkList bound_;                 // binds that are done, for the peer to use
  // Of this life.
  bool has_failed_send_ = false;
  bool has_failed_recv_ = false;
  int established_ = 0;
  int ended_ = 0;
  bool has_failed_to_connect_ = false;
  std::deque<Sent> messages_;  // sent by us in this life, not yet seen by the peer's model
  std::size_t sends_ok_ = 0;   // our sends that completed
  std::size_t recvs_ok_ = 0;   // our receives that completed
};

}  // namespace softdat::simnic::simulation
