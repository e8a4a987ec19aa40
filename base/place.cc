// SPDX-License-Identifier: BSD-2-Clause
#include "base/place.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>

#include "base/lock_places.h"
#include "base/per_process.h"

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

// The base of the file that is looked at now. With the lock of place_text().
std::uintptr_t base_at_hand = 0;

// A state of the library reads the debugging information of the files that it is told of when it is first asked. All
// files would be too much, and those that are loaded later would be missing, so each file has a state of its own.
using States = std::map<std::uintptr_t, backtrace_state*>;

// With the lock of place_text().
void look_up(const link_map& file, std::uintptr_t pc, States& states, Found& found) {
  // softdat_iterate_files() shows the library only the file at this base.
  base_at_hand = file.l_addr;
  backtrace_state*& state = states[base_at_hand];
  if (state == nullptr) state = backtrace_create_state(nullptr, 0, ignore_error, nullptr);
  if (state == nullptr) return;
  backtrace_pcinfo(state, pc, take_line, ignore_error, &found);
  // No debugging information: the symbol table still has functions that are not exported, which dladdr() does not find.
  if (found.line.empty()) backtrace_syminfo(state, pc, take_symbol, ignore_error, &found);
}
#else
struct States {};
void look_up(const link_map&, std::uintptr_t, States&, Found&) {}
#endif

struct Places {
  std::map<std::uintptr_t, std::string> texts{};
  States states{};
};

std::string hex(std::uintptr_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%zx", static_cast<std::size_t>(number));
  return text;
}

// The best that is known: function and line, else function and offset, else file and offset.
std::string find_text(std::uintptr_t pc, States& states) {
  Dl_info info{};
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(pc), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0)
    return hex(pc);
  Found found;
  look_up(*map, pc, states, found);
  if (!found.line.empty()) return (found.function.empty() ? "" : found.function + " at ") + found.line;
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
extern "C" int softdat_iterate_files(take_file_callback take, void* data) {
  struct Asker {
    take_file_callback take;
    void* data;
  } asker{take, data};
  const auto take_file_at_hand = [](dl_phdr_info* file, std::size_t size, void* context) {
    const auto& [take_it, for_whom] = *static_cast<Asker*>(context);
    return file->dlpi_addr == base_at_hand ? take_it(file, size, for_whom) : 0;
  };
  return ::dl_iterate_phdr(take_file_at_hand, &asker);
}
#endif

std::string_view file_name(const char* path) {
  const std::string_view whole(path == nullptr ? "" : path);
  return whole.substr(whole.rfind('/') + 1);
}

std::string place_text(const void* address) {
  if (address == nullptr) return "";
  static constinit PerProcess<Places, locks::kFoundPlaces> places;
  const std::uintptr_t pc = reinterpret_cast<std::uintptr_t>(address) - 1;  // within the call
  const auto known = places.lock(static_cast<unsigned>(::getpid()));
  std::string& text = known->texts[pc];
  if (text.empty()) text = find_text(pc, known->states);
  return text;
}

std::string by_text(const char* word, const void* address) {
  const std::string place = place_text(address);
  return place.empty() ? "" : std::string(", ") + word + " by " + place;
}

}  // namespace softdat::base
