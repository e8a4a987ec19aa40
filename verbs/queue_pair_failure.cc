// SPDX-License-Identifier: BSD-2-Clause
// What people are told of failures: what the device and the connection manager report, with the request and the call
// that posted it. Which rule was broken a device does not say; the simulator does.
#include <cstdio>
#include <new>

#include "base/words.h"
#include "verbs/queue_pair.h"
#include "verbs/status.h"

namespace softdat::verbs {

using hca::Actor;
using hca::ConnectionEventType;
using hca::Failure;
using hca::Rule;

void QueuePair::tell_failed_work(const WorkEntry& entry, const ibv_wc& wc, hca::CompletionStatus status) try {
  if (sink_ == nullptr || !base::are_words_wanted() || is_failure_told_.exchange(true)) return;
  Failure failure;
  failure.actor = entry.is_receive ? Actor::kOurReceive : Actor::kOurRequest;
  failure.rule = Rule::kDeviceReport;
  failure.operation = entry.opcode;
  failure.status = status;
  failure.wr_id = entry.cookie;
  failure.length = entry.length;
  failure.carrier = "verbs";
  char error[48];
  std::snprintf(error, sizeof error, "%s, vendor error 0x%x", name_of(wc.status), wc.vendor_err);
  failure.device_words = error;
  if (const WorkNote* const note = (entry.is_receive ? recvs_ : sends_).note_of(entry)) {
    failure.posted = note->posted;
    failure.key = note->key;
    failure.address = note->address;
  }
  static_cast<void>(sink_->on_failure(failure));
} catch (const std::bad_alloc&) {
}

void QueuePair::tell_ended_locked(ConnectionEventType news) try {
  const bool is_orderly = news == ConnectionEventType::kEstablished || news == ConnectionEventType::kDisconnected;
  if (is_orderly || sink_ == nullptr || !base::are_words_wanted() || is_failure_told_.exchange(true)) return;
  Failure failure;
  failure.rule = hca::rule_of(news);
  failure.carrier = "verbs";
  failure.remote = remote_;
  failure.service_id = service_asked_;
  if (news == ConnectionEventType::kBroken) {
    failure.rule = was_peers_fault_.load(std::memory_order_seq_cst) ? Rule::kDeviceReport : Rule::kPeerLost;
    failure.device_words = "a request of the peer's that it has refused";
  }
  static_cast<void>(sink_->on_failure(failure));
} catch (const std::bad_alloc&) {
}

}  // namespace softdat::verbs
