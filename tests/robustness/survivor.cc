// SPDX-License-Identifier: BSD-2-Clause
#include "tests/robustness/survivor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

namespace softdat::conformance {
namespace {

// Where the processes of a user meet, softdat-UID, is there all the time. Tools and claimed memory, of other
// tests while these run, have a word in their names: softdat-run-0a2Lzh, softdat-lmr-0.
bool is_of_others(const std::string& name) {
  const std::size_t user = name.find("/softdat-");
  if (user != std::string::npos && name.find_first_not_of("0123456789", user + 9) == std::string::npos) return true;
  return std::regex_search(name, std::regex("^/(tmp|dev/shm)/softdat[-_][a-z]"));
}

}  // namespace

unsigned number_from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

std::set<std::string> leftovers() {
  std::set<std::string> names;
  for (const char* directory : {"/dev/shm", "/tmp"}) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
      const std::string name = entry.path().string();
      if (is_of_others(name)) continue;
      if (name.find("softdat") != std::string::npos || name.find("sim0") != std::string::npos) names.insert(name);
    }
  }
  return names;
}

void expect_one_end(Peer& survivor, DAT_EVENT_NUMBER expected) {
  DAT_EVENT event = next_event(survivor.connect_evd);
  if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) event = next_event(survivor.connect_evd);
  EXPECT_EQ(event.event_number, expected);
  EXPECT_EQ(survivor.state(), DAT_EP_STATE_DISCONNECTED);
  EXPECT_TRUE(is_quiet(survivor.connect_evd));
}

void expect_all_completed(Peer& survivor) {
  DAT_BOOLEAN recv_idle = DAT_FALSE;
  DAT_BOOLEAN request_idle = DAT_FALSE;
  EXPECT_TRUE(eventually([&] {
    drain(survivor.recv_evd);
    drain(survivor.request_evd);
    require(dat_ep_get_status(survivor.ep, nullptr, &recv_idle, &request_idle), "dat_ep_get_status");
    return recv_idle == DAT_TRUE && request_idle == DAT_TRUE;
  }));
}

}  // namespace softdat::conformance
