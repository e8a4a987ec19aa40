// SPDX-License-Identifier: BSD-2-Clause
// A provider's shared library while it is loaded, and the three symbols the registry wants of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/forks.h"
#include "base/handle_range.h"

namespace softdat::registry {

// DAT_PROVIDER_INFO, which has one layout in DAT 1.2 and 2.0; the entry points assert that.
struct ProviderInfo {
  char ia_name[256];
  std::uint32_t major;
  std::uint32_t minor;
  std::uint32_t is_thread_safe;
};

// Our own provider library, found beside the registry library or by its bare name.
inline constexpr const char* kSimulatorLibrary = "libsoftdat.so";

class ProviderLibrary {
 public:
  // Loads `path`. A null pointer, with `reason` set, when that fails or the library lacks
  // dat_provider_init. Library constructors run inside: hold no lock.
  [[nodiscard]] static std::unique_ptr<ProviderLibrary> load(const std::string& path, std::string& reason);

  // Unloads the library, unless it tells where its handles lie: such a library stays for good,
  // because another thread may be looking there at this moment.
  ~ProviderLibrary();

  ProviderLibrary(const ProviderLibrary&) = delete;
  ProviderLibrary& operator=(const ProviderLibrary&) = delete;

  // The provider's own constructor and destructor for one IA name. Both call back into the
  // registry: hold no lock. False when the provider threw an exception; one that lacked memory is passed on by
  // call_init(), and so is the end of a cancelled thread.
  [[nodiscard]] bool call_init(const ProviderInfo& info, const std::string& instance_data) const;
  [[nodiscard]] bool call_fini(const ProviderInfo& info) const;

  // Where the provider's handles lie, if it exports softdat_handle_range() to say so: they are then checked without a
  // system call. Else null.
  const base::HandleRange* handle_range() const { return handle_range_; }

  // The fork handlers of the first loaded library that exports softdat_fork_handlers(); null before. Any thread.
  static const base::ForkHandlers* fork_handlers();

 private:
  using Init = void (*)(const ProviderInfo*, const char*);
  using Fini = void (*)(const ProviderInfo*);

  explicit ProviderLibrary(void* library);

  // Fixed after construction.
  void* library_;
  Init init_;
  Fini fini_;
  const base::HandleRange* handle_range_;
};

}  // namespace softdat::registry
