// SPDX-License-Identifier: BSD-2-Clause
// ConnectionLifecycle: the connection of a queue pair from the request to the last event. It is the only writer of the
// queue pair's state (queue_pair_state.h). ReliableConnection adds the messages.
//
// end() is the one way into kError: the channel is closed, and flushed work is in the completion queues before the
// event is told.
//
// Threads: connect(), disconnect() and reset() on any thread without the baton; the rest with the baton, but for
// remote_address() and has_told_all() on any thread. Errors: as hca/queue_pair.h says. Nothing is left of a call that
// fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/guarded.h"
#include "base/timers.h"
#include "hca/device.h"
#include "simnic/connect_attempt.h"
#include "simnic/failure_report.h"
#include "simnic/message_path.h"
#include "simnic/nic_view.h"
#include "simnic/queue_pair_state.h"
#include "simnic/queue_pair_upcalls.h"
#include "simnic/receive_posts.h"
#include "simnic/send_posts.h"
#include "simnic/task.h"
#include "transport/carrier.h"

namespace softdat::simnic {

// The parts of a queue pair that its connection uses, and that outlive it.
struct QueuePairView {
  const NicView& nic;
  const hca::QueuePairLimits& limits;
  const MemoryView& memory;
  std::atomic<hca::QueuePairState>& state;  // written here
  hca::TransferCounters& counters;
  SendPosts& sends;
  ReceivePosts& recvs;
};

class ConnectionLifecycle : public Task, protected base::Timer, protected transport::ChannelSink {
 public:
  // As the calls of hca::QueuePair.
  hca::Outcome connect(const hca::ConnectParameters& parameters);
  hca::Outcome disconnect(bool graceful);
  hca::Outcome reset();
  hca::Address remote_address() const { return *remote_.lock(); }
  bool has_told_all() const { return upcalls_.are_all_told(); }

  // Answers a peer yes, in the name of that service. kInvalidState unless idle. A peer that has gone meanwhile is heard
  // of as kAcceptFailed.
  hca::Outcome accept_with_baton(transport::InboundRequest& request, std::uint64_t service_id,
                                 std::span<const std::byte> private_data);

  MessagePath& path() { return path_; }
  const MessagePath& path() const { return path_; }

 protected:
  // Throws std::bad_alloc.
  ConnectionLifecycle(const QueuePairView& queue_pair, const hca::QueuePairConfig& config);

  hca::QueuePairState state() const { return queue_pair_.state.load(std::memory_order_seq_cst); }
  // Enters kError, unless the state refuses the event. `blame` and `culprit` say what the oldest requests complete
  // with.
  void end(QueuePairEvent event, const Fault& blame, hca::ConnectionEventType news,
           std::span<const std::byte> private_data = {}, std::optional<std::uint64_t> culprit = std::nullopt);
  // The queue pair dies: closes the channel without an event. Nothing of the connection calls this object any more.
  void abandon();
  // Whether all that was posted or asked for before a graceful disconnect is over.
  bool is_drained() const;

  const QueuePairView queue_pair_;
  Engine& engine_;
  // Guarded by the lane, and changed with the baton; but path_ as its header says.
  MessagePath path_;
  FailureReport failure_;
  QueuePairUpcalls upcalls_;

 private:
  // Timer and ChannelSink.
  void on_timer() final;
  void on_established(const transport::Offer& peer) final;
  void on_refused(transport::Refusal reason, std::span<const std::byte> private_data) final;
  void on_closed(transport::CloseReason reason, const transport::TerminateCode& code) final;

  bool advance(QueuePairEvent event);
  transport::Offer make_offer(std::span<const std::byte> private_data);
  void ask();
  bool asks_again_later();
  transport::CloseMode close_mode_of(QueuePairEvent event);

  mutable base::Guarded<hca::Address, locks::kRemote> remote_;  // set with the baton
  std::uint64_t reads_to_answer_ = 0;                           // before a graceful disconnect
  // Owned by the baton.
  std::unique_ptr<ConnectAttempt> attempt_;  // while connecting; without a channel it waits for its next try
};

}  // namespace softdat::simnic
