// SPDX-License-Identifier: BSD-2-Clause
// What two stacks show each other. Each case is one function for both sides; it throws when what it sees is not right.
#pragma once

#include <span>

#include "tests/vm/interop/conversation.h"

namespace softdat::interop {

struct Case {
  const char* name;
  void (*run)(Conversation&);
};

std::span<const Case> data_cases();
std::span<const Case> connection_cases();
std::span<const Case> error_cases();
// Speak to the rping program of librdmacm.
std::span<const Case> rping_cases();

}  // namespace softdat::interop
