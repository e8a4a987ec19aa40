// SPDX-License-Identifier: BSD-2-Clause
// ReliableConnection: the messages of a connection. It hands what the channel delivers to the requester or the
// responder, has the MessagePath send what they have, and ends the connection if either side breaks a rule. For the
// engine and the channel it is the queue pair: the task that posters ring, and the sink.
//
// From within a call of the channel it calls only the channel's terminate() and close(); sending waits for the end of
// the section.
//
// Threads: any thread may call set_recv_limits() and leave_engine(), which take the baton. All other calls REQUIRE the
// baton. Errors: none but those of ConnectionLifecycle.
#pragma once

#include <cstdint>
#include <optional>

#include "simnic/connection_lifecycle.h"

namespace softdat::simnic {

class ReliableConnection final : public ConnectionLifecycle {
 public:
  // Throws std::bad_alloc. REQUIRES of the destructor: leave_engine().
  ReliableConnection(const QueuePairView& queue_pair, const hca::QueuePairConfig& config);

  void set_recv_limits(std::uint32_t soft, std::uint32_t hard);
  // With the baton. A completion found its queue full: the connection breaks.
  void lose_completion();
  // When it returns, the engine and the channel do not call this object any more, and nothing posted will complete.
  // Calls after the first do nothing.
  void leave_engine();

 private:
  // Task and ChannelSink.
  void run_with_baton() override;
  transport::Placement place(const transport::Arrival& arrival, transport::SliceList& out) override;
  void on_fault(const transport::Arrival& arrival) override;
  void on_message(const transport::Message& message) override;
  void end_short_sends() override;
  bool on_short_send(const transport::ShortSend& short_send) override;
  std::uint64_t receive_length() override;
  void on_writable() override;

  void on_note(const transport::Message& message);
  void object(const Fault& fault);
  void terminate(const Fault& fault, std::optional<std::uint64_t> culprit = std::nullopt);
  void pump();
  void settle();
  bool obeys_recv_limits() { return !queue_pair_.recvs.limits().is_set() || enforce_recv_limits(); }
  bool enforce_recv_limits();

  bool has_left_ = false;  // leave_engine() was called; owned by its caller
};

}  // namespace softdat::simnic
