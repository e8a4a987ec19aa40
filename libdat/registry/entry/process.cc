// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/entry/process.h"

#include <pthread.h>

#include <cstdlib>

#include "base/environment.h"
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

// The locks that take_before_fork() took are given back by one of the other two. In between no other thread changes
// what they guard, so the child inherits it whole.
void prepare() {
  take_before_fork(process_registry());
  take_before_fork(process_ias());
  take_before_fork(process_tables());
}

void resume() {
  process_tables().unlock();
  process_ias().unlock();
  process_registry().unlock();
}

void resume_in_child() {
  process_registry().settle_in_child_locked();
  resume();
}

// When the library is loaded: a fork must not come between the first use of a lock and this. It makes what is locked,
// because another thread of the parent may otherwise be making it at the fork, and the child would wait for that.
[[gnu::constructor]] void follow_forks() {
  process_registry();
  process_ias();
  static_cast<void>(::pthread_atfork(prepare, resume, resume_in_child));
}

}  // namespace

constinit Lasting<ProviderTables> lasting_tables;

Registry& process_registry() {
  static Registry& registry = *new Registry(make_static);
  return registry;
}

IaTable& process_ias() {
  static IaTable& ias = *new IaTable(kIaHandles);
  return ias;
}

}  // namespace softdat::registry
