// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/outlet.h"

#include <algorithm>
#include <utility>

#include "base/ordered_copy.h"

namespace softdat::simnic::fault {
namespace {

using transport::Message;
using transport::PayloadSource;
using transport::SendResult;

// A payload with one bit inverted.
class DamagedPayload final : public PayloadSource {
 public:
  DamagedPayload(PayloadSource& inner, const transport::Damage& damage) : inner_(inner), damage_(damage) {}

  bool gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) override {
    transport::SliceList found;
    if (!inner_.gather(offset, length, found)) return false;
    for (const transport::Slice& slice : found.slices()) {
      const bool is_hit = damage_.place >= offset && damage_.place - offset < slice.length;
      if (is_hit) return add_hit(slice, static_cast<std::size_t>(damage_.place - offset), out);
      out.add(slice.data, slice.length);
      offset += slice.length;
    }
    return true;
  }

 private:
  // Adds what is before the byte, or else the byte alone; the rest is asked for later.
  bool add_hit(const transport::Slice& slice, std::size_t at, transport::SliceList& out) {
    if (at > 0) return out.add(slice.data, at);
    // A copy: the consumer's own memory must stay as it is.
    if (!base::copy_in(&changed_, slice.data, 1)) return false;
    changed_ ^= static_cast<std::byte>(1u << damage_.bit);
    return out.add(&changed_, 1);
  }

  PayloadSource& inner_;
  const transport::Damage damage_;
  std::byte changed_{};
};

}  // namespace

// The longest hold counts. One without end has no timer.
void Outlet::hold_until(base::Time time) {
  if (end_.is_over() || (is_held_ && time <= held_until_)) return;
  is_held_ = true;
  held_until_ = time;
  if (time == base::kNever) return alarm_.cancel_timer();
  FaultyCarrier& carrier = connection_.carrier();
  carrier.set(alarm_, std::max(time - carrier.now(), base::Duration::zero()));
}

void Outlet::hold_for(base::Duration time) {
  hold_until(base::deadline_after(connection_.carrier().now(), time));
}

void Outlet::open() {
  is_held_ = false;
  if (end_.is_over()) return;
  if (note_ && !is_midway_) static_cast<void>(push_note());
  if (std::exchange(owes_writable_, false)) connection_.sink().on_writable();
}

SendResult Outlet::block() {
  owes_writable_ = true;
  return SendResult::kBlocked;
}

SendResult Outlet::give(const Message& message, PayloadSource* payload) {
  const SendResult result = connection_.inner()->send(message, payload);
  is_midway_ = result == SendResult::kBlocked;
  return result;
}

SendResult Outlet::give_damaged(const Message& message, PayloadSource* payload, const transport::Damage& damage) {
  // TCP can damage the bytes on the wire, behind the CRC; other carriers get a damaged payload.
  if (!is_midway_) takes_damage_ = connection_.inner()->damage_next(damage);
  if (takes_damage_ || payload == nullptr) return give(message, payload);
  DamagedPayload damaged(*payload, damage);
  return give(message, &damaged);
}

void Outlet::put_note(const Message& note) {
  note_ = note;
  if (!is_midway_ && !is_held_) static_cast<void>(push_note());
}

// REQUIRES: a border of messages. False: the channel is full; on_writable() tries again.
bool Outlet::push_note() {
  if (connection_.inner()->send(*note_, nullptr) != SendResult::kDone) return false;
  note_.reset();
  connection_.inner()->flush();
  return true;
}

void Outlet::on_writable() {
  if (end_.is_over()) return;
  owes_writable_ = true;
  if (!is_held_) open();
}

}  // namespace softdat::simnic::fault
