// SPDX-License-Identifier: BSD-2-Clause
// Posts of two queue pairs share no lock.
#include "simnic/send_posts.h"

#include <mutex>
#include <new>
#include <utility>

#include "hca/request_rules.h"
#include "simnic/memory_window.h"

namespace softdat::simnic {
namespace {

// Copied in some microseconds, in which something may have come.
constexpr std::uint64_t kLongCopies = std::uint64_t{256} << 10;

// In place and field by field: a copy, of `found` too, would wait until the processor has put together the small stores
// that it reads.
inline void write_entry(const hca::SendRequest& request, std::uint32_t length, const ResolvedSegment& found,
                        SendEntry& entry) {
  new (&entry) SendEntry{.wr_id = request.wr_id,
                         .remote_address = request.remote_address,
                         .operand = hca::is_atomic(request.opcode) ? request.operand : request.immediate,
                         .compare = request.compare,
                         .message_end = 0,
                         .rkey = request.rkey,
                         .length = length,
                         .flags = static_cast<std::uint16_t>(request.flags),
                         .segment_count = static_cast<std::uint8_t>(request.local.size()),
                         .opcode = request.opcode,
                         .found = {found.removals, found.place}};
}

// A read into a window may be posted behind the bind that will open it. Whether it will is asked first: a bind
// carried out meanwhile has then published its key by the time of the check.
[[gnu::noinline]] AccessError check_written(const MemoryView& memory, const hca::SendRequest& request,
                                            ResolvedSegment& found) {
  const bool may_open_yet = request.opcode == hca::SendOpcode::kReadToWindow && !request.local.empty() &&
                            memory.table.is_reserved(request.local.front().lkey);
  const AccessError fault = check_segments(memory, request.local, local_rights(request.opcode), found);
  return fault == AccessError::kBadKey && may_open_yet ? AccessError::kNone : fault;
}

// With the posting lock.
inline AccessError check_local(const MemoryView& memory, RegionCache& regions, const hca::SendRequest& request,
                               ResolvedSegment& found) {
  if (hca::written_right(request.opcode) != 0) return check_written(memory, request, found);
  return regions.check(memory, request.local, kLocalRead, found);
}

// Returns the new key; 0 for an unbind.
hca::Result<std::uint32_t> reserve_key(const MemoryView& memory, const hca::BindRequest& request,
                                       WindowState& window) try {
  if (request.length == 0) return std::uint32_t{0};
  const bool is_narrow = window.scope() == hca::WindowScope::kQueuePair;
  std::uint32_t key = 0;
  const AccessError fault = memory.table.reserve({.region = request.lkey,
                                                  .address = request.address,
                                                  .length = request.length,
                                                  .access = request.access,
                                                  .is_zero_based = (request.access & hca::kZeroBased) != 0,
                                                  .domain = window.domain(),
                                                  .stream = is_narrow ? memory.who.stream : 0,
                                                  .note = request.note,
                                                  .window = &window},
                                                 key);
  if (fault != AccessError::kNone) return hca::fail(error_of(fault));
  if (key == 0) return hca::fail(hca::Error::kLimitReached);
  return key;
} catch (const std::bad_alloc&) {  // one key in a thousand begins a new chunk of slots
  return hca::fail(hca::Error::kNoMemory);
}

}  // namespace

// With the posting lock.
[[gnu::always_inline]] inline bool SendPosts::may_go_at_once(const hca::SendRequest& request, std::uint32_t length,
                                                             WorkQueue<SendEntry>& queue) const {
  // Asked in one expression, GCC would read both as one word, and wait for the small stores that wrote it.
  if (request.opcode != hca::SendOpcode::kSend) return false;
  if ((request.flags & hca::kFence) != 0) return false;
  return !direct_.may_place(length) && !queue.is_full();
}

// With the posting lock.
[[gnu::always_inline]] inline hca::Result<SendPosts::Posted> SendPosts::carry_out_or_queue(
    const hca::SendRequest& request, std::uint32_t length, const ResolvedSegment& found, Requester& requester) {
  if (direct_.is_open() && post_directly(request, length, requester)) return Posted::kDone;
  auto& queue = requester.queue();
  if (queue.is_full()) return hca::fail(hca::Error::kLimitReached);
  SendEntry& entry = queue.free_slot();
  write_entry(request, length, found, entry);
  if (direct_.is_open()) place_directly(request, entry, queue);
  const bool is_late = (entry.flags & kPlaced) != 0 && has_copied_for_long(length);
  queue.publish(request.local);
  return is_late ? Posted::kQueuedLate : Posted::kQueued;
}

hca::Result<SendPosts::Posted> SendPosts::post(const hca::SendRequest& request, MessagePath& path) {
  const std::lock_guard lock(mutex_);
  // A reset changes the state under this lock, so nothing slips into a new life.
  const hca::QueuePairState state = state_.load(std::memory_order_seq_cst);
  if (!hca::takes_sends(state)) return hca::fail(hca::Error::kInvalidState);
  const std::uint64_t length = hca::total_length(request.local);
  if (!hca::is_well_formed(request, length) || request.local.size() > max_segments_) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  if (hca::awaits_response(request.opcode) && ord_ == 0) return hca::fail(hca::Error::kLimitReached);
  ResolvedSegment found;
  const AccessError fault = check_local(memory_, regions_, request, found);
  if (fault != AccessError::kNone) return hca::fail(error_of(fault));
  const auto bytes = static_cast<std::uint32_t>(length);
  auto& queue = path.requester().queue();
  const auto enqueue_sent = [&] {
    write_entry(request, bytes, found, queue.free_slot());
    if (direct_.is_open()) direct_.note_queued(request.opcode, queue.posted());
    queue.publish(request.local);
  };
  transport::ShortSend short_send{.opcode = send_opcode(request.flags), .payload = {found.place, bytes}};
  // Fast path: a short send over shared memory needs the lane alone.
  if (may_go_at_once(request, bytes, queue) && path.send_at_once(short_send, found, enqueue_sent)) [[likely]] {
    counters_.add(hca::Transfer::kPostSend, length);
    return Posted::kSent;
  }
  const auto posted = carry_out_or_queue(request, bytes, found, path.requester());
  if (posted) counters_.add(transfer_of(request.opcode), length);
  return posted;
}

hca::Result<std::uint32_t> SendPosts::bind(const hca::BindRequest& request, Requester& requester) {
  if (!hca::takes_sends(state_.load(std::memory_order_seq_cst))) return hca::fail(hca::Error::kInvalidState);
  if (!hca::is_well_formed(request)) return hca::fail(hca::Error::kInvalidArgument);
  WindowState& window = static_cast<MemoryWindow*>(request.window)->state();
  if (window.domain() != memory_.who.domain) return hca::fail(hca::Error::kWrongDomain);
  const std::lock_guard lock(mutex_);
  if (!hca::takes_sends(state_.load(std::memory_order_seq_cst))) return hca::fail(hca::Error::kInvalidState);
  auto& queue = requester.queue();
  if (queue.is_full()) return hca::fail(hca::Error::kLimitReached);
  const auto key = reserve_key(memory_, request, window);
  if (!key) return key;
  // The entry names the window's state by address; WindowBinds::finish() lets go of it.
  window.retain();
  const SendEntry entry{.wr_id = request.wr_id,
                        .remote_address = reinterpret_cast<std::uintptr_t>(&window),
                        .operand = 0,
                        .compare = 0,
                        .message_end = 0,
                        .rkey = key.value(),
                        .length = 0,
                        .flags = static_cast<std::uint16_t>(request.flags),
                        .segment_count = 0,
                        .opcode = hca::SendOpcode::kBind};
  if (direct_.is_open()) direct_.note_queued(entry.opcode, queue.posted());
  queue.note_caller();
  queue.push(entry, {});
  counters_.add(hca::Transfer::kPostBind, 0);
  return key;
}

// With the posting lock. A request may go directly only when everything before it is over, completions included, so
// that order is kept.
bool SendPosts::post_directly(const hca::SendRequest& request, std::uint32_t length, Requester& requester) {
  if (!requester.completions().is_settled() ||
      state_.load(std::memory_order_seq_cst) != hca::QueuePairState::kConnected)
    return false;
  if (!requester.completions().has_room_for(request) || !direct_.carry_out(request, length)) return false;
  requester.completions().complete_directly(request, length);
  return true;
}

// With the posting lock: whether it is time to look at what has come meanwhile.
bool SendPosts::has_copied_for_long(std::uint64_t length) {
  copied_ += length;
  if (copied_ < kLongCopies) return false;
  copied_ = 0;
  return true;
}

// With the posting lock, when there is room in the queue: puts the payload where it is to go, if possible, and notes
// that the request is queued.
void SendPosts::place_directly(const hca::SendRequest& request, SendEntry& entry, const WorkQueue<SendEntry>& queue) {
  const bool is_placed = entry.opcode == hca::SendOpcode::kSend &&
                         state_.load(std::memory_order_seq_cst) == hca::QueuePairState::kConnected &&
                         direct_.place(request, entry.length, queue.completed());
  if (is_placed) entry.flags = static_cast<std::uint16_t>(entry.flags | kPlaced);
  // Key 0 opens nothing: the request fails, and is not carried out twice.
  if (direct_.is_in_doubt()) [[unlikely]]
    entry.rkey = 0;
  direct_.note_queued(entry.opcode, queue.posted());
}

void SendPosts::begin_direct(std::shared_ptr<direct::Peer> peer, const transport::Offer& offer, bool may_read) {
  base::require_lock(locks::kBaton);
  const std::lock_guard lock(mutex_);
  direct_.begin(std::move(peer), offer, may_read);
}

void SendPosts::end_direct() {
  base::require_lock(locks::kBaton);
  // Without the lock: a poster that copies sees it between two pieces, and stops. Then the lock waits for that poster.
  direct_.close();
  const std::lock_guard lock(mutex_);
  direct_.drop();
}

}  // namespace softdat::simnic
