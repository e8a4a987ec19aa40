// SPDX-License-Identifier: BSD-2-Clause
// The two registries of DAT behind one lock: the static one (files and built-in default) and the
// dynamic one (providers that declared themselves). Opening a key loads its library if need be and
// counts a user; the last close unloads it. Any function from any thread; provider code and library
// constructors always run with the lock released, so they may call back in.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/event_count.h"
#include "libdat/registry/lock_places.h"
#include "libdat/registry/provider_key.h"
#include "libdat/registry/static_registry.h"

namespace softdat::registry {

// The right to use a provider: as long as it is out, the provider can be neither removed nor
// unloaded. Ended by Registry::close.
struct Lease {
  const void* table = nullptr;               // the DAT_PROVIDER that was declared
  ProviderKey key;                           // under which it was declared
  Slot* slot = nullptr;                      // null for a provider that a program declared by itself
  std::shared_ptr<ProviderLibrary> library;  // null likewise

  const base::HandleRange* handle_range() const { return library == nullptr ? nullptr : library->handle_range(); }
};

enum class AddResult { kAdded, kAlreadyRegistered };
enum class RemoveResult { kRemoved, kNotFound, kInUse };

class Registry {
 public:
  // Reads nothing yet: `make_static` runs at first use, in the thread that uses it.
  using MakeStatic = StaticRegistry (*)();
  explicit Registry(MakeStatic make_static) : make_static_(make_static) {}

  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // A provider for the key, loaded if necessary; nothing when no entry fits or none of its
  // libraries can be loaded (which is told, once per library). Blocks while another thread loads or
  // unloads the same key. From inside that very load, in the loading thread, the key does not exist
  // yet.
  [[nodiscard]] std::optional<Lease> open(const ProviderKey& wanted);

  // Ends a lease. The last one on a slot calls the provider's fini and unloads the library.
  void close(Lease lease);

  // `table` must stay valid until it is removed.
  [[nodiscard]] AddResult add(const ProviderKey& key, const void* table);
  // Takes no memory.
  [[nodiscard]] RemoveResult remove(const ProviderKeyView& key);

  // A snapshot of the static registry, loaded or not.
  [[nodiscard]] std::vector<ProviderKey> list();

  // A snapshot of the dynamic registry.
  [[nodiscard]] std::vector<ProviderKey> list_declared();

  // For fork handlers, so that the child finds the registries consistent. Waits by polling until no other thread is in
  // the dynamic loader for this registry, but not beyond the deadline: a library's constructor may wait for the fork.
  void lock_for_fork(base::Time deadline);
  void unlock() { mutex_.unlock(); }
  // In the child, before unlock(): settles the slots that other threads of the parent were moving, as unloaded.
  void settle_in_child_locked();

 private:
  using Lock = std::unique_lock<base::Mutex<locks::kRegistry>>;

  struct Declared {
    ProviderKey key;
    const void* table = nullptr;
    Slot* owner = nullptr;  // whose library declared it; null: the program did
    unsigned users = 0;
    bool is_inherited = false;  // declared in a load that a fork cut off; the next load may declare it again
  };

  StaticRegistry& static_locked();
  Declared* find_exact_locked(const ProviderKeyView& key);
  Declared* find_usable_locked(const ProviderKey& wanted);
  bool is_ready_locked(const Declared& declared) const;
  Slot* find_loading_locked() const;
  Lease lend_locked(Declared& declared);
  void explain_absence_locked(const ProviderKey& wanted);
  bool is_in_loader_locked(bool is_caller);
  bool wait_until_settled(Slot& slot, Lock& lock);
  bool load(Slot& slot, Lock& lock);
  bool try_alternative(Slot& slot, std::size_t index, Lock& lock);
  template <typename Call>
  void call_loader(Slot& slot, Lock& lock, const Call& call);
  void settle_locked(Slot& slot, bool is_loaded);
  void unload(Slot& slot, Lock& lock);
  void forget_owned_locked(const Slot& slot);
  void complain_once_locked(Slot& slot, std::size_t index, const std::string& reason);

  const MakeStatic make_static_;
  base::Mutex<locks::kRegistry> mutex_;
  base::EventCount settled_;  // a slot left kLoading or kUnloading

  // Guarded by mutex_.
  std::optional<StaticRegistry> static_;
  std::vector<std::unique_ptr<Declared>> declared_;
  std::vector<Slot*> moving_;   // slots being loaded or unloaded now
  unsigned waiting_forks_ = 0;  // that wait for a thread in the loader
};

}  // namespace softdat::registry
