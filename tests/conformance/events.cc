// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/events.h"

#include <sstream>
#include <string>
#include <thread>

#include "tests/asleep.h"
#include "tests/conformance/answers.h"

namespace softdat::conformance {
namespace {

std::string name_event(DAT_EVENT_NUMBER number) {
  std::ostringstream text;
  text << "event 0x" << std::hex << static_cast<unsigned>(number);
  return text.str();
}

}  // namespace

DAT_EVENT next_event(DAT_EVD_HANDLE evd) {
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  require(dat_evd_wait(evd, kPatience, 1, &event, &more), "dat_evd_wait");
  return event;
}

DAT_EVENT next_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER expected) {
  const DAT_EVENT event = next_event(evd);
  if (event.event_number != expected)
    throw SetupFailure("expected " + name_event(expected) + ", got " + name_event(event.event_number));
  return event;
}

DAT_DTO_COMPLETION_EVENT_DATA next_completion(DAT_EVD_HANDLE evd) {
  return next_event(evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
}

std::optional<DAT_EVENT> take_event(DAT_EVD_HANDLE evd) {
  DAT_EVENT event{};
  const DAT_RETURN result = dat_evd_dequeue(evd, &event);
  if (result == DAT_SUCCESS) return event;
  if (type_of(result) != DAT_QUEUE_EMPTY) require(result, "dat_evd_dequeue");
  return std::nullopt;
}

int drain(DAT_EVD_HANDLE evd) {
  int taken = 0;
  while (take_event(evd)) ++taken;
  return taken;
}

bool is_quiet(DAT_EVD_HANDLE evd) {
  return !take_event(evd).has_value();
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kPatience);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

bool await_asleep(pid_t thread) {
  return eventually([&] { return is_asleep(thread); });
}

DAT_EVENT make_software_event(std::uintptr_t value) {
  DAT_EVENT event{};
  event.event_number = DAT_SOFTWARE_EVENT;
  event.event_data.software_event_data.pointer = reinterpret_cast<void*>(value);
  return event;
}

void post_software_event(DAT_EVD_HANDLE evd, std::uintptr_t value) {
  const DAT_EVENT event = make_software_event(value);
  require(dat_evd_post_se(evd, &event), "dat_evd_post_se");
}

std::uintptr_t software_value(const DAT_EVENT& event) {
  return reinterpret_cast<std::uintptr_t>(event.event_data.software_event_data.pointer);
}

}  // namespace softdat::conformance
