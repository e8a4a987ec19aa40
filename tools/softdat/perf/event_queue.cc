// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/event_queue.h"

#include <dat2/dat_ib_extensions.h>
#include <fmt/format.h>

#include "tools/softdat/event_names.h"

namespace softdat::tools::perf {
namespace {

constexpr DAT_TIMEOUT kBetweenChecks = 1'000'000;  // us
constexpr DAT_TIMEOUT kPatience = 30'000'000;      // us

bool is_completion(const DAT_EVENT& event) {
  const auto number = static_cast<unsigned>(event.event_number);
  return number == DAT_DTO_COMPLETION_EVENT || number == DAT_IB_DTO_EVENT;
}

// Of one that is no completion, or of a DTO that failed.
[[noreturn, gnu::noinline]] void throw_failure_in(const DAT_EVENT& event) {
  if (!is_completion(event)) {
    throw Failure(fmt::format("instead of a completion came {}", event_text(event.event_number)));
  }
  const DAT_DTO_COMPLETION_STATUS status = event.event_data.dto_completion_event_data.status;
  if (status == DAT_DTO_ERR_FLUSHED) throw Failure("the other side is gone");
  throw Failure(fmt::format("an operation failed: {}", completion_status_text(status)));
}

}  // namespace

EventQueue::EventQueue(const Adapter& adapter, DAT_COUNT length, int flags) {
  require(dat_evd_create(adapter.ia(), length, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(flags), &evd_),
          "dat_evd_create");
}

// Checks whether the peer lives only now and then, because the poll is what is measured.
void EventQueue::take(Waiting waiting, const LivenessCheck& check, DAT_EVENT& event) {
  if (waiting == Waiting::kBlock) return take_blocking(check, event);
  constexpr std::uint64_t kPollsBetweenChecks = 1u << 20;
  for (std::uint64_t polls = 1; !try_take(event); ++polls) {
    if (polls % kPollsBetweenChecks == 0) check();
  }
}

// Returns regularly from the wait, to check whether the peer lives.
[[gnu::noinline]] void EventQueue::take_blocking(const LivenessCheck& check, DAT_EVENT& event) {
  DAT_COUNT more = 0;
  for (;;) {
    const DAT_RETURN result = dat_evd_wait(evd_, kBetweenChecks, 1, &event, &more);
    if (result == DAT_SUCCESS) return;
    const auto type = DAT_GET_TYPE(result);
    if (type != DAT_TIMEOUT_EXPIRED && type != DAT_INTERRUPTED_CALL) require(result, "dat_evd_wait");
    check();
  }
}

DAT_EVENT EventQueue::await(const char* what) {
  DAT_EVENT event;
  DAT_COUNT more = 0;
  const DAT_RETURN result = dat_evd_wait(evd_, kPatience, 1, &event, &more);
  if (result != DAT_SUCCESS) throw Failure(fmt::format("waiting for {}: {}", what, describe(result)));
  return event;
}

const DAT_DTO_COMPLETION_EVENT_DATA& completion_of(const DAT_EVENT& event) {
  const DAT_DTO_COMPLETION_EVENT_DATA& completion = event.event_data.dto_completion_event_data;
  if (!is_completion(event) || completion.status != DAT_DTO_SUCCESS) [[unlikely]]
    throw_failure_in(event);
  return completion;
}

}  // namespace softdat::tools::perf
