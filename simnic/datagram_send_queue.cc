// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/datagram_send_queue.h"

#include <algorithm>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/narrow.h"
#include "base/ordered_copy.h"
#include "simnic/address_handle.h"
#include "simnic/fault.h"

namespace softdat::simnic {
namespace {

using hca::CompletionStatus;

// False without memory.
bool resize(std::vector<std::byte>& bytes, std::size_t size) try {
  bytes.resize(size);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// False: the consumer's memory faults, or the list was too short.
bool gather(const transport::SliceList& slices, std::span<std::byte> bytes) {
  for (const transport::Slice& slice : slices.slices()) {
    const std::size_t part = std::min(slice.length, bytes.size());
    if (!base::copy_in(bytes.data(), slice.data, part)) return false;
    bytes = bytes.subspan(part);
  }
  return bytes.empty();
}

}  // namespace

DatagramSendQueue::DatagramSendQueue(const hca::QueuePairConfig& config, const hca::QueuePairLimits& limits,
                                     const MemoryView& memory, hca::TransferCounters& counters)
    : memory_(memory), counters_(counters), queue_(limits.send_wr, limits.send_sge), feed_(send_feed_of(config)) {}

hca::Outcome DatagramSendQueue::post(const hca::DatagramRequest& request) {
  const std::uint64_t length = hca::total_length(request.local);
  if (request.peer == nullptr || (request.flags & ~hca::kSendFlags) != 0 || length > kMaxDatagram ||
      request.local.size() > queue_.max_segments()) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  const AccessError fault = check_segments(memory_, request.local, kLocalRead);
  if (fault != AccessError::kNone) return hca::fail(error_of(fault));
  const Entry entry{.wr_id = request.wr_id,
                    .link = static_cast<const AddressHandle*>(request.peer)->link_number(),
                    .qp_number = request.qp_number,
                    .flags = request.flags,
                    .length = base::narrow<std::uint32_t>(length),
                    .segment_count = base::narrow<std::uint16_t>(request.local.size())};
  // Only the push needs the posting lock; the checks above read the key slots, which need none.
  const std::lock_guard lock(mutex_);
  if (queue_.is_full()) return hca::fail(hca::Error::kLimitReached);
  queue_.push(entry, request.local);
  counters_.add(hca::Transfer::kPostDatagram, length);
  return hca::Done{};
}

void DatagramSendQueue::read_counts(hca::QueuePairCounts& to) const {
  to.send_capacity = queue_.capacity();
  to.send_high_water = queue_.high_water();
}

void DatagramSendQueue::transmit_oldest(const DatagramHead& source, const DatagramSwitch& datagrams) {
  base::require_lock(locks::kBaton);
  const std::uint64_t number = queue_.completed();
  complete_oldest(transmit(queue_.at(number), number, source, datagrams));
}

// The datagram is a copy from here on, so it completes at once, whatever becomes of it: one for which there is no
// memory is lost as any other may be.
CompletionStatus DatagramSendQueue::transmit(const Entry& entry, std::uint64_t number, const DatagramHead& source,
                                             const DatagramSwitch& datagrams) const {
  base::require_lock(locks::kBaton);
  transport::SliceList slices;
  const AccessError fault = resolve(memory_, queue_.segments(number), kLocalRead, 0, entry.length, slices);
  if (fault != AccessError::kNone) return CompletionStatus::kLocalProtection;
  // By number, because the address handle and its link may have gone since the post.
  DatagramLink* const link = datagrams.find_link(entry.link);
  std::vector<std::byte> datagram;
  if (link == nullptr || !resize(datagram, kDatagramHeadSize + entry.length)) return CompletionStatus::kSuccess;
  DatagramHead head = source;
  head.to = entry.qp_number;
  head.length = entry.length;
  head.is_solicited = (entry.flags & hca::kSolicited) != 0;
  std::ranges::copy(encode_datagram_head(head), datagram.begin());
  if (!gather(slices, std::span(datagram).subspan(kDatagramHeadSize))) return CompletionStatus::kLocalProtection;
  link->send(std::move(datagram));
  return CompletionStatus::kSuccess;
}

// A failure always completes, an unsignaled success never.
void DatagramSendQueue::complete_oldest(CompletionStatus status) {
  base::require_lock(locks::kBaton);
  const Entry entry = queue_.pop();
  const bool is_success = status == CompletionStatus::kSuccess;
  if (!is_success) counters_.fail_request(status);
  if (is_success && (entry.flags & hca::kSignaled) == 0) return;
  feed_.push_with_baton({.wr_id = entry.wr_id,
                         .qp_context = 0,
                         .length = is_success ? entry.length : 0,
                         .status = status,
                         .opcode = hca::CompletionOpcode::kSendDatagram,
                         .solicited = false},
                        (entry.flags & hca::kQuiet) != 0);
}

void DatagramSendQueue::flush() {
  base::require_lock(locks::kBaton);
  while (!queue_.is_empty()) complete_oldest(CompletionStatus::kFlushed);
}

void DatagramSendQueue::discard() {
  base::require_lock(locks::kBaton);
  while (!queue_.is_empty()) queue_.pop();
}

}  // namespace softdat::simnic
