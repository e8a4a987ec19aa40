// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/datagram_receive_queue.h"

#include <algorithm>

#include "base/ordered_copy.h"
#include "simnic/receive_request.h"

namespace softdat::simnic {
namespace {

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
    : shared_(shared_queue_of(config)),
      memory_(shared_ == nullptr ? memory : shared_->memory()),
      counters_(counters),
      queue_(limits.recv_wr, limits.recv_sge),
      feed_(recv_feed_of(config)) {}

// Under the posting lock alone. The queue pair then decides whether to ring.
hca::Outcome DatagramReceiveQueue::post(const hca::RecvRequest& request) {
  if (shared_ != nullptr) return hca::fail(hca::Error::kInvalidState);
  const std::lock_guard lock(mutex_);
  ResolvedSegment found;
  const hca::Outcome outcome = check_receive(memory_, regions_, request, queue_.max_segments(), found);
  if (!outcome) return outcome;
  if (queue_.is_full()) return hca::fail(hca::Error::kLimitReached);
  counters_.add(hca::Transfer::kPostRecv, push_receive(request, found, queue_));
  return hca::Done{};
}

void DatagramReceiveQueue::read_counts(hca::QueuePairCounts& to) const {
  to.recv_capacity = queue_.capacity();
  to.recv_high_water = queue_.high_water();
}

void DatagramReceiveQueue::join() {
  if (shared_ != nullptr) shared_->join();
}

void DatagramReceiveQueue::leave(Task& queue_pair) {
  if (shared_ != nullptr) shared_->leave(queue_pair);
}

// A datagram does not wait for a receive, so the shared queue need not run the queue pair when there is one again.
bool DatagramReceiveQueue::has_receive(Task& queue_pair) {
  base::require_lock(locks::kBaton);
  if (!queue_.is_empty()) return true;
  return shared_ != nullptr && !shared_->is_empty() && shared_->take(queue_, queue_pair);
}

bool DatagramReceiveQueue::deliver(const DatagramHead& head, std::span<const std::byte> prefix,
                                   std::span<const std::byte> data, Task& queue_pair) {
  base::require_lock(locks::kBaton);
  // No receive, or one that is too short: the datagram is dropped without a word, as InfiniBand's unreliable datagrams
  // are.
  if (!has_receive(queue_pair)) return true;
  const std::uint64_t number = queue_.completed();
  const std::uint32_t length = hca::kDatagramPrefix + head.length;
  if (queue_.at(number).length < length) return true;
  transport::SliceList front, rest;
  const auto segments = queue_.segments(number);
  const bool is_ours =
      resolve(memory_, segments, hca::kLocalWrite, 0, prefix.size(), front) == AccessError::kNone &&
      resolve(memory_, segments, hca::kLocalWrite, prefix.size(), head.length, rest) == AccessError::kNone;
  // The prefix of 40 bytes comes first in the receive, then the data (docs/WIRE.md, "Datagrams").
  const bool is_placed = is_ours && scatter(prefix, front) && scatter(data, rest);
  complete_oldest(is_placed ? CompletionStatus::kSuccess : CompletionStatus::kLocalProtection, is_placed ? length : 0,
                  head.is_solicited);
  return !feed_.has_lost();
}

// A completion that finds no room is lost; the feed notes it, and the queue pair breaks (take_loss).
void DatagramReceiveQueue::complete_oldest(CompletionStatus status, std::uint32_t length, bool is_solicited) {
  base::require_lock(locks::kBaton);
  const RecvEntry entry = queue_.pop();
  if (status == CompletionStatus::kSuccess) [[likely]]
    counters_.add(hca::Transfer::kRecvDatagram, length);
  else
    counters_.fail_receive(status);
  feed_.push_with_baton({.wr_id = entry.wr_id,
                         .qp_context = 0,
                         .length = length,
                         .status = status,
                         .opcode = hca::CompletionOpcode::kRecvDatagram,
                         .solicited = is_solicited,
                         .srq_account = shared_ == nullptr ? std::uint16_t{0} : shared_->account()},
                        (entry.flags & hca::kQuiet) != 0);
}

void DatagramReceiveQueue::flush() {
  base::require_lock(locks::kBaton);
  while (!queue_.is_empty()) complete_oldest(CompletionStatus::kFlushed, 0, false);
}

void DatagramReceiveQueue::discard() {
  base::require_lock(locks::kBaton);
  // A receive of a shared queue is charged to its account until its completion has been polled, so it must complete.
  if (shared_ != nullptr) return flush();
  while (!queue_.is_empty()) queue_.pop();
}

}  // namespace softdat::simnic
