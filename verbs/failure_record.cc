// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/failure_record.h"

#include <cstdio>
#include <new>

#include "verbs/status.h"

namespace softdat::verbs {

using hca::Actor;
using hca::ConnectionEventType;
using hca::Failure;
using hca::Rule;

// FLUSH_ERR is never the first error: it follows another, or an end that the connection manager reports.
// Runs under the lock of a completion queue, so the event thread ends the connection.
void FailureRecord::on_work_failed(hca::CompletionStatus status, bool is_receive) {
  if (status == hca::CompletionStatus::kFlushed) return;
  if (is_receive) set_peers_fault();
  set_failed();
  events_.post(target_);
}

void FailureRecord::on_overflow() {
  set_failed();
  events_.post(target_);
}

void FailureRecord::clear() {
  has_failed_.store(false, std::memory_order_seq_cst);
  is_peers_fault_.store(false, std::memory_order_seq_cst);
  is_reported_.store(false, std::memory_order_seq_cst);
  was_cut_.store(false, std::memory_order_seq_cst);
}

// An explanation is for people: without memory it is left out.
void FailureRecord::report_work(const WorkEntry& entry, const WorkNote* note, const ibv_wc& wc,
                                hca::CompletionStatus status) try {
  if (!takes_report()) return;
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
  if (note != nullptr) {
    failure.posted = note->posted;
    failure.key = note->key;
    failure.address = note->address;
  }
  static_cast<void>(sink_->on_failure(failure));
} catch (const std::bad_alloc&) {
}

void FailureRecord::report_end(ConnectionEventType type, const hca::Address& remote, std::uint64_t service_id) try {
  const bool is_orderly = type == ConnectionEventType::kEstablished || type == ConnectionEventType::kDisconnected;
  if (is_orderly || !takes_report()) return;
  Failure failure;
  failure.rule = hca::rule_of(type);
  failure.carrier = "verbs";
  failure.remote = remote;
  failure.service_id = service_id;
  if (type == ConnectionEventType::kBroken) {
    failure.rule = is_peers_fault() ? Rule::kDeviceReport : Rule::kPeerLost;
    failure.device_words = "a request of the peer's that it has refused";
  }
  static_cast<void>(sink_->on_failure(failure));
} catch (const std::bad_alloc&) {
}

}  // namespace softdat::verbs
