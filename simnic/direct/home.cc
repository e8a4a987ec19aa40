// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/direct/home.h"

#include <new>
#include <utility>

#include "base/log.h"
#include "base/uncancelled.h"
#include "memory/allocator.h"

namespace softdat::simnic::direct {
namespace {

using base::LogLevel;

std::shared_ptr<Home> refuse(const char* reason) {
  base::log(LogLevel::kTrace, "direct access over shared memory is off: %s", reason);
  return nullptr;
}

// For SOFTDAT_LOG=trace: why a registration is reached by messages, and how to change that.
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

// Null where direct access is impossible: all memory is then reached by messages.
std::shared_ptr<Home> Home::create(memory::MoveWhen when) {
  const base::Uncancelled guard;
  if (!memory::is_allocator_known())
    return refuse("malloc is not the C library's, and may count on pages being private");
  memory::Arena* const arena = memory::Arena::of_process();
  if (arena == nullptr) return refuse("no userfaultfd with write protection, or no large memfd, for this process");
  std::shared_ptr<Home> home(new Home(*arena, when));
  return home->board_.is_open() ? home : refuse("no memfd for the board");
}

// Keys that regions have not withdrawn go with the board.
Home::~Home() {
  arena_.lent().remove_all(board_);
  if (is_usable()) arena_.lent().release();
}

void Home::suspend() {
  if (!is_usable()) return;
  board_.suspend();
  // No process has this generation, so may_reach() is false for every thread.
  reaching_.store(~generation_, std::memory_order_relaxed);
}

void Home::resume() {
  if (!is_usable()) return;
  board_.resume();
  reaching_.store(generation_, std::memory_order_relaxed);
}

std::shared_ptr<transport::PeerResources> Home::attach_peer(std::array<base::UniqueFd, transport::kResourceFiles> files,
                                                            base::UniqueFd process) {
  return peers_.attach(std::move(files[0]), std::move(files[1]), std::move(process));
}

// Carriers have what attach_peer() gave them.
bool Home::detach_peer(const std::shared_ptr<transport::PeerResources>& peer, bool has_hung_up) {
  return peers_.detach(std::static_pointer_cast<Peer>(peer), has_hung_up);
}

// The registering thread moves the pages here, without the baton.
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
                           // Published under the lock of the lent pages, or a retirement of the same pages could miss
                           // the key.
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
  // Without the baton: peers are waited for up to 1 ms (docs/decisions/0015-revocation-needs-nobodys-help.md).
  if (withdrawn) pins_.drain_key(*withdrawn, peers_);
  pins_.drain_own();
}

void Home::await_gate(std::uint32_t gate, const std::shared_ptr<Peer>& peer) {
  if (is_usable() && peer != nullptr) pins_.drain_gate(gate, peer);
}

}  // namespace softdat::simnic::direct
