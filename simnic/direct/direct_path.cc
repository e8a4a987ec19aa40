// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/direct/direct_path.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ordered_copy.h"
#include "simnic/atomic_operation.h"

namespace softdat::simnic {
namespace {

using direct::Grip;
using direct::kMostPinned;
using direct::Target;

constexpr bool takes_receive(hca::SendOpcode opcode) {
  return opcode == hca::SendOpcode::kSend || opcode == hca::SendOpcode::kSendInvalidate ||
         opcode == hca::SendOpcode::kWriteWithImmediate;
}

// The bytes of a list of segments, one run after the other, as long as their keys and our pin hold.
class Runs {
 public:
  Runs(const MemoryView& memory, hca::AccessMask rights, std::span<const hca::Segment> segments, std::uint64_t skip)
      : memory_(memory), rights_(rights), segments_(segments), skip_(skip) {}

  // The next run, of at most so many bytes (not 0); empty when it is not ours to touch any more.
  std::span<std::byte> next(std::uint64_t most) {
    while (skip_ >= segments_.front().length) {
      skip_ -= segments_.front().length;
      segments_ = segments_.subspan(1);
    }
    const hca::Segment& segment = segments_.front();
    std::byte* data = nullptr;
    // Our own pin is held (Grip), so a key that is found stays usable until the piece is done: PinDrain::drain_own()
    // waits.
    if (memory_.locate(segment.lkey, segment.address, segment.length, rights_, data) != AccessError::kNone) return {};
    const std::uint64_t length = std::min(most, segment.length - skip_);
    data += skip_;
    skip_ += length;
    return {data, length};
  }

 private:
  const MemoryView& memory_;
  const hca::AccessMask rights_;
  std::span<const hca::Segment> segments_;
  std::uint64_t skip_;
};

enum class Way { kThere, kHere };

// Moves the runs from byte `done` up to `end`; `remote` is the peer's place of the first of these. False when
// a run is not ours to touch, or faults.
inline bool copy_runs(Runs& runs, Way way, std::byte* remote, std::uint64_t end, std::uint64_t& done) {
  while (done < end) {
    const std::span<std::byte> local = runs.next(end - done);
    if (local.empty()) return false;
    std::byte* const to = way == Way::kHere ? local.data() : remote;
    const std::byte* const from = way == Way::kHere ? remote : local.data();
    if (!base::copy_ordered(to, from, local.size())) return false;
    remote += local.size();
    done += local.size();
  }
  return true;
}

}  // namespace

DirectPath::DirectPath(direct::DirectContext* context, const MemoryView& memory) : context_(context), memory_(memory) {
  if (context_ != nullptr && context_->is_usable())
    qp_entry_ = context_->key_directory().take_qp_entry(memory_.who.domain);
}

DirectPath::~DirectPath() {
  if (!qp_entry_) return;
  close();
  settle();
  context_->key_directory().give_qp_entry_back(*qp_entry_);
}

void DirectPath::describe(transport::Offer& offer, std::uint64_t first_receive) {
  if (!qp_entry_ || !context_->is_usable()) return;
  connection_ = context_->next_connection();
  offer.direct_qp_entry = *qp_entry_;
  offer.direct_connection = connection_;
  offer.direct_receives = first_receive;
}

void DirectPath::begin(std::shared_ptr<direct::Peer> peer, const transport::Offer& offer, bool may_read) {
  const bool is_offered = peer != nullptr && offer.direct_connection != 0;
  const auto door = is_offered ? peer->find_door(offer.direct_qp_entry, offer.direct_connection) : std::nullopt;
  door_ = door.value_or(direct::Door{});
  peer_ = door ? std::move(peer) : nullptr;
  may_read_ = may_read;
  next_receive_ = offer.direct_receives;
  reads_until_ = writes_until_ = 0;
  is_in_doubt_ = false;
  is_closing_.store(false, std::memory_order_relaxed);
  // Ours opens whether or not the peer's is open yet: each side's QP entry admits the other.
  if (qp_entry_ && peer_) context_->key_directory().open_qp_entry(*qp_entry_, connection_);
}

void DirectPath::close() {
  is_closing_.store(true, std::memory_order_relaxed);
  if (qp_entry_ && context_->is_usable()) context_->key_directory().close_qp_entry(*qp_entry_);
  // For settle(), which may run after drop() has let the peer go.
  if (peer_ != nullptr) *closed_.lock() = {connection_, peer_};
}

void DirectPath::drop() {
  peer_.reset();
}

// The end of a connection has several events, and each calls this. The first call waits.
void DirectPath::settle() {
  const Closed closed = *closed_.lock();
  if (!qp_entry_ || settled_.load(std::memory_order_acquire) == closed.connection) return;
  if (!context_->await_qp_entry(*qp_entry_, closed.peer.lock())) return;
  settled_.store(closed.connection, std::memory_order_release);
}

// With the posting lock. False: declined. A part of a write or read may have been copied; the message that follows
// repeats it. An atomic is never repeated (is_in_doubt_).
bool DirectPath::carry_out(const hca::SendRequest& request, std::uint32_t length) {
  const bool is_atomic = hca::is_atomic(request.opcode);
  const bool is_read = request.opcode == hca::SendOpcode::kRead || is_atomic;
  if (!is_read && request.opcode != hca::SendOpcode::kWrite) return false;
  if (length == 0 || (is_read && !may_read_) || !context_->may_reach()) return false;
  if (is_atomic) return carry_out_atomic(request);
  for (std::uint64_t done = 0; move_piece(request, length, done);) {
    if (done == length) return true;
    // The connection is closing, and its closer waits for the posting lock.
    if (is_closing_.load(std::memory_order_relaxed)) break;
  }
  return false;
}

// The word is changed only once it is known where the answer goes.
bool DirectPath::carry_out_atomic(const hca::SendRequest& request) {
  std::uint64_t original = 0;
  const Target target{
      .key = request.rkey, .address = request.remote_address, .length = sizeof original, .rights = hca::kRemoteAtomic};
  const Grip grip(*peer_, context_->key_directory(), target, 0, sizeof original, door_);
  if (!grip || reinterpret_cast<std::uintptr_t>(grip.data()) % sizeof original != 0) return false;
  std::array<std::span<std::byte>, sizeof original> sinks;
  Runs runs(memory_, local_rights(request.opcode), request.local, 0);
  std::size_t count = 0;
  // All sinks are checked before the peer's word changes: afterwards nothing may fail.
  for (std::size_t room = 0; room < sizeof original; room += sinks[count++].size()) {
    sinks[count] = runs.next(sizeof original - room);
    if (sinks[count].empty() || !base::is_writable(sinks[count].data(), sinks[count].size())) return false;
  }
  if (grip.was_cut()) return false;  // a message can still carry it out
  const auto found =
      simnic::carry_out_atomic(make_atomic(request.opcode, request.operand, request.compare), grip.data());
  if (!found) return false;
  original = *found;
  if (grip.was_cut()) {
    is_in_doubt_ = true;
    return false;
  }
  const auto* from = reinterpret_cast<const std::byte*>(&original);
  for (const std::span<std::byte> sink : std::span(sinks).first(count)) {
    // The sink has become inaccessible since the check. The operation has been carried out and must not be repeated.
    if (!base::copy_ordered(sink.data(), from, sink.size())) {
      is_in_doubt_ = true;
      return false;
    }
    from += sink.size();
  }
  return true;
}

// Everything is checked anew for each piece, with the pin held that makes the answers binding: the peer's key, whole,
// and our own.
bool DirectPath::move_piece(const hca::SendRequest& request, std::uint32_t length, std::uint64_t& done) {
  const bool is_read = request.opcode == hca::SendOpcode::kRead;
  const Target target{.key = request.rkey,
                      .address = request.remote_address,
                      .length = length,
                      .rights = is_read ? hca::kRemoteRead : hca::kRemoteWrite};
  const std::uint64_t end = std::min<std::uint64_t>(length, done + kMostPinned);
  const Grip grip(*peer_, context_->key_directory(), target, done, end - done, door_);
  if (!grip) return false;
  Runs runs(memory_, local_rights(request.opcode), request.local, done);
  return copy_runs(runs, is_read ? Way::kHere : Way::kThere, grip.data(), end, done) && !grip.was_cut();
}

// Earlier sends may still be under way as messages, and be repeated for want of a receive: this send's receive was
// posted after theirs, so they find one. Earlier writes must be over, because they may be meant for the same bytes. A
// fenced send waits for earlier reads, too.
bool DirectPath::place(const hca::SendRequest& request, std::uint32_t length, std::uint64_t completed) {
  if (peer_ == nullptr || length < kLeastPlaced || completed < writes_until_ || !context_->may_reach()) return false;
  if ((request.flags & hca::kFence) != 0 && completed < reads_until_) return false;
  for (std::uint64_t done = 0; place_piece(request, length, done);) {
    if (done == length) return true;
    if (is_closing_.load(std::memory_order_relaxed)) break;
  }
  return false;
}

// A piece ends with the peer's segment, and is bounded as in move_piece(). What the receive says holds as long as the
// QP entry is open for this connection, which is seen under the pin.
bool DirectPath::place_piece(const hca::SendRequest& request, std::uint32_t length, std::uint64_t& done) {
  direct::Receive receive;
  if (!direct::Peer::read_receive(door_, next_receive_, receive)) return false;
  std::uint64_t room = 0;
  std::uint64_t before = 0;  // of the segment that the piece begins in
  std::size_t at = 0;
  for (std::size_t i = 0; i < receive.count; ++i) {
    if (room <= done) {
      at = i;
      before = room;
    }
    room += receive.segments[i].length;
  }
  if (room < length) return false;
  const auto& into = receive.segments[at];
  const std::uint64_t skip = done - before;
  const std::uint64_t piece = std::min({into.length - skip, length - done, kMostPinned});
  const Target target{.key = into.key, .address = into.address + skip, .length = piece, .rights = hca::kLocalWrite};
  const Grip grip(*peer_, context_->key_directory(), target, 0, piece, door_);
  if (!grip) return false;
  Runs runs(memory_, local_rights(request.opcode), request.local, done);
  return copy_runs(runs, Way::kThere, grip.data(), done + piece, done) && !grip.was_cut();
}

void DirectPath::note_queued(hca::SendOpcode opcode, std::uint64_t number) {
  // Every send takes the next receive of the peer, by whatever way it goes, so both sides count alike.
  if (takes_receive(opcode)) ++next_receive_;
  if (hca::awaits_response(opcode)) reads_until_ = number + 1;
  if (opcode == hca::SendOpcode::kWrite || opcode == hca::SendOpcode::kWriteWithImmediate) writes_until_ = number + 1;
}

void DirectPath::publish_receive(std::uint64_t number, std::uint64_t completed,
                                 std::span<const hca::Segment> segments) {
  using namespace direct;
  // A receive that is too far ahead, or has too many segments, is not published; a send for it travels in its message.
  if (!qp_entry_ || number - completed >= kReceives || segments.size() > kReceiveSegments || !context_->is_usable())
    return;
  Receive receive;
  for (const hca::Segment& segment : segments) {
    receive.segments[receive.count++] = {.address = segment.address, .length = segment.length, .key = segment.lkey};
  }
  context_->key_directory().publish_receive(*qp_entry_, number, receive);
}

}  // namespace softdat::simnic
