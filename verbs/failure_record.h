// SPDX-License-Identifier: BSD-2-Clause
// FailureRecord: what has gone wrong with the present connection of a queue pair; and its report to people, once for
// each connection: what the device and the connection manager say, with the request and the call that posted it. A
// device does not say which rule was broken; the simulator does.
//
// Threads: any. The functions that report call the sink, as hca::QueuePairSink::on_failure() allows.
#pragma once

#include <atomic>

#include "base/words.h"
#include "hca/connection.h"
#include "verbs/event_thread.h"
#include "verbs/work_ring.h"

namespace softdat::verbs {

class FailureRecord {
 public:
  // The target is woken after a failure. The sink may be null. Both must outlive the record.
  FailureRecord(EventThread& events, EventTarget& target, hca::QueuePairSink* sink)
      : events_(events), target_(target), sink_(sink) {}

  bool has_failed() const { return has_failed_.load(std::memory_order_seq_cst); }
  // A request of the peer's was refused.
  bool is_peers_fault() const { return is_peers_fault_.load(std::memory_order_seq_cst); }
  // The consumer has ended the connection, so work that fails now was flushed, whatever the device calls it.
  bool was_cut() const { return was_cut_.load(std::memory_order_seq_cst); }

  // A request has completed with that status.
  void on_work_failed(hca::CompletionStatus status, bool is_receive);
  // A completion queue has lost completions.
  void on_overflow();
  // The device has said so. Does not wake the target.
  void set_failed() { has_failed_.store(true, std::memory_order_seq_cst); }
  void set_peers_fault() { is_peers_fault_.store(true, std::memory_order_seq_cst); }
  void set_cut() { was_cut_.store(true, std::memory_order_seq_cst); }
  // For the next connection.
  void clear();

  // Call before WorkQueue::complete(). The note may be null. Not inline: posts may drain a queue, and would contain all
  // that makes words.
  [[gnu::noinline, gnu::cold]] void report_work(const WorkEntry& entry, const WorkNote* note, const ibv_wc& wc,
                                                hca::CompletionStatus status);
  // Does nothing for an orderly end.
  [[gnu::noinline, gnu::cold]] void report_end(hca::ConnectionEventType type, const hca::Address& remote,
                                               std::uint64_t service_id);

 private:
  bool takes_report() { return sink_ != nullptr && base::are_words_wanted() && !is_reported_.exchange(true); }

  EventThread& events_;
  EventTarget& target_;
  hca::QueuePairSink* const sink_;
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_peers_fault_{false};
  std::atomic<bool> was_cut_{false};
  std::atomic<bool> is_reported_{false};
};

}  // namespace softdat::verbs
