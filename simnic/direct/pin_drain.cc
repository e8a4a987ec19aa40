// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/direct/pin_drain.h"

#include <algorithm>
#include <new>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/uncancelled.h"

namespace softdat::simnic::direct {
namespace {

using base::LogLevel;

// How long peers that are in the middle of a copy are waited for, all together: some twenty times what the copy takes
// (docs/decisions/0015). A pin that outlasted this once is not waited for again.
constexpr base::Duration kPatience = std::chrono::milliseconds(1);
// How long a thread of our own is. It is in the middle of a copy as well; one that is not done by then has been stopped
// by a debugger, or left by a jump out of a signal handler.
constexpr base::Duration kPatienceWithOurselves = std::chrono::seconds(1);

// A thread that copies is done in microseconds, if it has a processor. False when the deadline came first.
template <typename IsOver>
bool wait_until(base::Time deadline, const IsOver& is_over) {
  for (base::Backoff backoff; !is_over(); backoff.wait()) {
    if (base::Clock::now() >= deadline) return false;
  }
  return true;
}

void warn_of_writer() {
  base::log(
      LogLevel::kError,
      "out of memory: cannot take registered memory away from a peer that has stopped in the middle of a write; its "
      "later writes will change this process's memory. End that peer, or free memory");
}

memory::Hold hold_of(const StandingPin& pin) {
  return {.peer = pin.peer.get(), .place = pin.slot, .word = pin.word, .is_over = [pin] { return pin.is_over(); }};
}

}  // namespace

void PinDrain::drain_key(const Withdrawn& withdrawn, PeerDirectory& peers) {
  const base::Uncancelled guard;
  const auto common_pages = [&](std::uint64_t word) { return memory::common_part(pages_of(word), withdrawn.pages); };
  std::vector<memory::Retirement> standing;
  std::uint64_t number = 0;
  while (const std::shared_ptr<Peer> peer = peers.next(number)) collect(peer, common_pages, standing);
  if (await_all(standing)) return;
  // Before the pages are cut off: a peer that goes on sees the mark and does not report success.
  key_directory_.mark_cut(withdrawn.key);
  cut_off(standing);
}

// After the QP entry was closed: only this peer may have pins under it. Other peers' QP entries name other connections.
bool PinDrain::drain_qp_entry(std::uint32_t qp_entry, const std::shared_ptr<Peer>& peer) {
  const base::Uncancelled guard;
  const auto pages_of_qp_entry = [qp_entry](std::uint64_t word) {
    return names_qp_entry(word, qp_entry) ? pages_of(word) : FileRange{};
  };
  std::vector<memory::Retirement> standing;
  const bool are_all = collect(peer, pages_of_qp_entry, standing);
  return (await_all(standing) || cut_off(standing)) && are_all;
}

// Collects the pins of the peer for which `pages_at` returns pages. Out of memory, it waits for the pin instead. False:
// that one lasts.
template <typename PagesAt>
bool PinDrain::collect(const std::shared_ptr<Peer>& peer, const PagesAt& pages_at,
                       std::vector<memory::Retirement>& standing) {
  bool are_all = true;
  for (std::size_t slot = 0; slot < kPinSlots; ++slot) {
    const std::uint64_t word = peer->pin_into(arena_.number(), slot);
    if (word == 0) continue;
    const FileRange pages = pages_at(word);
    if (pages.begin >= pages.end) continue;
    const StandingPin pin{peer, arena_.number(), slot, word};
    try {
      standing.push_back({pages, hold_of(pin)});
    } catch (const std::bad_alloc&) {
      if (wait_until(base::Clock::now() + kPatience, [&] { return pin.is_over(); })) continue;
      warn_of_writer();
      are_all = false;
    }
  }
  return are_all;
}

// Until none of the pins is held any more, which is what true says; else those are left that are. A pin that is claimed
// anew says that its thread has been elsewhere, and has seen what was withdrawn.
bool PinDrain::await_all(std::vector<memory::Retirement>& standing) {
  if (standing.empty()) return true;
  const auto is_known = [this](const memory::Retirement& retirement) {
    return arena_.lent().is_known(retirement.hold);
  };
  const bool waits = !std::ranges::all_of(standing, is_known);
  const base::Time deadline = base::Clock::now() + (waits ? kPatience : base::Duration{});
  return wait_until(deadline, [&] {
    std::erase_if(standing, [](const memory::Retirement& retirement) { return retirement.hold.is_over(); });
    return standing.empty();
  });
}

// False: there was no memory for that.
bool PinDrain::cut_off(const std::vector<memory::Retirement>& standing) try {
  const std::uint64_t bytes = arena_.retire(standing);
  if (bytes == 0) return true;
  base::log(LogLevel::kNotice, "a peer has stopped while it wrote: %llu bytes were taken away from it",
            static_cast<unsigned long long>(bytes));
  return true;
} catch (const std::bad_alloc&) {
  warn_of_writer();
  return false;
}

// Our own threads copy under pins too, to peers, and read this process's memory meanwhile.
void PinDrain::drain_own() {
  const base::Uncancelled guard;
  const base::Time deadline = base::Clock::now() + kPatienceWithOurselves;
  for (std::size_t i = 0; i < kPinSlots; ++i) {
    const PinSlot& slot = key_directory_.layout().pins[i];
    const std::uint64_t word = slot.word.load(std::memory_order_seq_cst);
    if (!is_claimed(word) || given_up_[i].load(std::memory_order_relaxed) == word) continue;
    if (wait_until(deadline, [&] { return slot.word.load(std::memory_order_acquire) != word; })) continue;
    given_up_[i].store(word, std::memory_order_relaxed);
    base::log(
        LogLevel::kWarning,
        "a thread of this process has been stopped for 1 s in the middle of a transfer; memory is deregistered without "
        "waiting for it");
  }
}

}  // namespace softdat::simnic::direct
