// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/datagram_receive_queue.h"

#include <algorithm>

#include "base/ordered_copy.h"
#include "simnic/receive_request.h"

namespace softdat::simnic {
namespace {

using hca::CompletionOpcode;
using hca::CompletionStatus;

// Copies from `bytes` to what the slices name; true when all of it had its place, and none of that faulted.
bool scatter(std::span<const std::byte> bytes, const transport::SliceList& slices) {
  for (const transport::Slice& slice : slices.slices()) {
    const std::size_t part = std::min(slice.length, bytes.size());
    if (!base::copy_ordered(slice.data, bytes.data(), part)) return false;
    bytes = bytes.subspan(part);
  }
  return bytes.empty();
}

SharedReceiveQueue* shared_queue_of(const hca::QueuePairConfig& config) {
  return static_cast<SharedReceiveQueue*>(config.srq);
}

}  // namespace

DatagramReceiveQueue::DatagramReceiveQueue(const hca::QueuePairConfig& config, const hca::QueuePairLimits& limits,
                                           const MemoryView& memory, hca::TransferCounters& counters)
    : memory_(config.srq == nullptr ? memory : shared_queue_of(config)->memory()),
      counters_(counters),
      completions_(recv_feed_of(config), limits, shared_queue_of(config), CompletionOpcode::kRecvDatagram, counters) {}

hca::Result<ReceivePosted> DatagramReceiveQueue::post(const hca::RecvRequest& request,
                                                      const std::atomic<hca::QueuePairState>& state) {
  if (completions_.shared() != nullptr) return hca::fail(hca::Error::kInvalidState);
  const std::lock_guard lock(mutex_);
  WorkQueue<RecvEntry>& queue = completions_.queue();
  ResolvedSegment found;
  const hca::Outcome outcome = check_receive(memory_, regions_, request, queue.max_segments(), found);
  if (!outcome) return hca::fail(outcome.reason());
  if (is_retired_) return hca::fail(hca::Error::kInvalidState);
  if (queue.is_full()) return hca::fail(hca::Error::kLimitReached);
  counters_.add(hca::Transfer::kPostRecv, push_receive(request, found, queue));
  const bool must_ring = state.load(std::memory_order_relaxed) == hca::QueuePairState::kError ||
                         limits_.is_alarming([this] { return outstanding(); });
  return must_ring ? ReceivePosted::kMustRing : ReceivePosted::kDone;
}

void DatagramReceiveQueue::read_counts(hca::QueuePairCounts& to) const {
  to.recv_capacity = completions_.queue().capacity();
  to.recv_high_water = completions_.queue().high_water();
}

void DatagramReceiveQueue::join() {
  if (SharedReceiveQueue* const shared = completions_.shared()) shared->join();
}

void DatagramReceiveQueue::leave(Task& queue_pair) {
  if (SharedReceiveQueue* const shared = completions_.shared()) shared->leave(queue_pair);
}

// A datagram does not wait for a receive, so the shared queue need not run the queue pair when there is one again.
bool DatagramReceiveQueue::has_receive(Task& queue_pair) {
  base::require_lock(locks::kBaton);
  WorkQueue<RecvEntry>& queue = completions_.queue();
  if (!queue.is_empty()) return true;
  SharedReceiveQueue* const shared = completions_.shared();
  return shared != nullptr && !shared->is_empty() && shared->take(queue, queue_pair);
}

bool DatagramReceiveQueue::deliver(const DatagramHead& head, std::span<const std::byte> prefix,
                                   std::span<const std::byte> data, Task& queue_pair) {
  base::require_lock(locks::kBaton);
  // No receive, or one that is too short: the datagram is dropped without a word, as InfiniBand's unreliable datagrams
  // are.
  if (!has_receive(queue_pair)) return true;
  const WorkQueue<RecvEntry>& queue = completions_.queue();
  const std::uint64_t number = queue.completed();
  const std::uint32_t length = hca::kDatagramPrefix + head.length;
  if (queue.at(number).length < length) return true;
  transport::SliceList front, rest;
  const auto segments = queue.segments(number);
  const bool is_ours =
      resolve(memory_, segments, hca::kLocalWrite, 0, prefix.size(), front) == AccessError::kNone &&
      resolve(memory_, segments, hca::kLocalWrite, prefix.size(), head.length, rest) == AccessError::kNone;
  // The prefix of 40 bytes comes first in the receive, then the data (docs/WIRE.md, "Datagrams").
  const bool is_placed = is_ours && scatter(prefix, front) && scatter(data, rest);
  completions_.complete_oldest(is_placed ? CompletionStatus::kSuccess : CompletionStatus::kLocalProtection,
                               is_placed ? length : 0, head.is_solicited, CompletionOpcode::kRecvDatagram);
  return !completions_.feed().has_lost();
}

}  // namespace softdat::simnic
