// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/entry/process.h"

#include <chrono>
#include <cstdlib>

#include "base/clock.h"
#include "base/environment.h"
#include "base/forks.h"
#include "libdat/registry/diagnostics.h"
#include "libdat/registry/entry/abi.h"
#include "libdat/registry/own_location.h"

namespace softdat::registry {
namespace {

void complain(const std::string& message) {
  // Asking for the static registry's story includes its errors.
  tell(is_told(Topic::kError) ? Topic::kError : Topic::kStaticRegistry, message);
}

ConfSearch conf_search() {
  ConfSearch search;
  // secure_getenv: a set-user-id program must not load whatever library its user names.
  const char* chosen = ::secure_getenv("DAT_OVERRIDE");
  if (chosen != nullptr) search.override_path = chosen;
  if (const std::string directory = own_directory(); !directory.empty()) search.paths = {directory + "dat.conf"};
#if SOFTDAT_ABI == 20
  search.paths.insert(search.paths.end(), {SOFTDAT_SYSCONFDIR "/dat.conf", "/etc/dat.conf"});
#else
  search.paths.insert(search.paths.end(), {"/etc/dat/dat.conf", "/etc/dat.conf"});
#endif
  return search;
}

StaticRegistry make_static() {
  const ConfSearch search = conf_search();
  StaticRegistry::Options options;
  options.api_major = kApiMajor;
  options.api_minor = kApiMinor;
  options.is_any_name_ours = base::environment(base::Variable::kAnyIa) == "1";
  options.is_file_chosen = !search.override_path.empty();
  return StaticRegistry(options, find_conf_file(search, complain));
}

// How long a fork waits for dlopen() and dlclose() of other threads.
constexpr base::Duration kPatience = std::chrono::seconds(5);

// prepare() takes the locks; resume() or resume_in_child() releases them. No other thread changes what they guard in
// between, so the child inherits a consistent state. The library's handlers must come last in prepare(): two forks
// would deadlock if they took the locks in different orders.
void prepare() {
  // REQUIRES: no other thread is in the dynamic loader. The child would inherit a library that is not relocated yet,
  // and crash in its first call of it.
  process_registry().lock_for_fork(base::Clock::now() + kPatience);
  base::take_before_fork(process_ias());
  base::take_before_fork(process_tables());
  if (const auto* const library = ProviderLibrary::fork_handlers()) library->prepare();
}

void unlock_all() {
  process_tables().unlock();
  process_ias().unlock();
  process_registry().unlock();
}

// The library's handlers must run before unlock_all(), which lets other threads call the library.
void resume() {
  if (const auto* const library = ProviderLibrary::fork_handlers()) library->in_parent();
  unlock_all();
}

void resume_in_child() {
  if (const auto* const library = ProviderLibrary::fork_handlers()) library->in_child();
  process_registry().settle_in_child_locked();
  unlock_all();
}

// When the library is loaded: a fork must not come between the first use of a lock and this. It makes what is locked,
// because another thread of the parent may otherwise be making it at the fork, and the child would wait for that.
[[gnu::constructor]] void follow_forks() {
  process_registry();
  process_ias();
  base::on_fork({.prepare = prepare, .in_parent = resume, .in_child = resume_in_child});
}

}  // namespace

constinit base::Lasting<ProviderTables> lasting_tables;

Registry& process_registry() {
  static Registry& registry = *new Registry(make_static);
  return registry;
}

IaTable& process_ias() {
  static IaTable& ias = *new IaTable(kIaHandles);
  return ias;
}

}  // namespace softdat::registry
