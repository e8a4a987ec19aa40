// SPDX-License-Identifier: BSD-2-Clause
// Events under the sanitizer. They are taken from the EVD here, because DAT 1.2 does not tell which operation has
// completed. What is void in an event is filled with a pattern, and with a handle that is none.
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "base/call.h"
#include "base/log.h"
#include "libdat/api/call_argument.h"
#include "libdat/api/event_conversion.h"
#include "libdat/api/refused_call.h"
#include "libdat/api/traced_call.h"
#include "libdat/api/watched_call.h"
#include "libdat/object/cancellation_shield.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/sanitize/marks.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::EventDispatcher;
using object::Kind;
using object::StatusType;
using sanitize::Ledger;
using sanitize::LedgerEvents;
using sanitize::Site;

// A wait of this length was meant to find something.
constexpr DAT_TIMEOUT kLongWait = 100'000;  // microseconds

std::atomic<Handle> void_handle{nullptr};

// Has a handle, but is never published: every call with the handle is refused.
class NoObject final : public object::Object {
 public:
  NoObject() : Object(Kind::kEvd, nullptr) {}
};

template <typename Field>
void make_void(Field& field) {
  std::memset(&field, sanitize::kVoidByte, sizeof field);
}

void make_void(DAT_EVENT& event) {
  if (sanitize::mode() == sanitize::Mode::kCompletions) return;
  std::memset(&event, sanitize::kVoidByte, sizeof event);
  event.evd_handle = void_handle.load(std::memory_order_relaxed);
  event.event_data.dto_completion_event_data.ep_handle = event.evd_handle;
}

// Only a receive whose sender invalidated a key has an rmr_context. Events of DAT 1.2 have none at all.
template <typename Data>
void make_key_void(const object::DtoCompletion& completion, Data& data) {
  if constexpr (requires { data.rmr_context; }) {
    const bool has_key = completion.status == object::DtoStatus::kSuccess &&
                         completion.operation == object::DtoOperation::kReceiveWithInvalidate;
    if (!has_key) make_void(data.rmr_context);
  }
}

void write_watched(const object::Event& from, DAT_EVENT& to) {
  write_event(from, to);
  const auto* const completion = std::get_if<object::DtoCompletion>(&from.body);
  if (completion == nullptr || sanitize::mode() == sanitize::Mode::kCompletions) return;
  auto& data = to.event_data.dto_completion_event_data;
  if (completion->status != object::DtoStatus::kSuccess) make_void(data.transfered_length);
  make_key_void(*completion, data);
}

// The private data of a connection event belongs to the EP.
void watch_private_data(Ledger& ledger, const object::Event& from, DAT_EVENT& to, const Site& site) {
  if (!std::holds_alternative<object::ConnectionNotice>(from.body)) return;
  auto& data = to.event_data.connect_event_data;
  const auto length = static_cast<std::size_t>(data.private_data_size);
  data.private_data = const_cast<void*>(ledger.private_data().watch(data.ep_handle, data.private_data, length, site));
}

bool is_type(const Status& status, StatusType type) {
  return status.type == type;
}

// Says what the entry point that this one stands for would say (spoken_calls.cc).
class SpokenCall {
 public:
  SpokenCall(const char* signature, const Site& site)
      : call_(signature, site.place), began_(is_traced_ ? base::Clock::now() : base::Time{}) {}

  template <typename... Arguments>
  DAT_RETURN finish(const Status& status, const Arguments&... arguments) const {
    const DAT_RETURN answer = return_code(status);
    if (answer != DAT_SUCCESS) {
      api::tell_refusal(call_, answer, std::array{api::argument_of(arguments)...}, kIsAbi20);
    }
    if (is_traced_) trace_call(call_.name(), began_, answer, call_.caller(), arguments...);
    return answer;
  }

 private:
  const base::Call call_;
  const bool is_traced_ = base::is_logged(base::LogLevel::kTrace);
  const base::Time began_;
};

DAT_RETURN dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event) {
  const WatchedCall call("dat_evd_dequeue", __builtin_return_address(0));
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  // Arguments that will be refused go to the entry point, which says so.
  if (!evd || event == nullptr) return call.finish(next_entries.evd_dequeue_func(evd_handle, event), {evd_handle});
  const SpokenCall spoken("dat_evd_dequeue evd_handle event", call.site());
  make_void(*event);
  object::Event taken;
  // Two threads that dequeue must note the events in the order in which they took them.
  const std::lock_guard order(LedgerEvents::dequeuing(evd_handle));
  const Status status = evd->dequeue(taken);
  if (status.ok()) write_watched(taken, *event);
  note([&](Ledger& ledger) {
    if (status.ok()) {
      ledger.events().on_event(taken, call.site());
      watch_private_data(ledger, taken, *event, call.site());
    } else if (is_type(status, StatusType::kQueueEmpty)) {
      ledger.events().on_no_event(evd_handle, call.site(), false);
    } else {
      ledger.events().on_wait_refused(evd_handle, call.site());
    }
  });
  return spoken.finish(status, evd_handle, event);
}

// Programs make an EVD unwaitable in order to have waits refused (dat_evd_set_unwaitable(3DAT)).
bool is_misuse(const Status& status) {
  if (status == object::invalid_state(StatusDetail::kInvalidStateEvdUnwaitable)) return false;
  return is_type(status, StatusType::kInvalidState) || is_type(status, StatusType::kInvalidParameter);
}

[[gnu::noinline]] DAT_RETURN watch_wait(void* caller, DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout,
                                        DAT_COUNT threshold, DAT_EVENT* event, DAT_COUNT* nmore) {
  const WatchedCall call("dat_evd_wait", caller);
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd || event == nullptr || nmore == nullptr || threshold <= 0) {
    return call.finish(next_entries.evd_wait_func(evd_handle, timeout, threshold, event, nmore), {evd_handle});
  }
  const SpokenCall spoken("dat_evd_wait evd_handle timeout threshold event n_more_events", call.site());
  make_void(*event);
  object::Event taken;
  const Status status = evd->waiting().wait(timeout, threshold, taken, *nmore);
  if (status.ok()) write_watched(taken, *event);
  note([&](Ledger& ledger) {
    if (status.ok()) {
      ledger.events().on_event(taken, call.site());
      watch_private_data(ledger, taken, *event, call.site());
    } else if (is_type(status, StatusType::kTimeoutExpired)) {
      ledger.events().on_no_event(evd_handle, call.site(), timeout >= kLongWait);
    } else if (is_misuse(status)) {
      ledger.events().on_wait_refused(evd_handle, call.site());
    }
  });
  return spoken.finish(status, evd_handle, timeout, threshold, event, nmore);
}

DAT_RETURN wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT* event,
                DAT_COUNT* nmore) {
  return object::call_deferring_cancellation(watch_wait, __builtin_return_address(0), evd_handle, timeout, threshold,
                                             event, nmore);
}

struct Resizes : NoHooks {
  static void after(Ledger& ledger, const Site&, DAT_EVD_HANDLE evd, DAT_COUNT) { ledger.events().on_resized(evd); }
};

[[gnu::noinline]] DAT_RETURN watch_cno_wait(void* caller, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout,
                                            DAT_EVD_HANDLE* evd) {
  const WatchedCall call("dat_cno_wait", caller);
  note([&](Ledger& ledger) { ledger.events().before_cno_wait(call.site()); });
  const DAT_RETURN answer = next_entries.cno_wait_func(cno, timeout, evd);
  note([&](Ledger& ledger) {
    if (answer == DAT_SUCCESS && evd != nullptr) ledger.events().on_woken(*evd, call.site());
    if (DAT_GET_TYPE(answer) == DAT_QUEUE_EMPTY) ledger.events().on_cno_timeout(cno, call.site());
  });
  return call.finish(answer, {cno});
}

DAT_RETURN wait_for_cno(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd) {
  return object::call_deferring_cancellation(watch_cno_wait, __builtin_return_address(0), cno, timeout, evd);
}

}  // namespace

void make_void_handle(const void* provider_table) {
  if (void_handle.load() != nullptr) return;
  auto object = std::make_unique<std::shared_ptr<NoObject>>(std::make_shared<NoObject>());
  auto& table = object::HandleTable::instance();
  if (!table.add(*object, provider_table)) return;
  Handle none = nullptr;
  if (!void_handle.compare_exchange_strong(none, (*object)->handle())) return table.abandon(**object);
  // Used until the very end of the process, and owned from where a finder of leaks looks.
  static constinit std::shared_ptr<NoObject>* owner = nullptr;
  owner = object.release();
  Ledger::instance().objects().set_void_handle((*owner)->handle());
}

void watch_events(DAT_PROVIDER& table) {
  table.evd_dequeue_func = dequeue;
  table.evd_wait_func = wait;
  SOFTDAT_WATCH(evd_query, NoHooks);
  SOFTDAT_WATCH(evd_modify_cno, NoHooks);
  SOFTDAT_WATCH(evd_enable, NoHooks);
  SOFTDAT_WATCH(evd_disable, NoHooks);
  SOFTDAT_WATCH(evd_resize, Resizes);
  SOFTDAT_WATCH(evd_post_se, NoHooks);
  table.cno_wait_func = wait_for_cno;
  SOFTDAT_WATCH(cno_query, NoHooks);
  SOFTDAT_WATCH(cno_modify_agent, NoHooks);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
