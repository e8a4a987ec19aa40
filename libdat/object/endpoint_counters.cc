// SPDX-License-Identifier: BSD-2-Clause
#include "hca/counters.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/run_report.h"

namespace softdat::object {
namespace {

// What of a transfer an endpoint's counter shows.
struct Shown {
  hca::Transfer transfer;
  bool bytes;
};

// From ep_counter::kFirstTransfer on, in the order of DAT_EP_COUNTERS.
constexpr Shown kShown[ep_counter::kCount - ep_counter::kFirstTransfer] = {
    {hca::Transfer::kPostSend, false},
    {hca::Transfer::kPostSend, true},
    {hca::Transfer::kPostDatagram, false},
    {hca::Transfer::kPostDatagram, true},
    {hca::Transfer::kPostRecv, false},
    {hca::Transfer::kPostRecv, true},
    {hca::Transfer::kPostWrite, false},
    {hca::Transfer::kPostWrite, true},
    {hca::Transfer::kPostWriteImmediate, false},
    {hca::Transfer::kPostWriteImmediate, true},
    {hca::Transfer::kPostRead, false},
    {hca::Transfer::kPostRead, true},
    {hca::Transfer::kPostCompareSwap, false},
    {hca::Transfer::kPostFetchAdd, false},
    {hca::Transfer::kRecv, false},
    {hca::Transfer::kRecv, true},
    {hca::Transfer::kRecvDatagram, false},
    {hca::Transfer::kRecvDatagram, true},
    {hca::Transfer::kRecvImmediate, false},
    {hca::Transfer::kRecvImmediate, true},
    {hca::Transfer::kRecvWriteImmediate, false},
    {hca::Transfer::kRecvWriteImmediate, true},
};

std::uint64_t count_of(const hca::QueuePair* queue_pair, const Shown& shown) {
  const auto* const counting = dynamic_cast<const hca::CountingQueuePair*>(queue_pair);
  if (counting == nullptr) return 0;
  const hca::TransferCount count = counting->transfer_counts()[static_cast<std::size_t>(shown.transfer)];
  return shown.bytes ? count.bytes : count.number;
}

}  // namespace

std::uint64_t Endpoint::counter(std::size_t which, bool reset) {
  std::uint64_t total = counters_.total(which);
  if (which >= ep_counter::kFirstTransfer) {
    std::lock_guard lock(mutex_);
    for (const auto& binding : bindings_) {
      total += count_of(binding->queue_pair(), kShown[which - ep_counter::kFirstTransfer]);
    }
  }
  return counters_.since_reset(which, total, reset);
}

void Endpoint::report_transfers() {
  std::lock_guard lock(mutex_);
  for (const auto& binding : bindings_) count_transfers(binding->queue_pair());
}

void Endpoint::count_ending(ConnectionResult result) {
  if (result != ConnectionResult::kEstablished && result != ConnectionResult::kDisconnected) count_broken_connection();
  const bool is_active = is_active_.load();
  switch (result) {
    case ConnectionResult::kEstablished:
      ia().count(is_active ? ia_counter::kReplyReceived : ia_counter::kReadyReceived);
      ia().count(is_active ? ia_counter::kActiveEstablished : ia_counter::kPassiveEstablished);
      if (is_active) ia().count(ia_counter::kReadySent);
      return;
    case ConnectionResult::kPeerRejected:
      return ia().count(ia_counter::kRejectReceived);
    case ConnectionResult::kNonPeerRejected:
      return ia().count(ia_counter::kRefused);
    case ConnectionResult::kDisconnected:
      return ia().count(ia_counter::kDisconnectReceived);
    case ConnectionResult::kTimedOut:
      return ia().count(ia_counter::kTimedOut);
    case ConnectionResult::kAcceptCompletionError:
    case ConnectionResult::kBroken:
    case ConnectionResult::kUnreachable:
      return ia().count(ia_counter::kError);
  }
}

}  // namespace softdat::object
