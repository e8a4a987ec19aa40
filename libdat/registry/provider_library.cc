// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/provider_library.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <new>

#include "base/lock_order.h"
#include "libdat/registry/own_location.h"

namespace softdat::registry {
namespace {

// Providers leave dat_registry_add_provider unresolved and count on the registry being global. A
// registry that was itself loaded privately (by a plug-in, by a scripting language) must become so.
void make_self_global() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::string path = own_path();
    if (!path.empty()) ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  });
}

std::string last_error() {
  const char* text = ::dlerror();
  return text == nullptr ? "unknown reason" : text;
}

void* open_library(const std::string& path, std::string& reason) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) reason = last_error();
  return library;
}

// Ours is installed beside the registry, which need not be on the loader's search path.
void* find_library(const std::string& path, std::string& reason) {
  const std::string directory = own_directory();
  if (path == kSimulatorLibrary && !directory.empty()) {
    if (void* library = open_library(directory + path, reason)) return library;
  }
  return open_library(path, reason);
}

template <typename Function>
Function find_function(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

const base::HandleRange* find_handle_range(void* library) {
  using Tell = const base::HandleRange* (*)();
  const auto tell = find_function<Tell>(library, "softdat_handle_range");
  return tell == nullptr ? nullptr : tell();
}

// The handlers of the first library that exports them. That library is never unloaded. The C library calls the handlers
// of any other.
constinit std::atomic<const base::ForkHandlers*> g_fork_handlers{nullptr};

void note_fork_handlers(void* library) {
  using Tell = const base::ForkHandlers* (*)();
  const auto tell = find_function<Tell>(library, "softdat_fork_handlers");
  const base::ForkHandlers* known = g_fork_handlers.load(std::memory_order_acquire);
  if (tell == nullptr || known != nullptr) return;
  g_fork_handlers.compare_exchange_strong(known, tell(), std::memory_order_acq_rel);
}

}  // namespace

const base::ForkHandlers* ProviderLibrary::fork_handlers() {
  return g_fork_handlers.load(std::memory_order_acquire);
}

std::unique_ptr<ProviderLibrary> ProviderLibrary::load(const std::string& path, std::string& reason) {
  make_self_global();
  void* handle = find_library(path, reason);
  if (handle == nullptr) return nullptr;
  std::unique_ptr<ProviderLibrary> library(new ProviderLibrary(handle));
  if (library->handle_range_ != nullptr) note_fork_handlers(handle);
  if (library->init_ != nullptr) return library;
  reason = path + " has no function dat_provider_init; it is no DAT provider";
  return nullptr;
}

ProviderLibrary::ProviderLibrary(void* library)
    : library_(library),
      init_(find_function<Init>(library, "dat_provider_init")),
      fini_(find_function<Fini>(library, "dat_provider_fini")),
      handle_range_(find_handle_range(library)) {}

ProviderLibrary::~ProviderLibrary() {
  base::require_no_lock();  // the library's destructors may call the registry
  // SoftDAT's own library stays loaded: its handles stay readable, and threads of it may still run.
  if (handle_range_ == nullptr) ::dlclose(library_);
}

bool ProviderLibrary::call_init(const ProviderInfo& info, const std::string& instance_data) const try {
  init_(&info, instance_data.c_str());
  return true;
} catch (const std::bad_alloc&) {
  throw;
  // pthread_exit() and cancellation unwind by this exception; swallowing it ends the process.
} catch (const abi::__forced_unwind&) {
  throw;
} catch (...) {
  return false;
}

bool ProviderLibrary::call_fini(const ProviderInfo& info) const try {
  if (fini_ != nullptr) fini_(&info);
  return true;
} catch (const abi::__forced_unwind&) {
  throw;
} catch (...) {
  return false;
}

}  // namespace softdat::registry
