// SPDX-License-Identifier: BSD-2-Clause
// Which registry called us. libdat.so.1, libdat2.so.2 and a stock registry can stand in one process,
// and export functions of the same names: so those of the library that holds the return address are
// taken, and only if it has none those that the process as a whole sees.
#pragma once

namespace softdat::api {

struct CallingRegistry {
  void* add_provider = nullptr;     // dat_registry_add_provider
  void* remove_provider = nullptr;  // dat_registry_remove_provider
  void* get_ia_handle = nullptr;    // dats_get_ia_handle, where IA handles are small integers

  friend bool operator==(const CallingRegistry&, const CallingRegistry&) = default;
};

CallingRegistry find_calling_registry(const void* return_address);

}  // namespace softdat::api
