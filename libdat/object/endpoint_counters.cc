// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_counters.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "hca/counters.h"
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

std::uint64_t count_of(const hca::TransferCounts& transfers, const Shown& shown) {
  const hca::TransferCount count = transfers[static_cast<std::size_t>(shown.transfer)];
  return shown.bytes ? count.bytes : count.number;
}

static_assert(hca::kTransfers == base::kCountedTransfers);
static_assert(hca::kCompletionStatuses == base::kCountedStatuses);

// The limits and marks of the present queue pair.
void add_to(base::EpRecord& record, const hca::QueuePairCounts& counts) {
  record.send_capacity = counts.send_capacity;
  record.recv_capacity = counts.recv_capacity;
  record.send_high_water = counts.send_high_water;
  record.recv_high_water = counts.recv_high_water;
}

bool is_request(hca::Transfer transfer) {
  return (transfer <= hca::Transfer::kPostFetchAdd && transfer != hca::Transfer::kPostRecv) ||
         transfer == hca::Transfer::kPostBind;
}

std::uint64_t posted_requests(const base::CountedTransfers& transfers) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (is_request(static_cast<hca::Transfer>(i))) sum += transfers[i].number;
  }
  return sum;
}

std::uint64_t received(const base::CountedTransfers& transfers) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const auto transfer = static_cast<hca::Transfer>(i);
    if (!is_request(transfer) && transfer != hca::Transfer::kPostRecv) sum += transfers[i].number;
  }
  return sum;
}

std::uint64_t failures(const base::CountedStatuses& statuses) {
  return std::accumulate(statuses.begin(), statuses.end(), std::uint64_t{0});
}

std::uint64_t id_of(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

}  // namespace

std::uint64_t EndpointCounters::counter(std::size_t which, bool reset) {
  if (which < ep_counter::kFirstTransfer) return counters_.since_reset(which, counters_.total(which), reset);
  // dat_ep_modify() may have replaced the queue pair, so all count.
  const auto total = [this, which] {
    const std::lock_guard lock(mutex_);
    return count_of(bindings_.counts_locked().transfers, kShown[which - ep_counter::kFirstTransfer]);
  };
  return counters_.since_reset(which, total(), reset);
}

void EndpointCounters::report_transfers() const {
  std::lock_guard lock(mutex_);
  count_transfers(bindings_.counts_locked().transfers);
}

base::EndpointSums EndpointCounters::sums() const {
  const std::lock_guard lock(mutex_);
  const hca::CountSums all = bindings_.counts_locked();
  base::EndpointSums result{};
  result.failed_requests = all.counts.failed_requests;
  result.failed_receives = all.counts.failed_receives;
  result.rnr_waits = all.counts.rnr_waits;
  result.resends = all.counts.resends;
  result.connect_retries = all.counts.connect_retries;
  for (std::size_t i = 0; i < all.transfers.size(); ++i) {
    result.transfers[i] = {all.transfers[i].number, all.transfers[i].bytes};
  }
  return result;
}

// The publisher's thread alone calls this: shown_requests_ has no lock.
base::EpRecord EndpointCounters::record(const EndpointParameters& now) {
  base::EpRecord record{};
  record.id = id_of(ep_.handle());
  record.ia = id_of(now.ia);
  record.request_evd = id_of(now.request_evd);
  record.recv_evd = id_of(now.recv_evd);
  record.connect_evd = id_of(now.connect_evd);
  record.srq = id_of(now.srq);
  record.state_ns = static_cast<std::uint64_t>(changed_at_.load(std::memory_order_relaxed));
  record.state = static_cast<std::uint32_t>(now.state);
  record.remote_qual = now.remote_port_qual;
  record.is_datagram = bindings_.is_datagram();
  record.connects = counters_.total(ep_counter::kConnect);
  record.disconnects = counters_.total(ep_counter::kDisconnect);
  if (const hca::QueuePair* const queue_pair = bindings_.queue_pair()) {
    record.sends_outstanding = queue_pair->sends_outstanding();
    record.recvs_outstanding = queue_pair->recvs_outstanding();
    if (const auto* const counting = dynamic_cast<const hca::CountingQueuePair*>(queue_pair)) {
      add_to(record, counting->counts());
    }
  }
  {
    std::lock_guard lock(mutex_);
    base::set_text(record.remote, address_text(*now.remote_address));
  }
  record.sums = sums();
  // The two numbers are of different moments, so their difference may go back a little; the sum that is shown may not.
  const std::uint64_t over = posted_requests(record.sums.transfers) - failures(record.sums.failed_requests);
  shown_requests_ = std::max(shown_requests_, over - std::min<std::uint64_t>(over, record.sends_outstanding));
  record.completed_requests = shown_requests_;
  record.completed_receives = received(record.sums.transfers);
  return record;
}

}  // namespace softdat::object
