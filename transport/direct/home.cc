// SPDX-License-Identifier: BSD-2-Clause
#include "transport/direct/home.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/uncancelled.h"
#include "transport/direct/allocator.h"

namespace softdat::transport::direct {
namespace {

using base::LogLevel;

// Whoever copies is done in microseconds, if he has a processor.
void pause(unsigned round) {
  if (round < 64) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

std::shared_ptr<Home> refuse(const char* reason) {
  base::log(LogLevel::kTrace, "direct access over shared memory is off: %s", reason);
  return nullptr;
}

const char* text_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNotMovable:
      break;
    case Refusal::kOtherThreads:
      return "reached by messages, because a system call of another thread of this process that stores there in the "
             "moment in which its pages are moved would fail; SOFTDAT_DIRECT=on moves them all the same, and with "
             "vm.unprivileged_userfaultfd=1 none would fail";
    case Refusal::kOthersAtWork:
      return "reached by messages, because this process has a ring of io_uring or of asynchronous I/O, or has mapped a "
             "device, which may store there while its pages are moved, or keep the old ones; SOFTDAT_DIRECT=on moves "
             "them all the same";
  }
  return "reached by messages, this memory being no private pages of ours";
}

}  // namespace

std::shared_ptr<Home> Home::create(MoveWhen when) {
  const base::Uncancelled guard;
  if (!is_allocator_known()) return refuse("malloc is not the C library's, and may count on pages being private");
  Arena* const arena = Arena::of_process();
  if (arena == nullptr) return refuse("no userfaultfd with write protection, or no large memfd, for this process");
  std::shared_ptr<Home> home(new Home(*arena, when));
  return home->board_.is_open() ? home : refuse("no memfd for the board");
}

std::shared_ptr<Peer> Home::meet(base::UniqueFd board, base::UniqueFd arena, base::UniqueFd process) {
  try {
    std::shared_ptr<Peer> peer = Peer::attach(std::move(board), std::move(arena), std::move(process));
    if (peer == nullptr) return nullptr;
    const std::lock_guard lock(mutex_);
    peers_.push_back({.number = last_peer_ + 1, .peer = peer});
    ++last_peer_;
    return peer;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// A peer that has merely hung up may still be in the middle of a copy.
void Home::part(const std::shared_ptr<Peer>& peer) {
  const std::lock_guard lock(mutex_);
  for (Known& known : peers_) {
    if (known.peer == peer) known.is_leaving = true;
  }
  forget_gone_locked();
}

void Home::forget_gone_locked() {
  const base::Uncancelled guard;
  std::erase_if(peers_, [](const Known& known) {
    return known.is_leaving && (!known.peer->has_pins() || known.peer->is_dead());
  });
}

// The first behind that number, which becomes its own; null when there is none. Who comes later has seen what was
// withdrawn before.
std::shared_ptr<Peer> Home::next_peer(std::uint64_t& number) {
  const std::lock_guard lock(mutex_);
  for (const Known& known : peers_) {
    if (known.number <= number) continue;
    number = known.number;
    return known.peer;
  }
  return nullptr;
}

bool Home::publish(std::uint32_t key, const Grant& grant, std::uint64_t address) {
  if (!is_usable()) return false;
  const base::Uncancelled guard;
  std::optional<std::uint64_t> offset;
  Refusal refusal = Refusal::kNotMovable;
  try {
    offset = arena_.share(address, grant.length, when_, &refusal);
  } catch (const std::bad_alloc&) {
    // Then by messages, which take none.
  }
  if (offset) board_.publish(key, grant, *offset);
  base::log(LogLevel::kTrace, "key %#x: %llu bytes at %#llx, %s", key, static_cast<unsigned long long>(grant.length),
            static_cast<unsigned long long>(address), offset ? "reached directly" : text_of(refusal));
  return offset.has_value();
}

void Home::withdraw(std::uint32_t key) {
  if (is_usable()) static_cast<void>(board_.withdraw(key));
}

void Home::await_key(std::uint32_t key) {
  if (!is_usable()) return;
  const auto is_of_key = [key](std::uint64_t word) { return names_key(word, key); };
  static_cast<void>(await_peers(is_of_key, base::kNever));
  await_own_pins();
}

bool Home::await_gate(std::uint32_t gate, base::Time deadline) {
  return await_peers([gate](std::uint64_t word) { return names_gate(word, gate); }, deadline);
}

// A pin that is claimed anew says that its thread has been elsewhere, and has seen what was withdrawn.
template <typename Matches>
bool Home::await_peers(const Matches& matches, base::Time deadline) {
  const base::Uncancelled guard;
  std::uint64_t number = 0;
  while (const std::shared_ptr<Peer> peer = next_peer(number)) {
    for (std::size_t slot = 0; slot < kPinSlots; ++slot) {
      const std::uint64_t word = peer->pin_word(slot);
      if (!matches(word)) continue;
      for (unsigned round = 0; peer->pin_word(slot) == word && !peer->is_dead(); ++round) {
        if (base::Clock::now() >= deadline) return false;
        pause(round);
      }
    }
  }
  return true;
}

void Home::await_own_pins() {
  const base::Uncancelled guard;
  for (const PinSlot& slot : board_.layout().pins) {
    const std::uint64_t word = slot.word.load(std::memory_order_seq_cst);
    if (!is_claimed(word)) continue;
    for (unsigned round = 0; slot.word.load(std::memory_order_acquire) == word; ++round) pause(round);
  }
}

}  // namespace softdat::transport::direct
