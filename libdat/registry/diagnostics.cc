// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/diagnostics.h"

#include <syslog.h>
#include <unistd.h>

#include <cstdlib>

#include "base/made_once.h"

namespace softdat::registry {
namespace {

constexpr unsigned long kToStandardOutput = 1;
constexpr unsigned long kToSyslog = 2;

// Numbers as strtol with base 0 has them: 255, 0xff and 0377 are the same mask.
unsigned long number_in(const char* variable, unsigned long otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const unsigned long number = std::strtoul(text, &end, 0);
  return *end == '\0' ? number : otherwise;
}

unsigned long topics() {
  static constinit base::FoundOnce<unsigned long> chosen;
  return chosen.get([] { return number_in("DAT_DBG_TYPE", static_cast<unsigned long>(Topic::kError)); });
}

unsigned long destination() {
  static constinit base::FoundOnce<unsigned long> chosen;
  return chosen.get([] { return number_in("DAT_DBG_DEST", 0); });
}

}  // namespace

bool is_told(Topic topic) {
  return (topics() & static_cast<unsigned long>(topic)) != 0;
}

void tell(Topic topic, const std::string& message) {
  if (!is_told(topic)) return;
  if (destination() == kToSyslog) {
    ::syslog(topic == Topic::kError ? LOG_USER | LOG_WARNING : LOG_USER | LOG_DEBUG, "%s", message.c_str());
    return;
  }
  const bool is_output = destination() == kToStandardOutput;
  // As other lines about mistakes; the rest is for who looks into the registry.
  const std::string speaker = topic == Topic::kError ? "softdat[" + std::to_string(::getpid()) + "]: " : "";
  const std::string line = speaker + message + "\n";
  // Nothing can be done about a terminal that does not take the line.
  [[maybe_unused]] const ssize_t written = ::write(is_output ? STDOUT_FILENO : STDERR_FILENO, line.data(), line.size());
}

}  // namespace softdat::registry
