// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/direct/direct_context.h"

#include <new>
#include <utility>

#include "base/log.h"
#include "base/uncancelled.h"
#include "memory/allocator.h"

namespace softdat::simnic::direct {
namespace {

using base::LogLevel;

std::shared_ptr<DirectContext> refuse(const char* reason) {
  base::log(LogLevel::kTrace, "direct access over shared memory is off: %s", reason);
  return nullptr;
}

// For SOFTDAT_LOG=trace: why a registration is reached by messages, and how to change that.
const char* text_of(memory::Refusal refusal) {
  switch (refusal) {
    case memory::Refusal::kNotMovable:
      break;
    case memory::Refusal::kOtherThreads:
      return "reached by messages: while pages are moved, another thread's system call that stores there would fail; "
             "set vm.unprivileged_userfaultfd=1, with which none fails, or SOFTDAT_DIRECT=on to move them anyway";
    case memory::Refusal::kOthersAtWork:
      return "reached by messages: this process has a ring of io_uring or of asynchronous I/O, or has mapped a device, "
             "which may store there while pages are moved, or keep the old ones; SOFTDAT_DIRECT=on moves them anyway";
    case memory::Refusal::kThreadMemory:
      return "reached by messages: a thread's stack may lie there, or a thread may sleep there on a semaphore, a mutex "
             "or a condition that processes share, or the threads of this process could not be listed";
  }
  return "reached by messages: not private anonymous memory";
}

}  // namespace

// Null where direct access is impossible: all memory is then reached by messages.
std::shared_ptr<DirectContext> DirectContext::create(memory::MoveWhen when) {
  const base::Uncancelled guard;
  if (!memory::is_allocator_known())
    return refuse("malloc is not the C library's, and may count on pages being private");
  memory::Arena* const arena = memory::Arena::of_process();
  if (arena == nullptr) return refuse("no userfaultfd with write protection, or no large memfd, for this process");
  std::shared_ptr<DirectContext> context(new DirectContext(*arena, when));
  return context->key_directory_.is_open() ? context : refuse("no memfd for the key directory");
}

// Keys that regions have not withdrawn go with the key directory.
DirectContext::~DirectContext() {
  arena_.lent().remove_all(key_directory_);
  if (is_usable()) arena_.lent().release();
}

void DirectContext::suspend() {
  if (!is_usable()) return;
  key_directory_.suspend();
  // No process has this generation, so may_reach() is false for every thread.
  reaching_.store(~generation_, std::memory_order_relaxed);
}

void DirectContext::resume() {
  if (!is_usable()) return;
  key_directory_.resume();
  reaching_.store(generation_, std::memory_order_relaxed);
}

std::shared_ptr<transport::PeerResources> DirectContext::attach_peer(
    std::array<base::UniqueFd, transport::kResourceFiles> files, base::UniqueFd process) {
  return peers_.attach(std::move(files[0]), std::move(files[1]), std::move(process));
}

// Carriers have what attach_peer() gave them.
bool DirectContext::detach_peer(const std::shared_ptr<transport::PeerResources>& peer, bool has_hung_up) {
  return peers_.detach(std::static_pointer_cast<Peer>(peer), has_hung_up);
}

// The registering thread moves the pages here, without the baton.
bool DirectContext::publish(std::uint32_t key, const Grant& grant, std::uint64_t address) {
  if (!is_usable()) return false;
  const base::Uncancelled guard;
  memory::Refusal refusal = memory::Refusal::kNotMovable;
  const bool is_shared = share(key, grant, address, refusal);
  base::log(LogLevel::kTrace, "key %#x: %llu bytes at %#llx, %s", key, static_cast<unsigned long long>(grant.length),
            static_cast<unsigned long long>(address), is_shared ? "reached directly" : text_of(refusal));
  return is_shared;
}

// Where there is no memory to share it, it is reached by messages, which take none.
bool DirectContext::share(std::uint32_t key, const Grant& grant, std::uint64_t address, memory::Refusal& refusal) try {
  const auto offset = arena_.share(address, grant.length, when_, &refusal);
  if (!offset) return false;
  const std::uint64_t place = *offset;
  return arena_.lent().add(key_directory_, key, memory::whole_pages(place, grant.length),
                           // Published under the lock of the lent pages, or a retirement of the same pages could miss
                           // the key.
                           [&] { key_directory_.publish(key, grant, place); });
} catch (const std::bad_alloc&) {
  return false;
}

std::optional<Withdrawn> DirectContext::withdraw(std::uint32_t key) {
  if (!is_usable()) return std::nullopt;
  const auto pages =
      arena_.lent().remove(key_directory_, key, [&] { static_cast<void>(key_directory_.withdraw(key)); });
  if (!pages) return std::nullopt;
  return Withdrawn{key, *pages};
}

void DirectContext::await(const std::optional<Withdrawn>& withdrawn) {
  if (!is_usable()) return;
  // Without the baton: peers are waited for up to 1 ms (docs/decisions/0015-revocation-needs-nobodys-help.md).
  if (withdrawn) pins_.drain_key(*withdrawn, peers_);
  pins_.drain_own();
}

bool DirectContext::await_qp_entry(std::uint32_t qp_entry, const std::shared_ptr<Peer>& peer) {
  return !is_usable() || peer == nullptr || pins_.drain_qp_entry(qp_entry, peer);
}

}  // namespace softdat::simnic::direct
