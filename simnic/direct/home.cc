// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/direct/home.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/uncancelled.h"
#include "memory/allocator.h"

namespace softdat::simnic::direct {
namespace {

using base::LogLevel;

// How long peers that are in the middle of a copy are waited for, all together: some twenty times what the copy takes
// (docs/decisions/0015). A pin that outlasted this once is not waited for again.
constexpr base::Duration kPatience = std::chrono::milliseconds(1);
// How long a thread of our own is. It is in the middle of a copy as well; one that is not done by then has been stopped
// by a debugger, or left by a jump out of a signal handler.
constexpr base::Duration kPatienceWithOurselves = std::chrono::seconds(1);

// A thread that copies is done in microseconds, if it has a processor.
void pause(unsigned round) {
  if (round < 64) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// False when the deadline came first.
template <typename IsOver>
bool wait_until(base::Time deadline, const IsOver& is_over) {
  for (unsigned round = 0; !is_over(); ++round) {
    if (base::Clock::now() >= deadline) return false;
    pause(round);
  }
  return true;
}

void warn_of_writer() {
  base::log(LogLevel::kError,
            "no memory to take registered memory away from a peer that has stopped while it wrote "
            "there; what it writes when it goes on will be seen");
}

memory::Hold hold_of(const StandingPin& pin) {
  return {.peer = pin.peer.get(), .place = pin.slot, .word = pin.word, .is_over = [pin] { return pin.is_over(); }};
}

std::shared_ptr<Home> refuse(const char* reason) {
  base::log(LogLevel::kTrace, "direct access over shared memory is off: %s", reason);
  return nullptr;
}

const char* text_of(memory::Refusal refusal) {
  switch (refusal) {
    case memory::Refusal::kNotMovable:
      break;
    case memory::Refusal::kOtherThreads:
      return "reached by messages, because a system call of another thread of this process that stores there in the "
             "moment in which its pages are moved would fail; SOFTDAT_DIRECT=on moves them all the same, and with "
             "vm.unprivileged_userfaultfd=1 none would fail";
    case memory::Refusal::kOthersAtWork:
      return "reached by messages, because this process has a ring of io_uring or of asynchronous I/O, or has mapped a "
             "device, which may store there while its pages are moved, or keep the old ones; SOFTDAT_DIRECT=on moves "
             "them all the same";
    case memory::Refusal::kThreadMemory:
      return "reached by messages, because the stack of a thread lies there, or may, or a thread sleeps there on a "
             "semaphore, a mutex or a condition that is shared between processes, or a thread begins or ends, or the "
             "system does not tell of all threads";
  }
  return "reached by messages, this memory being no private pages of ours";
}

}  // namespace

std::shared_ptr<Home> Home::create(memory::MoveWhen when) {
  const base::Uncancelled guard;
  if (!memory::is_allocator_known())
    return refuse("malloc is not the C library's, and may count on pages being private");
  memory::Arena* const arena = memory::Arena::of_process();
  if (arena == nullptr) return refuse("no userfaultfd with write protection, or no large memfd, for this process");
  std::shared_ptr<Home> home(new Home(*arena, when));
  return home->board_.is_open() ? home : refuse("no memfd for the board");
}

// What regions have forgotten to withdraw goes with the board.
Home::~Home() {
  arena_.lent().remove_all(board_);
  if (is_usable()) arena_.lent().release();
}

void Home::suspend() {
  if (!is_usable()) return;
  board_.suspend();
  reaching_.store(~generation_, std::memory_order_relaxed);
}

void Home::resume() {
  if (!is_usable()) return;
  board_.resume();
  reaching_.store(generation_, std::memory_order_relaxed);
}

std::shared_ptr<transport::PeerResources> Home::attach_peer(std::array<base::UniqueFd, transport::kResourceFiles> files,
                                                            base::UniqueFd process) {
  return meet(std::move(files[0]), std::move(files[1]), std::move(process));
}

// Carriers have what attach_peer() gave them.
bool Home::detach_peer(const std::shared_ptr<transport::PeerResources>& peer, bool has_hung_up) {
  return part(std::static_pointer_cast<Peer>(peer), has_hung_up);
}

std::shared_ptr<Peer> Home::meet(base::UniqueFd board, base::UniqueFd arena, base::UniqueFd process) try {
  const std::lock_guard lock(mutex_);
  forget_gone_locked();
  if (peers_.capacity() == peers_.size()) peers_.reserve(2 * peers_.size() + 8);
  const std::uint64_t number = memory::identify_file(arena.get()).inode;
  const auto owner = number == 0 ? std::nullopt : board_.add_owner(number);
  if (!owner) return nullptr;
  memory::Arena* const own_arena = arena_.is_same_file(arena.get()) ? &arena_ : nullptr;
  std::shared_ptr<Peer> peer;
  try {
    peer = Peer::attach({std::move(board), std::move(arena), std::move(process), *owner, own_arena});
  } catch (const std::bad_alloc&) {
  }
  if (peer == nullptr) {
    board_.remove_owner(*owner);
    return nullptr;
  }
  peers_.push_back({.number = ++last_peer_, .peer = peer});
  return peer;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// A peer whose end of the link the kernel has closed has died, or has ended its connections first, and no thread of it
// is in the middle of a copy; unless its program has closed the socket under it, and then it lives on with its pins. If
// we have ended the link, a thread of it may be in the middle of a copy too.
bool Home::part(const std::shared_ptr<Peer>& peer, bool has_hung_up) {
  if (has_hung_up && !(peer->has_pins_into(arena_.number()) && peer->lives_on())) peer->note_dead();
  const std::lock_guard lock(mutex_);
  for (Known& known : peers_) {
    if (known.peer == peer) known.is_leaving = true;
  }
  forget_gone_locked();
  return std::ranges::find(peers_, peer, &Known::peer) == peers_.end();
}

void Home::forget_gone_locked() {
  base::require_lock(locks::kHome);
  const base::Uncancelled guard;
  std::erase_if(peers_, [this](const Known& known) {
    if (!known.is_leaving || (known.peer->has_pins_into(arena_.number()) && !known.peer->is_dead())) return false;
    board_.remove_owner(known.peer->owner());
    return true;
  });
  arena_.lent().release();
}

// The first peer behind that number, which becomes its own; null if there is none. A peer that is added later has seen
// what was withdrawn before.
std::shared_ptr<Peer> Home::next_peer(std::uint64_t& number) {
  const std::lock_guard lock(mutex_);
  const auto next = std::ranges::upper_bound(peers_, number, {}, &Known::number);
  if (next == peers_.end()) return nullptr;
  number = next->number;
  return next->peer;
}

bool Home::publish(std::uint32_t key, const Grant& grant, std::uint64_t address) {
  if (!is_usable()) return false;
  const base::Uncancelled guard;
  memory::Refusal refusal = memory::Refusal::kNotMovable;
  const bool is_shared = share(key, grant, address, refusal);
  base::log(LogLevel::kTrace, "key %#x: %llu bytes at %#llx, %s", key, static_cast<unsigned long long>(grant.length),
            static_cast<unsigned long long>(address), is_shared ? "reached directly" : text_of(refusal));
  return is_shared;
}

// Where there is no memory to share it, it is reached by messages, which take none.
bool Home::share(std::uint32_t key, const Grant& grant, std::uint64_t address, memory::Refusal& refusal) try {
  const auto offset = arena_.share(address, grant.length, when_, &refusal);
  if (!offset) return false;
  const std::uint64_t place = *offset;
  return arena_.lent().add(board_, key, memory::whole_pages(place, grant.length),
                           [&] { board_.publish(key, grant, place); });
} catch (const std::bad_alloc&) {
  return false;
}

std::optional<Withdrawn> Home::withdraw(std::uint32_t key) {
  if (!is_usable()) return std::nullopt;
  const auto pages = arena_.lent().remove(board_, key, [&] { static_cast<void>(board_.withdraw(key)); });
  if (!pages) return std::nullopt;
  return Withdrawn{key, *pages};
}

void Home::await(const std::optional<Withdrawn>& withdrawn) {
  if (!is_usable()) return;
  const base::Uncancelled guard;
  if (withdrawn) {
    const auto common_pages = [&](std::uint64_t word) { return memory::common_part(pages_of(word), withdrawn->pages); };
    std::vector<memory::Retirement> standing;
    std::uint64_t number = 0;
    while (const std::shared_ptr<Peer> peer = next_peer(number)) collect(peer, common_pages, standing);
    if (!await_all(standing)) {
      board_.mark_cut(withdrawn->key);
      cut_off(standing);
    }
  }
  await_own_pins();
}

void Home::await_gate(std::uint32_t gate, const std::shared_ptr<Peer>& peer) {
  if (!is_usable() || peer == nullptr) return;
  const base::Uncancelled guard;
  const auto pages_of_gate = [gate](std::uint64_t word) {
    return names_gate(word, gate) ? pages_of(word) : FileRange{};
  };
  std::vector<memory::Retirement> standing;
  collect(peer, pages_of_gate, standing);
  if (!await_all(standing)) cut_off(standing);
}

// The peer's pins of which `pages_at` tells pages. Without memory to note one, it is waited for here.
template <typename PagesAt>
void Home::collect(const std::shared_ptr<Peer>& peer, const PagesAt& pages_at,
                   std::vector<memory::Retirement>& standing) {
  for (std::size_t slot = 0; slot < kPinSlots; ++slot) {
    const StandingPin pin{peer, arena_.number(), slot, peer->pin_into(arena_.number(), slot)};
    if (pin.word == 0) continue;
    const FileRange pages = pages_at(pin.word);
    if (pages.begin >= pages.end) continue;
    try {
      standing.push_back({pages, hold_of(pin)});
    } catch (const std::bad_alloc&) {
      if (!wait_until(base::Clock::now() + kPatience, [&] { return pin.is_over(); })) warn_of_writer();
    }
  }
}

// Until none of the pins is held any more, which is what true says; else those are left that are. A pin that is claimed
// anew says that its thread has been elsewhere, and has seen what was withdrawn.
bool Home::await_all(std::vector<memory::Retirement>& standing) {
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

void Home::cut_off(const std::vector<memory::Retirement>& standing) try {
  const std::uint64_t bytes = arena_.retire(standing);
  if (bytes == 0) return;
  base::log(LogLevel::kNotice, "a peer has stopped while it wrote: %llu bytes were taken away from it",
            static_cast<unsigned long long>(bytes));
} catch (const std::bad_alloc&) {
  warn_of_writer();
}

void Home::await_own_pins() {
  const base::Time deadline = base::Clock::now() + kPatienceWithOurselves;
  for (std::size_t i = 0; i < kPinSlots; ++i) {
    const PinSlot& slot = board_.layout().pins[i];
    const std::uint64_t word = slot.word.load(std::memory_order_seq_cst);
    if (!is_claimed(word) || given_up_[i].load(std::memory_order_relaxed) == word) continue;
    if (wait_until(deadline, [&] { return slot.word.load(std::memory_order_acquire) != word; })) continue;
    given_up_[i].store(word, std::memory_order_relaxed);
    base::log(
        LogLevel::kWarning,
        "a thread of this process has stood still for a second in the middle of a transfer; memory is deregistered "
        "without waiting for it any longer");
  }
}

}  // namespace softdat::simnic::direct
