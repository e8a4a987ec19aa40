// SPDX-License-Identifier: BSD-2-Clause
// A DAT provider that does nothing but say what was asked of it. The instance data of its dat.conf
// line chooses how it misbehaves. Slot n of its table (counted in pointers) answers n.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#if SOFTDAT_ABI == 20
#include <dat2/udat.h>
//
#include <dat2/dat_registry.h>
#else
#include <dat/udat.h>
//
#include <dat/dat_registry.h>
#endif

// The test program hears everything through this; the probe programs have no such function.
extern "C" [[gnu::weak]] void scratch_note(const char* what);
extern "C" [[gnu::weak]] void scratch_fork(char stage);

namespace {

void note(const std::string& what) {
  if (&scratch_note != nullptr) scratch_note((SCRATCH_NAME " " + what).c_str());
}

// 'p': prepares a fork, 'f': is its parent afterwards, 'c': is the child.
[[maybe_unused]] void note_fork(char stage) {
  if (&scratch_fork != nullptr) scratch_fork(stage);
}

// Tells when the library is mapped and unmapped.
struct Lifetime {
  Lifetime() { note("load"); }
  ~Lifetime() { note("unload"); }
};
const Lifetime lifetime;

struct Object {
  const DAT_PROVIDER* provider;
};
Object objects[4096];
std::size_t used_objects = 0;

// One per registered name.
struct Registration {
  DAT_PROVIDER table;
  std::string name;
  std::string data;
};

std::mutex registrations_mutex;
std::list<Registration> registrations;  // guarded by registrations_mutex

const DAT_RETURN kOk = DAT_SUCCESS;

DAT_RETURN error(unsigned type) {
  return DAT_CLASS_ERROR | type;
}

Registration* find(const std::string& name) {
  const std::lock_guard lock(registrations_mutex);
  for (Registration& each : registrations)
    if (each.name == name) return &each;
  return nullptr;
}

Registration& registration_of(const void* object) {
  return *static_cast<Registration*>(static_cast<const Object*>(object)->provider->extension);
}

void* make_object(const Registration& registration) {
  const std::lock_guard lock(registrations_mutex);
  Object& object = objects[used_objects++ % std::size(objects)];
  __atomic_store_n(&object.provider, &registration.table, __ATOMIC_RELAXED);
  return &object;
}

// An object alone in a mapping, so that to free it is to make it unreadable.
void* map_object(const Registration& registration) {
  void* memory = ::mmap(nullptr, sizeof(Object), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static_cast<Object*>(memory)->provider = &registration.table;
  return memory;
}

DAT_RETURN unmap_object(DAT_HANDLE handle) {
  ::munmap(handle, sizeof(Object));
  return kOk;
}

DAT_RETURN open_ia(const DAT_NAME_PTR name, DAT_COUNT, DAT_EVD_HANDLE* evd, DAT_IA_HANDLE* ia) {
  note(std::string("open ") + name);
  const Registration* registration = find(name);
  if (registration == nullptr) return error(DAT_INTERNAL_ERROR);
  if (registration->data == "refuse") return error(DAT_LENGTH_ERROR);
  *ia = make_object(*registration);
  *evd = registration->data == "mapped" ? map_object(*registration) : make_object(*registration);
  return DAT_SUCCESS;
}

DAT_RETURN query_ia(DAT_IA_HANDLE ia, DAT_EVD_HANDLE*, DAT_IA_ATTR_MASK mask, DAT_IA_ATTR* attr,
                    [[maybe_unused]] DAT_PROVIDER_ATTR_MASK ways_mask, [[maybe_unused]] DAT_PROVIDER_ATTR* ways) {
  note("query");
#if SOFTDAT_ABI == 20
  const bool is_extended = registration_of(ia).data == "extend";
  if (mask != 0 && is_extended) attr->extension_supported = DAT_EXTENSION_IB;
  static DAT_NAMED_ATTR named[] = {{"A_WORD", "1"}, {"DAT_EXTENSION_INTERFACE", "TRUE"}};
  if (ways_mask != 0 && registration_of(ia).data == "named") {
    ways->num_provider_specific_attr = 2;
    ways->provider_specific_attr = named;
  }
#else
  static_cast<void>(ia);
  static_cast<void>(mask);
  static_cast<void>(attr);
#endif
  return DAT_SUCCESS;
}

DAT_RETURN close_ia(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags) {
  note("close " + registration_of(ia).name);
  const bool is_busy = registration_of(ia).data == "busy";
  return is_busy && flags == DAT_CLOSE_GRACEFUL_FLAG ? error(DAT_INVALID_STATE) : kOk;
}

#if SOFTDAT_ABI == 20
DAT_RETURN extend(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  if (operation == DAT_OPEN_EXTENSION_BASE) {
    note(std::string("open query ") + static_cast<const char*>(handle));
    *va_arg(arguments, DAT_HANDLE*) = make_object(*find(static_cast<const char*>(handle)));
    return va_arg(arguments, int) == 77 ? kOk : error(DAT_INVALID_PARAMETER);
  }
  if (operation == DAT_CLOSE_EXTENSION_BASE) {
    note("close query");
    return DAT_SUCCESS;
  }
  note("extend " + std::to_string(operation) + " " + std::to_string(va_arg(arguments, int)) + " " +
       registration_of(handle).name);
  return DAT_SUCCESS;
}
#endif

template <std::size_t kSlot>
DAT_RETURN answer() {
  return kSlot;
}

using AnyFunction = DAT_RETURN (*)();
constexpr std::size_t kSlots = sizeof(DAT_PROVIDER) / sizeof(AnyFunction);

template <std::size_t... kSlot>
void fill(DAT_PROVIDER& table, std::index_sequence<kSlot...>) {
  auto* slots = reinterpret_cast<AnyFunction*>(&table);
  ((slots[kSlot + 2] = answer<kSlot + 2>), ...);
}

Registration* make_registration(const DAT_PROVIDER_INFO& info, const char* data) {
  const std::lock_guard lock(registrations_mutex);
  Registration* made = &registrations.emplace_back(Registration{{}, info.ia_name, data});
  fill(made->table, std::make_index_sequence<kSlots - 2>());
  made->table.device_name = made->name.c_str();
  made->table.extension = made;
  made->table.ia_open_func = open_ia;
  made->table.ia_query_func = query_ia;
  made->table.ia_close_func = close_ia;
#if SOFTDAT_ABI == 20
  made->table.handle_extendedop_func = made->data == "hollow" ? nullptr : extend;
#endif
  if (made->data == "hollow") made->table.pz_create_func = nullptr;
  if (made->data == "mapped") made->table.evd_free_func = unmap_object;
  return made;
}

// The child's own thread is in the midst of this load too, so it opens another name, and then goes on with the load.
void fork_and_open() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(120);
    char name[] = "owner";
    DAT_EVD_HANDLE evd = nullptr;
    DAT_IA_HANDLE ia = nullptr;
    const DAT_RETURN status = dat_ia_open(name, 8, &evd, &ia);
    ::_exit(status == DAT_SUCCESS ? 0 : 1);
  }
  int status = -1;
  if (::waitpid(child, &status, 0) == child && status == 0) note("child opened");
}

}  // namespace

extern "C" {

void dat_provider_init(const DAT_PROVIDER_INFO* info, const char* data) {
  note(std::string("init ") + info->ia_name + " " + std::to_string(info->dapl_version_major) + "." +
       std::to_string(info->dapl_version_minor) + " " + std::to_string(info->is_thread_safe) + " " + data);
  Registration* registration = make_registration(*info, data);
  if (registration->data == "silent") return;
  if (registration->data == "fork") fork_and_open();
  if (registration->data == "reenter") {
    DAT_EVD_HANDLE evd = nullptr;
    DAT_IA_HANDLE ia = nullptr;
    const DAT_RETURN status = dat_ia_openv(registration->name.data(), 8, &evd, &ia, info->dapl_version_major,
                                           info->dapl_version_minor, info->is_thread_safe);
    note(status == DAT_SUCCESS ? "reentered" : "not reentered");
  }
  const DAT_RETURN status = dat_registry_add_provider(&registration->table, info);
  if (status != DAT_SUCCESS) note("was refused");
  if (registration->data == "throw") throw std::runtime_error("init");
}

void dat_provider_fini(const DAT_PROVIDER_INFO* info) {
  note(std::string("fini ") + info->ia_name);
  const Registration* registration = find(info->ia_name);
  const bool is_forgetful = registration->data == "forgetful";
  const bool is_removed = !is_forgetful && dat_registry_remove_provider(&registration->table, info) == DAT_SUCCESS;
  if (!is_forgetful && !is_removed) note("was kept");
  const bool throws = registration->data == "throw late";
  const std::lock_guard lock(registrations_mutex);
  registrations.remove_if([&](const Registration& each) { return &each == registration; });
  if (throws) throw std::runtime_error("fini");
}

#if SCRATCH_OWNS_HANDLES
const void* softdat_handle_range() {
  static const std::uintptr_t range[] = {reinterpret_cast<std::uintptr_t>(objects), sizeof objects, sizeof(Object)};
  return range;
}

const void* softdat_fork_handlers() {
  using Handler = void (*)();
  static const Handler handlers[] = {[] { note_fork('p'); }, [] { note_fork('f'); }, [] { note_fork('c'); }};
  return handlers;
}
#endif

}  // extern "C"
