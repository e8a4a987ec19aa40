// SPDX-License-Identifier: BSD-2-Clause
// What the registry tells a person. DAT_DBG_TYPE chooses the kinds (bit mask, errors alone by
// default), DAT_DBG_DEST the place: standard error by default, 1 standard output, 2 syslog. Any
// thread; a message is one write, so lines of several threads never mix.
#pragma once

#include <new>
#include <string>

namespace softdat::registry {

// The bits of DAT_DBG_TYPE.
enum class Topic : unsigned {
  kError = 0x1,
  kGeneric = 0x2,
  kStaticRegistry = 0x4,
  kDynamicRegistry = 0x8,
  kProviderApi = 0x10,
  kConsumerApi = 0x20,
};

[[nodiscard]] bool is_told(Topic topic);

// Prints the message and a newline if the topic is told; an error begins with "softdat[PID]: ".
void tell(Topic topic, const std::string& message);

// The same where nothing may fail: `make_message` is only called if the topic is told, and a message for which there is
// no memory is not told.
template <typename MakeMessage>
void tell_if_possible(Topic topic, const MakeMessage& make_message) {
  if (!is_told(topic)) return;
  try {
    tell(topic, make_message());
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace softdat::registry
