// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/registry.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/words.h"
#include "libdat/registry/diagnostics.h"

namespace softdat::registry {
namespace {

ProviderInfo info_of(const ProviderKey& key) {
  ProviderInfo info{};
  std::memcpy(info.ia_name, key.ia_name.data(), std::min(key.ia_name.size(), sizeof info.ia_name - 1));
  info.major = key.major;
  info.minor = key.minor;
  info.is_thread_safe = key.is_thread_safe ? 1 : 0;
  return info;
}

}  // namespace

// dat.conf is read at the first call that needs it.
StaticRegistry& Registry::static_locked() {
  base::require_lock(locks::kRegistry);
  if (!static_) static_.emplace(make_static_());
  return *static_;
}

Registry::Declared* Registry::find_exact_locked(const ProviderKeyView& key) {
  base::require_lock(locks::kRegistry);
  const auto same = [&](const auto& declared) { return ProviderKeyView(declared->key) == key; };
  const auto found = std::find_if(declared_.begin(), declared_.end(), same);
  return found == declared_.end() ? nullptr : found->get();
}

Registry::Declared* Registry::find_usable_locked(const ProviderKey& wanted) {
  base::require_lock(locks::kRegistry);
  Declared* best = nullptr;
  for (const auto& declared : declared_) {
    if (!can_serve(declared->key, wanted) || !is_ready_locked(*declared)) continue;
    // A higher minor version may serve a lower one; the nearest is taken.
    if (best == nullptr || declared->key.minor < best->key.minor) best = declared.get();
  }
  return best;
}

// A name whose library is still being loaded, or already being unloaded, is not to be lent.
bool Registry::is_ready_locked(const Declared& declared) const {
  base::require_lock(locks::kRegistry);
  return declared.owner == nullptr || declared.owner->state == Slot::State::kLoaded;
}

// The slot whose library this thread is loading: what it declares now belongs to that slot.
Slot* Registry::find_loading_locked() const {
  base::require_lock(locks::kRegistry);
  const auto mine = [](const Slot* slot) {
    return slot->state == Slot::State::kLoading && slot->mover == std::this_thread::get_id();
  };
  const auto found = std::find_if(moving_.rbegin(), moving_.rend(), mine);
  return found == moving_.rend() ? nullptr : *found;
}

AddResult Registry::add(const ProviderKey& key, const void* table) {
  const Lock lock(mutex_);
  if (Declared* known = find_exact_locked(key)) {
    const bool is_anew = known->is_inherited && known->owner == find_loading_locked();
    if (!is_anew) return AddResult::kAlreadyRegistered;
    known->table = table;
    known->is_inherited = false;
    return AddResult::kAdded;
  }
  auto declared = std::make_unique<Declared>();
  declared->key = key;
  declared->table = table;
  declared->owner = find_loading_locked();
  const std::string news = "dat: added " + describe(key);  // before anything is changed: this takes memory
  declared_.push_back(std::move(declared));
  tell(Topic::kDynamicRegistry, news);
  return AddResult::kAdded;
}

RemoveResult Registry::remove(const ProviderKeyView& key) {
  const Lock lock(mutex_);
  const Declared* declared = find_exact_locked(key);
  if (declared == nullptr) return RemoveResult::kNotFound;
  if (declared->users != 0) return RemoveResult::kInUse;
  tell_if_possible(Topic::kDynamicRegistry, [&] { return "dat: removed " + describe(declared->key); });
  std::erase_if(declared_, [&](const auto& each) { return each.get() == declared; });
  return RemoveResult::kRemoved;
}

std::vector<ProviderKey> Registry::list() {
  const Lock lock(mutex_);
  return static_locked().listing();
}

std::vector<ProviderKey> Registry::list_declared() {
  const Lock lock(mutex_);
  std::vector<ProviderKey> keys;
  for (const auto& declared : declared_) keys.push_back(declared->key);
  return keys;
}

// Nothing fits the key. Whoever asked gets one code for every cause, so the cause is told here.
void Registry::explain_absence_locked(const ProviderKey& wanted) {
  base::require_lock(locks::kRegistry);
  const auto same = [&](const auto& declared) { return declared->key.ia_name == wanted.ia_name; };
  if (std::any_of(declared_.begin(), declared_.end(), same) || static_locked().has_name(wanted.ia_name)) {
    tell(Topic::kError,
         "the IA name " + wanted.ia_name + " is known, but not as " + describe(wanted) + ", which was asked for");
    return;
  }
  tell(Topic::kGeneric, "dat: no entry for " + describe(wanted));
  base::say("no adapter is named \"" + wanted.ia_name +
            "\": dat.conf has no such entry, and the simulated adapters are sim0 to sim15. Open one of those, or set "
            "SOFTDAT_ANY_IA=1, which gives every name to the simulated adapter. See dat_ia_open(3).");
  // A misspelt SOFTDAT_ANY_IA is a likely cause, and no provider is loaded yet that would tell.
  base::report_environment_mistakes();
}

Lease Registry::lend_locked(Declared& declared) {
  base::require_lock(locks::kRegistry);
  SOFTDAT_DEBUG_CHECK(is_ready_locked(declared), "a provider is lent while its library is loaded");
  Lease lease{.table = declared.table, .key = declared.key, .slot = declared.owner, .library = nullptr};
  // From here on nothing throws: who counts as a user has the lease.
  ++declared.users;
  if (declared.owner != nullptr) {
    ++declared.owner->users;
    lease.library = declared.owner->library;
  }
  return lease;
}

// Waits until nobody loads or unloads the slot. False when it is this thread that does so, further
// up its stack: a provider that opens its own name from its own constructor.
bool Registry::wait_until_settled(Slot& slot, Lock& lock) {
  base::require_lock(locks::kRegistry);
  const auto is_settled = [&] { return slot.state == Slot::State::kUnloaded || slot.state == Slot::State::kLoaded; };
  if (!is_settled() && slot.mover == std::this_thread::get_id()) return false;
  while (!is_settled()) {
    const auto ticket = settled_.prepare();
    lock.unlock();
    settled_.wait(ticket, base::kNever);
    lock.lock();
  }
  return true;
}

std::optional<Lease> Registry::open(const ProviderKey& wanted) {
  Lock lock(mutex_);
  Slot* slot = static_locked().find(wanted);
  if (slot != nullptr && !wait_until_settled(*slot, lock)) return std::nullopt;
  // A declared provider wins over an unloaded library: the program asked for it by hand.
  Declared* declared = find_usable_locked(wanted);
  if (declared == nullptr && slot != nullptr && load(*slot, lock)) {
    declared = find_usable_locked(wanted);
  }
  if (declared == nullptr && slot == nullptr) explain_absence_locked(wanted);
  if (declared == nullptr) return std::nullopt;
  return lend_locked(*declared);
}

// Loads the first alternative that works. The lock is released meanwhile; the state keeps others
// out. On success the slot's key is declared and nothing ran between that and the return.
bool Registry::load(Slot& slot, Lock& lock) {
  base::require_lock(locks::kRegistry);
  base::check(slot.state == Slot::State::kUnloaded || slot.state == Slot::State::kLoaded, "one thread moves a slot",
              static_cast<std::uint64_t>(slot.state));
  SOFTDAT_DEBUG_CHECK(std::find(moving_.begin(), moving_.end(), &slot) == moving_.end(), "a slot is listed once");
  moving_.push_back(&slot);
  slot.state = Slot::State::kLoading;
  slot.mover = std::this_thread::get_id();
  bool is_loaded = false;
  try {
    for (std::size_t index = 0; !is_loaded && index < slot.alternatives.size(); ++index) {
      is_loaded = try_alternative(slot, index, lock);
    }
  } catch (...) {
    // try_alternative() may throw without the lock.
    if (!lock.owns_lock()) lock.lock();
    forget_owned_locked(slot);
    settle_locked(slot, false);
    throw;
  }
  settle_locked(slot, is_loaded);
  if (is_loaded) tell_if_possible(Topic::kStaticRegistry, [&] { return "dat: loaded " + describe(slot.key); });
  return is_loaded;
}

void Registry::settle_locked(Slot& slot, bool is_loaded) {
  base::require_lock(locks::kRegistry);
  std::erase(moving_, &slot);
  slot.state = is_loaded ? Slot::State::kLoaded : Slot::State::kUnloaded;
  settled_.notify();
}

// Whether the caller, or another thread, is in the loader.
bool Registry::is_in_loader_locked(bool is_caller) {
  base::require_lock(locks::kRegistry);
  if (!static_) return false;
  return std::ranges::any_of(static_->slots(), [&](const Slot& slot) {
    return slot.is_in_loader && (slot.mover == std::this_thread::get_id()) == is_caller;
  });
}

// Runs `call` without the lock, because constructors and destructors of the library may call the registry. Returns only
// when each fork that has waited for `call` holds the lock or is over, so none of the library's locks is held at that
// fork.
template <typename Call>
void Registry::call_loader(Slot& slot, Lock& lock, const Call& call) {
  base::require_lock(locks::kRegistry);
  slot.is_in_loader = true;
  lock.unlock();
  base::require_no_lock();
  const auto end = [&] {
    lock.lock();
    slot.is_in_loader = false;
  };
  try {
    call();
  } catch (...) {
    end();
    throw;
  }
  end();
  for (base::Backoff backoff; waiting_forks_ != 0 && !is_in_loader_locked(true); lock.lock()) {
    lock.unlock();
    backoff.wait();
  }
}

bool Registry::try_alternative(Slot& slot, std::size_t index, Lock& lock) {
  const Alternative& alternative = slot.alternatives[index];  // its texts never change
  std::string reason;
  std::shared_ptr<ProviderLibrary> library;
  call_loader(slot, lock, [&] { library = ProviderLibrary::load(alternative.library_path, reason); });
  lock.unlock();
  base::require_no_lock();  // the library's code may call the registry
  if (library != nullptr) tell(Topic::kProviderApi, "dat: init of " + alternative.library_path);
  const bool has_returned = library != nullptr && library->call_init(info_of(slot.key), alternative.instance_data);
  lock.lock();
  const bool is_declared = has_returned && find_exact_locked(slot.key) != nullptr;
  if (is_declared) {
    library.swap(slot.library);  // what comes out is left from a load whose name was removed since
  } else {
    try {
      if (library != nullptr) {
        reason = alternative.library_path +
                 (has_returned ? " did not register the name" : ": its dat_provider_init threw an exception");
      }
      complain_once_locked(slot, index, reason);
    } catch (const std::bad_alloc&) {
      lock.unlock();  // before the library goes, whose destructors may call the registry
      throw;
    }
    forget_owned_locked(slot);
  }
  // What is left is a library that was refused, or one of an earlier load.
  call_loader(slot, lock, [&] { library.reset(); });
  return is_declared;
}

void Registry::complain_once_locked(Slot& slot, std::size_t index, const std::string& reason) {
  base::require_lock(locks::kRegistry);
  base::check(index < slot.alternatives.size(), "a complaint is about an alternative", index);
  if (std::exchange(slot.alternatives[index].has_complained, true)) return;
  tell(Topic::kError, "no provider for " + describe(slot.key) + ": " + reason);
}

void Registry::close(Lease lease) {
  Lock lock(mutex_);
  if (Declared* declared = find_exact_locked(lease.key)) --declared->users;
  base::check(lease.slot == nullptr || lease.slot->users > 0, "a slot counts each lease until it ends");
  if (lease.slot == nullptr || --lease.slot->users != 0) return;
  // The slot has the last reference now, and unload() lets go of it without the lock.
  lease.library.reset();
  unload(*lease.slot, lock);
}

void Registry::unload(Slot& slot, Lock& lock) {
  base::require_lock(locks::kRegistry);
  base::check(slot.library != nullptr, "a slot that is in use has its library");
  slot.state = Slot::State::kUnloading;
  slot.mover = std::this_thread::get_id();
  std::shared_ptr<ProviderLibrary> library = std::move(slot.library);
  lock.unlock();
  base::require_no_lock();  // the library's code may call the registry
  tell_if_possible(Topic::kProviderApi, [&] { return "dat: fini for " + describe(slot.key); });
  if (!library->call_fini(info_of(slot.key))) {
    tell_if_possible(Topic::kError,
                     [&] { return "dat: dat_provider_fini for " + describe(slot.key) + " threw an exception"; });
  }
  lock.lock();
  // A provider that forgot to remove itself would leave a table in unmapped memory behind.
  forget_owned_locked(slot);
  call_loader(slot, lock, [&] { library.reset(); });
  settle_locked(slot, false);
  tell_if_possible(Topic::kStaticRegistry, [&] { return "dat: unloaded " + describe(slot.key); });
}

// Polls, as base::take_before_fork() does: lock() would break the lock order.
void Registry::lock_for_fork(base::Time deadline) {
  bool has_waited = false;
  for (base::Backoff backoff;; backoff.wait()) {
    if (!mutex_.try_lock()) continue;
    if (!is_in_loader_locked(false) || base::Clock::now() > deadline) break;
    if (!std::exchange(has_waited, true)) ++waiting_forks_;
    mutex_.unlock();
  }
  if (has_waited) --waiting_forks_;
}

// A library stays mapped that one of these threads was loading, or had yet to unload, and its constructors do not run
// anew. So what it has declared stays too, to be lent when the slot has been loaded again.
void Registry::settle_in_child_locked() {
  base::require_lock(locks::kRegistry);
  waiting_forks_ = 0;
  if (!static_) return;
  const auto is_of_others = [](const Slot& slot) {
    const bool is_moving = slot.state == Slot::State::kLoading || slot.state == Slot::State::kUnloading;
    return is_moving && slot.mover != std::this_thread::get_id();
  };
  std::erase_if(moving_, [&](const Slot* slot) { return is_of_others(*slot); });
  for (Slot& slot : static_->slots()) {
    if (!is_of_others(slot)) continue;
    slot.is_in_loader = false;
    slot.state = Slot::State::kUnloaded;
  }
  for (const auto& declared : declared_)
    declared->is_inherited = declared->owner != nullptr && declared->owner->state == Slot::State::kUnloaded;
}

void Registry::forget_owned_locked(const Slot& slot) {
  base::require_lock(locks::kRegistry);
  std::erase_if(declared_, [&](const auto& declared) { return declared->owner == &slot; });
}

}  // namespace softdat::registry
