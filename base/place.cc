// SPDX-License-Identifier: BSD-2-Clause
#include "base/place.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/lock_places.h"

// GCC's own reader of DWARF, a static library of the compiler. Declared here, because other compilers do not find its
// header.
#if SOFTDAT_HAS_BACKTRACE
extern "C" {
struct backtrace_state;
using backtrace_error_callback = void (*)(void* data, const char* message, int error);
using backtrace_full_callback = int (*)(void* data, std::uintptr_t pc, const char* file, int line,
                                        const char* function);
using backtrace_syminfo_callback = void (*)(void* data, std::uintptr_t pc, const char* name, std::uintptr_t value,
                                            std::uintptr_t size);
backtrace_state* backtrace_create_state(const char* file, int threaded, backtrace_error_callback error, void* data);
int backtrace_pcinfo(backtrace_state* state, std::uintptr_t pc, backtrace_full_callback callback,
                     backtrace_error_callback error, void* data);
int backtrace_syminfo(backtrace_state* state, std::uintptr_t pc, backtrace_syminfo_callback callback,
                      backtrace_error_callback error, void* data);

// The library calls this for dl_iterate_phdr (CMakeLists.txt renames it there).
using take_file_callback = int (*)(dl_phdr_info* file, std::size_t size, void* data);
int softdat_iterate_files(take_file_callback callback, void* data);
}
#endif

namespace softdat::base {
namespace {

struct Found {
  std::string function;
  std::uintptr_t offset = 0;
  std::string line;  // "client.c:17"
};

#if SOFTDAT_HAS_BACKTRACE
void ignore_error(void*, const char*, int) {}

int take_line(void* data, std::uintptr_t, const char* file, int line, const char* function) {
  auto& found = *static_cast<Found*>(data);
  if (file == nullptr || line == 0) return 0;
  found.line = std::string(file_name(file)) + ':' + std::to_string(line);
  if (function != nullptr) found.function = function;
  return 1;  // the innermost of inlined functions
}

void take_symbol(void* data, std::uintptr_t pc, const char* name, std::uintptr_t value, std::uintptr_t) {
  auto& found = *static_cast<Found*>(data);
  if (name == nullptr) return;
  found.function = name;
  found.offset = pc - value;
}

bool holds(const dl_phdr_info& file, std::uintptr_t pc) {
  return std::any_of(file.dlpi_phdr, file.dlpi_phdr + file.dlpi_phnum, [&](const auto& segment) {
    return segment.p_type == PT_LOAD && pc - file.dlpi_addr - segment.p_vaddr < segment.p_memsz;
  });
}

// Calls visit with the loaded file that holds pc, if one does.
template <typename Visit>
void visit_file(std::uintptr_t pc, Visit&& visit) {
  auto context = std::pair(pc, &visit);
  const auto take = [](dl_phdr_info* file, std::size_t size, void* data) {
    const auto& [wanted, function] = *static_cast<decltype(context)*>(data);
    if (!holds(*file, wanted)) return 0;
    (*function)(file, size);
    return 1;
  };
  ::dl_iterate_phdr(take, &context);
}

// The address that is looked up now. With the lock of place_text().
std::uintptr_t address_at_hand = 0;

// The library's state for the file that holds pc; null without one. A state reads the debugging information of the
// files that it is told of when it is first asked: of all files that would be too much, and without those that are
// loaded later.
backtrace_state* state_of(std::uintptr_t pc) {
  static auto& states = *new std::map<std::uintptr_t, backtrace_state*>();  // asked while the process ends, too
  std::optional<std::uintptr_t> base;
  visit_file(pc, [&](dl_phdr_info* file, std::size_t) { base = file->dlpi_addr; });
  if (!base) return nullptr;
  backtrace_state*& state = states[*base];
  if (state == nullptr) state = backtrace_create_state(nullptr, 0, ignore_error, nullptr);
  return state;
}

// With the lock of place_text().
void look_up(std::uintptr_t pc, Found& found) {
  backtrace_state* const state = state_of(pc);
  if (state == nullptr) return;
  address_at_hand = pc;
  backtrace_pcinfo(state, pc, take_line, ignore_error, &found);
  if (found.line.empty()) backtrace_syminfo(state, pc, take_symbol, ignore_error, &found);
}
#else
void look_up(std::uintptr_t, Found&) {}
#endif

std::string hex(std::uintptr_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%zx", static_cast<std::size_t>(number));
  return text;
}

std::string find_text(std::uintptr_t pc) {
  Found found;
  look_up(pc, found);
  if (!found.line.empty()) return (found.function.empty() ? "" : found.function + " at ") + found.line;
  Dl_info info{};
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(pc), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) {
    return found.function.empty() ? hex(pc) : found.function + '+' + hex(found.offset);
  }
  const std::string module(file_name(*map->l_name == '\0' ? info.dli_fname : map->l_name));
  if (found.function.empty() && info.dli_sname != nullptr) {
    found.function = info.dli_sname;
    found.offset = pc - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  }
  if (!found.function.empty()) return found.function + '+' + hex(found.offset) + " (" + module + ')';
  return module + '+' + hex(pc - map->l_addr);
}

}  // namespace

#if SOFTDAT_HAS_BACKTRACE
extern "C" int softdat_iterate_files(take_file_callback callback, void* data) {
  int result = 0;
  visit_file(address_at_hand, [&](dl_phdr_info* file, std::size_t size) { result = callback(file, size, data); });
  return result;
}
#endif

std::string_view file_name(const char* path) {
  const std::string_view whole(path == nullptr ? "" : path);
  return whole.substr(whole.rfind('/') + 1);
}

std::string place_text(const void* address) {
  if (address == nullptr) return "";
  static Mutex<locks::kFoundPlaces> mutex;
  static auto& known = *new std::map<std::uintptr_t, std::string>();        // asked while the process ends, too
  const std::uintptr_t pc = reinterpret_cast<std::uintptr_t>(address) - 1;  // within the call
  const std::lock_guard lock(mutex);
  std::string& text = known[pc];
  if (text.empty()) text = find_text(pc);
  return text;
}

std::string by_text(const char* word, const void* address) {
  const std::string place = place_text(address);
  return place.empty() ? "" : std::string(", ") + word + " by " + place;
}

}  // namespace softdat::base
