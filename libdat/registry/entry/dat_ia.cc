// SPDX-License-Identifier: BSD-2-Clause
// Opening, asking and closing interface adapters: where a name becomes a provider.
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/words.h"
#include "libdat/registry/diagnostics.h"
#include "libdat/registry/entry/dispatch.h"
#include "libdat/registry/entry/opening.h"
#include "libdat/registry/self_memory.h"

namespace softdat::registry {
namespace {

#if SOFTDAT_ABI == 20
// An adapter may have an extension for which programs look in vain among its own attributes: counters where there are
// neither atomics nor immediate data.
bool names_extensions(const DAT_PROVIDER_ATTR& attributes) {
  for (DAT_COUNT i = 0; attributes.provider_specific_attr != nullptr && i < attributes.num_provider_specific_attr;
       ++i) {
    const char* const name = attributes.provider_specific_attr[i].name;
    if (name != nullptr && std::string_view(name) == "DAT_EXTENSION_INTERFACE") return true;
  }
  return false;
}
#endif

void note_extensions(const DAT_PROVIDER& provider, DAT_IA_HANDLE object) {
#if SOFTDAT_ABI == 20
  DAT_IA_ATTR attributes{};
  DAT_PROVIDER_ATTR ways{};
  if (provider.ia_query_func == nullptr) return;
  const DAT_RETURN status =
      provider.ia_query_func(object, nullptr, DAT_IA_FIELD_ALL, &attributes, DAT_PROVIDER_FIELD_ALL, &ways);
  if (status == DAT_SUCCESS && (attributes.extension_supported != DAT_EXTENSION_NONE || names_extensions(ways))) {
    are_extensions_allowed.store(true, std::memory_order_release);
  }
#else
  static_cast<void>(provider);
  static_cast<void>(object);
#endif
}

// Null when there is no handle or no memory left; `ia` is what it was then.
void* add(OpenIa& ia) {
  void* handle = nullptr;
  bool is_table_known = false;
  try {
    // First: once the handle can be found, calls need the table.
    process_tables().acquire(ia.table, ia.lease.handle_range());
    is_table_known = true;
    handle = process_ias().add(std::move(ia));
  } catch (const std::bad_alloc&) {
    handle = nullptr;
  }
  if (handle == nullptr && is_table_known) process_tables().release(ia.table);
  return handle;
}

// Gives the consumer a handle for the provider's freshly opened `object`. Throws nothing, because nobody else would
// close the object then.
DAT_RETURN publish(const DAT_PROVIDER& provider, DAT_IA_HANDLE object, Lease lease, DAT_IA_HANDLE* ia_handle) {
  const void* table = table_of(object, lease);
  OpenIa ia{object, table, std::move(lease)};
  void* const handle = add(ia);
  if (handle == nullptr) {
    // The consumer will never have a handle to close the IA with.
    call_slot(table, &DAT_PROVIDER::ia_close_func, object, DAT_CLOSE_ABRUPT_FLAG);
    process_registry().close(std::move(ia.lease));
    return refuse(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
  }
  note_extensions(provider, object);
  *ia_handle = handle;
  return DAT_SUCCESS;
}

// Says why the registry itself refuses to open an IA.
void say_opening(const std::string& reason) {
  base::say("dat_ia_open answered " + reason + ". See dat_ia_open(3).");
}

// Opens the IA with the leased provider; on failure the lease ends.
DAT_RETURN open_with(Lease lease, std::string& ia_name, DAT_COUNT evd_min_qlen, DAT_EVD_HANDLE* async_evd,
                     DAT_IA_HANDLE* ia_handle) {
  const auto& provider = *static_cast<const DAT_PROVIDER*>(lease.table);
  DAT_IA_HANDLE object = nullptr;
  DAT_EVD_HANDLE evd = nullptr;
  DAT_RETURN status = refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
  if (!read_self(async_evd, &evd, sizeof evd)) {
    say_opening("DAT_INVALID_PARAMETER, DAT_INVALID_ARG3: there is no place for the asynchronous EVD (argument 3)");
  } else {
    status = call_slot(&provider, &DAT_PROVIDER::ia_open_func, ia_name.data(), evd_min_qlen, &evd, &object);
  }
  if (status == DAT_SUCCESS) status = publish(provider, object, std::move(lease), ia_handle);
  // publish() ends the lease itself when it fails; a provider that failed has it still.
  else
    process_registry().close(std::move(lease));
  if (status == DAT_SUCCESS) *async_evd = evd;
  return status;
}

// Solaris programs prefix a name to say that they can live with relaxed memory ordering, which
// never happens here.
std::string without_prefix(std::string ia_name) {
#if SOFTDAT_ABI == 12
  constexpr std::string_view kPrefix = "RO_AWARE_";
  if (ia_name.starts_with(kPrefix)) ia_name.erase(0, kPrefix.size());
#endif
  return ia_name;
}

void tell_call(std::string_view call, std::string_view name, DAT_RETURN status) {
  tell_if_possible(Topic::kConsumerApi, [&] {
    const char* type = nullptr;
    const char* subtype = nullptr;
    dat_strerror(status, &type, &subtype);
    return "dat: " + std::string(call) + std::string(name) + ": " + type + " " + subtype;
  });
}

// Ends what open_with() began: the handle, the table's use, the lease, in this order.
void forget(std::size_t token, const void* table) {
  OpenIa ia = process_ias().end_close(token);
  SOFTDAT_DEBUG_CHECK(ia.table == table, "the table of an IA stays until it is closed");
  process_tables().release(table);
  process_registry().close(std::move(ia.lease));
}

}  // namespace

#if SOFTDAT_ABI == 20
constinit std::atomic<bool> are_extensions_allowed{false};
#endif

const void* table_of(const void* object, const Lease& lease) {
  const void* word = nullptr;
  return read_self(object, &word, sizeof word) && word != nullptr ? word : lease.table;
}

std::optional<Lease> open_provider(const std::string& ia_name, std::uint32_t major, std::uint32_t minor,
                                   bool is_thread_safe) {
  // Providers of the other API have tables of the same shape whose slots take other arguments.
  if (major != kApiMajor) {
    say_opening("DAT_PROVIDER_NOT_FOUND: DAT " + std::to_string(major) + '.' + std::to_string(minor) +
                " is asked for, and this library serves DAT " + std::to_string(kApiMajor) + '.' +
                std::to_string(kApiMinor) + "; DAT 1.2 is <dat/udat.h> with -ldat, DAT 2.0 <dat2/udat.h> with -ldat2");
    return std::nullopt;
  }
  return process_registry().open({ia_name, major, minor, is_thread_safe});
}

}  // namespace softdat::registry

using namespace softdat::registry;

extern "C" {

DAT_RETURN dat_ia_openv(const DAT_NAME_PTR ia_name, DAT_COUNT async_evd_min_qlen, DAT_EVD_HANDLE* async_evd_handle,
                        DAT_IA_HANDLE* ia_handle, DAT_UINT32 dat_major, DAT_UINT32 dat_minor,
                        DAT_BOOLEAN is_thread_safe) {
  return answer_with([&] {
    const auto text = read_text(ia_name, kLongestIaName);
    if (!text) {
      say_opening("DAT_INVALID_PARAMETER, DAT_INVALID_ARG1: ia_name is null, or has 256 characters or more");
      return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    }
    DAT_IA_HANDLE unused = nullptr;
    if (!read_self(ia_handle, &unused, sizeof unused)) {
      say_opening("DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA: there is no place for the IA handle (argument 4)");
      return refuse_handle(DAT_INVALID_HANDLE_IA);
    }
    std::string name = without_prefix(*text);
    auto lease = open_provider(name, dat_major, dat_minor, is_thread_safe != DAT_FALSE);
    if (!lease) return refuse(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
    const DAT_RETURN status = open_with(std::move(*lease), name, async_evd_min_qlen, async_evd_handle, ia_handle);
    tell_call("dat_ia_open of ", name, status);
    return status;
  });
}

DAT_RETURN dat_ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE* async_evd_handle, DAT_IA_ATTR_MASK ia_mask,
                        DAT_IA_ATTR* ia_attributes, DAT_PROVIDER_ATTR_MASK provider_mask,
                        DAT_PROVIDER_ATTR* provider_attributes) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::ia_query_func, async_evd_handle, ia_mask, ia_attributes, provider_mask,
                     provider_attributes);
}

DAT_RETURN dat_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS close_flags) {
  // One of several closers gets the row. The others answer INVALID_HANDLE.
  const auto closing = process_ias().begin_close(ia_handle);
  if (!closing) return refuse_in_words(ia_handle, DAT_INVALID_HANDLE_IA, &DAT_PROVIDER::ia_close_func, close_flags);
  const DAT_IA_HANDLE object = closing->object;
  process_tables().forget_readable();
  const DAT_RETURN status = call_slot(closing->table, &DAT_PROVIDER::ia_close_func, object, close_flags);
  // Again: other threads may have remembered handles of this IA during the close.
  process_tables().forget_readable();
  if (status == DAT_SUCCESS) {
    forget(closing->token, closing->table);
  } else {
    process_ias().cancel_close(closing->token);
  }
  tell_call("dat_ia_close", {}, status);
  return status;
}

#if SOFTDAT_ABI == 20

// Providers call this to show consumers the integer form of an IA in query results; it maps either
// form to the other and leaves *other alone when the IA is not open.
DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE handle, DAT_IA_HANDLE* other) {
  if (other == nullptr) return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
  void* found = process_ias().object_of(handle);
  if (found == nullptr) found = process_ias().integer_of(handle);
  if (found == nullptr) return refuse_handle(DAT_INVALID_HANDLE_IA);
  *other = found;
  return DAT_SUCCESS;
}

#endif

}  // extern "C"
