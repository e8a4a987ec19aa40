// SPDX-License-Identifier: BSD-2-Clause
// Opening: how a connection over shared memory comes to be: who asked whom for what, and what was agreed. A part of its
// channel; REQUIRES the baton.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/offer.h"
#include "transport/tap.h"

namespace softdat::transport::shm {

// A connector's request. It is kept until the answer, in case it has to go elsewhere.
struct Question {
  Address remote{};
  Offer offer{};
  int attempts = 0;
};

class Opening {
 public:
  // A connector begins. Throws std::bad_alloc.
  void ask(Question question);
  // An acceptor has answered. Throws std::bad_alloc.
  void answer(const Offer& peer, const Offer& reply);

  // Null: not a connector, or one that was accepted.
  Question* question() const { return question_.get(); }
  // The peer's reply to the question, which is over with that.
  void on_accept(const Offer& reply);
  // Returns the peer's offer, which the acceptor has answered.
  Offer on_confirm();

  // The features that both sides have; 0 until the answer.
  Features features() const { return features_; }
  // The reason that a connector will be given by Refusals.
  Refusal refusal() const { return refusal_; }
  void set_refusal(Refusal refusal) { refusal_ = refusal; }

  // Has the connection watched from where it stands; null: it cannot be. `own`: this carrier's address.
  std::unique_ptr<ChannelTap> watch(Tapper& tapper, const Address& own, const char* carrier_name,
                                    ChannelSink& sink) const;

 private:
  struct Answered {
    Offer peer;
    Offer reply;
  };

  std::unique_ptr<Question> question_;  // until the answer
  std::unique_ptr<Answered> answered_;  // until it is confirmed
  Features features_ = 0;
  Refusal refusal_ = Refusal::kUnreachable;
  // The rest is told to taps alone.
  Address remote_{};
  std::uint16_t own_port_ = 0;
  bool is_initiator_ = false;
  std::uint64_t service_id_ = 0;
};

}  // namespace softdat::transport::shm
