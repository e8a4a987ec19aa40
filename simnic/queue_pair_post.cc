// SPDX-License-Identifier: BSD-2-Clause
// The consumer's way in: nothing here takes a lock that another queue pair's posts take.
#include <new>

#include "hca/request_rules.h"
#include "simnic/engine.h"
#include "simnic/memory_window.h"
#include "simnic/queue_pair.h"

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
                         .flags = request.flags,
                         .length = length,
                         .segment_count = static_cast<std::uint16_t>(request.local.size()),
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

// Returns the new key; 0 for an unbind. `stream` is the number of the queue pair.
hca::Result<std::uint32_t> reserve_key(MemoryTable& table, std::uint32_t stream, const hca::BindRequest& request,
                                       WindowState& window) {
  if (request.length == 0) return std::uint32_t{0};
  const bool is_narrow = window.scope() == hca::WindowScope::kQueuePair;
  std::uint32_t key = 0;
  const AccessError fault = table.reserve({.region = request.lkey,
                                           .address = request.address,
                                           .length = request.length,
                                           .access = request.access,
                                           .is_zero_based = (request.access & hca::kZeroBased) != 0,
                                           .domain = window.domain(),
                                           .stream = is_narrow ? stream : 0,
                                           .note = request.note,
                                           .window = &window},
                                          key);
  if (fault != AccessError::kNone) return hca::fail(error_of(fault));
  if (key == 0) return hca::fail(hca::Error::kLimitReached);
  return key;
}

}  // namespace

hca::Outcome QueuePair::post_send(const hca::SendRequest& request) {
  bool is_done = false;
  bool is_late = false;
  {
    const std::lock_guard lock(send_mutex_);
    // reset() changes the state under this lock, so nothing slips into a new life.
    if (!hca::takes_sends(state())) return hca::fail(hca::Error::kInvalidState);
    const std::uint64_t length = hca::total_length(request.local);
    if (!hca::is_well_formed(request, length) || request.local.size() > limits_.send_sge) {
      return hca::fail(hca::Error::kInvalidArgument);
    }
    if (hca::awaits_response(request.opcode) && limits_.ord == 0) return hca::fail(hca::Error::kLimitReached);
    ResolvedSegment found;
    const AccessError fault = check_local(memory_, send_regions_, request, found);
    if (fault != AccessError::kNone) return hca::fail(error_of(fault));
    const auto bytes = static_cast<std::uint32_t>(length);
    is_done = direct_.is_open() && post_directly(request, bytes);
    if (!is_done) {
      if (requester_.queue().is_full()) return hca::fail(hca::Error::kLimitReached);
      SendEntry& entry = requester_.queue().free_slot();
      write_entry(request, bytes, found, entry);
      if (direct_.is_open()) place_directly(request, entry);
      is_late = (entry.flags & kPlaced) != 0 && has_copied_for_long(bytes);
      requester_.queue().publish(request.local, std::memory_order_release);
    }
    counters_.add(transfer_of(request.opcode), length);
  }
  nic_.engine.note_post();
  if (is_done) return tell_of_done();
  const bool is_sent = request.opcode == hca::SendOpcode::kSend && send_at_once();
  if (!is_sent) nic_.engine.ring(*this);
  if (is_late) nic_.engine.catch_up();
  return hca::Done{};
}

// A request that is over leaves nothing for the engine to do, but for what adding its completion has brought about.
hca::Done QueuePair::tell_of_done() {
  if (requester_.completions().feed().has_lost()) nic_.engine.ring(*this);
  nic_.engine.have_news_told();
  return {};
}

// Sends all that has been posted, without the baton. False: something may be left, so the caller must ring the engine.
bool QueuePair::send_at_once() {
  if (!lane_.try_enter()) return false;
  bool is_done = false;
  while (is_plain_ && !is_done && send_short()) is_done = !requester_.has_more();
  lane_.leave();
  return is_done;
}

hca::Result<std::uint32_t> QueuePair::post_bind(const hca::BindRequest& request) {
  if (!hca::takes_sends(state())) return hca::fail(hca::Error::kInvalidState);
  if (!hca::is_well_formed(request)) return hca::fail(hca::Error::kInvalidArgument);
  WindowState& window = static_cast<MemoryWindow*>(request.window)->state();
  if (window.domain() != memory_.who.domain) return hca::fail(hca::Error::kWrongDomain);
  std::uint32_t key = 0;
  {
    const std::lock_guard lock(send_mutex_);
    if (!hca::takes_sends(state())) return hca::fail(hca::Error::kInvalidState);
    if (requester_.queue().is_full()) return hca::fail(hca::Error::kLimitReached);
    const auto reserved = reserve_key(memory_.table, nic_.stream, request, window);
    if (!reserved) return reserved;
    key = reserved.value();
    window.retain();
    const SendEntry entry{.wr_id = request.wr_id,
                          .remote_address = reinterpret_cast<std::uintptr_t>(&window),
                          .operand = 0,
                          .compare = 0,
                          .message_end = 0,
                          .rkey = key,
                          .flags = request.flags,
                          .length = 0,
                          .segment_count = 0,
                          .opcode = hca::SendOpcode::kBind};
    if (direct_.is_open()) direct_.note_queued(entry.opcode, requester_.queue().posted());
    requester_.queue().note_caller();
    requester_.queue().push(entry, {});
    counters_.add(hca::Transfer::kPostBind, 0);
  }
  nic_.engine.ring(*this);
  return key;
}

// With the posting lock. A request may go directly only when everything before it is over, completions included, so
// that order is kept.
bool QueuePair::post_directly(const hca::SendRequest& request, std::uint32_t length) {
  if (!requester_.completions().is_settled() || state() != hca::QueuePairState::kConnected) return false;
  if (!requester_.completions().has_room_for(request) || !direct_.carry_out(request, length)) return false;
  requester_.completions().complete_directly(request, length);
  return true;
}

// With the posting lock: whether it is time to look at what has come meanwhile.
bool QueuePair::has_copied_for_long(std::uint64_t length) {
  copied_ += length;
  if (copied_ < kLongCopies) return false;
  copied_ = 0;
  return true;
}

// With the posting lock, when there is room in the queue: puts the payload where it is to go, if possible, and notes
// that the request is queued.
void QueuePair::place_directly(const hca::SendRequest& request, SendEntry& entry) {
  const auto& queue = requester_.queue();
  const bool is_placed = entry.opcode == hca::SendOpcode::kSend && state() == hca::QueuePairState::kConnected &&
                         direct_.place(request, entry.length, queue.completed());
  if (is_placed) entry.flags |= kPlaced;
  // Key 0 opens nothing: the request fails, and is not carried out twice.
  if (direct_.is_in_doubt()) [[unlikely]]
    entry.rkey = 0;
  direct_.note_queued(entry.opcode, queue.posted());
}

}  // namespace softdat::simnic
