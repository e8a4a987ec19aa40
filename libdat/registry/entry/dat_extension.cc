// SPDX-License-Identifier: BSD-2-Clause
// The way into a provider's extensions (DAT 2.0). Most operations go through a handle; two families
// work without an open IA: one opens a provider by name just to query it, the other ends that.

#include <algorithm>
#include <cstdarg>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/forks.h"
#include "libdat/registry/entry/dispatch.h"
#include "libdat/registry/entry/opening.h"
#include "libdat/registry/lock_places.h"
#include "libdat/registry/self_memory.h"

namespace softdat::registry {
namespace {

// A provider that an open-query operation brought in, until the close-query on the same object.
struct OpenQuery {
  DAT_HANDLE object = nullptr;
  const void* table = nullptr;
  Lease lease;
};

// A list, so that a query that is open already is put there, and back, without memory.
using Queries = std::list<OpenQuery>;

struct OpenQueries {
  base::Mutex<locks::kOpenQueries> mutex;
  Queries queries;  // guarded by mutex
};

OpenQueries& open_queries() {
  static OpenQueries& queries = *new OpenQueries;
  return queries;
}

// As in process.cc, but registered before that, so taken after it: a thread that waits there for the loader must not
// hold this.
[[gnu::constructor(101)]] void hold_queries_in_forks() {
  open_queries();
  base::on_fork({.prepare = [] { base::take_before_fork(open_queries().mutex); },
                 .in_parent = [] { open_queries().mutex.unlock(); },
                 .in_child = [] { open_queries().mutex.unlock(); }});
}

void remember(Queries query) {
  const std::lock_guard lock(open_queries().mutex);
  Queries& queries = open_queries().queries;
  queries.splice(queries.end(), query);
}

// Takes the query out, so that of two concurrent closes one finds nothing. Empty if there is none.
Queries take(DAT_HANDLE object) {
  const std::lock_guard lock(open_queries().mutex);
  Queries& queries = open_queries().queries;
  const auto query = std::ranges::find(queries, object, &OpenQuery::object);
  Queries taken;
  if (query != queries.end()) taken.splice(taken.end(), queries, query);
  return taken;
}

DAT_RETURN run_handler(const void* table, DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  const auto handler = static_cast<const DAT_PROVIDER*>(table)->handle_extendedop_func;
  if (handler == nullptr) return refuse(DAT_NOT_IMPLEMENTED);
  return handler(handle, operation, arguments);
}

// The place of a query that the provider is going to open, which takes memory. Without memory the lease ends.
Queries place_for(Lease& lease) try {
  Queries query(1);
  query.front().table = lease.table;
  query.front().lease = std::move(lease);
  return query;
} catch (const std::bad_alloc&) {
  process_registry().close(std::move(lease));
  throw;
}

// The provider finds the name where a handle would be, and its own arguments behind it.
DAT_RETURN open_query(DAT_EXTENDED_OP operation, va_list arguments) {
  auto name = read_text(va_arg(arguments, const char*), kLongestIaName);
  if (!name) return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
  // The provider reads the list from here on, so a copy looks ahead for the place of the answer.
  va_list rest;
  va_copy(rest, arguments);
  DAT_HANDLE* const out = va_arg(rest, DAT_HANDLE*);
  va_end(rest);
  DAT_HANDLE object = nullptr;
  // The place of the answer must be readable before the provider writes to it.
  if (!read_self(out, &object, sizeof object)) {
    return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
  }
  auto lease = open_provider(*name, kApiMajor, kApiMinor, false);
  if (!lease) return refuse(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
  Queries query = place_for(*lease);
  const DAT_RETURN status = run_handler(query.front().table, name->data(), operation, arguments);
  if (status != DAT_SUCCESS) {
    process_registry().close(std::move(query.front().lease));
    return status;
  }
  query.front().object = *out;
  remember(std::move(query));
  return status;
}

DAT_RETURN close_query(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  Queries query = take(handle);
  if (query.empty()) return refuse_handle(DAT_INVALID_HANDLE1);
  const DAT_RETURN status = run_handler(query.front().table, handle, operation, arguments);
  if (status == DAT_SUCCESS) {
    process_registry().close(std::move(query.front().lease));
  } else {
    remember(std::move(query));
  }
  return status;
}

// The same as in dispatch.h, for the arguments of an extension.
DAT_RETURN refuse_in_words(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  const void* const table = base::are_words_wanted() ? process_tables().teller() : nullptr;
  if (table != nullptr && run_handler(table, handle, operation, arguments) == DAT_SUCCESS) return DAT_SUCCESS;
  return refuse_handle(DAT_INVALID_HANDLE1);
}

DAT_RETURN extend(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  const auto bits = static_cast<unsigned>(operation);
  if ((bits & DAT_OPEN_EXTENSION_BASE) != 0) return open_query(operation, arguments);
  if (handle == nullptr) return refuse_in_words(handle, operation, arguments);
  if ((bits & DAT_CLOSE_EXTENSION_BASE) != 0) return close_query(handle, operation, arguments);
  if (!are_extensions_allowed.load(std::memory_order_acquire)) return refuse(DAT_NOT_IMPLEMENTED);
  const AnyObject found = find_any_object(handle);
  if (found.table == nullptr) return refuse_in_words(handle, operation, arguments);
  return run_handler(found.table, found.object, operation, arguments);
}

}  // namespace
}  // namespace softdat::registry

using namespace softdat::registry;

extern "C" DAT_RETURN dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP operation, ...) {
  va_list arguments;
  va_start(arguments, operation);
  const DAT_RETURN status = answer_with([&] { return extend(handle, operation, arguments); });
  va_end(arguments);
  return status;
}
