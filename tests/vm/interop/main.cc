// SPDX-License-Identifier: BSD-2-Clause
// interop_peer ADAPTER initiator|responder CASE ADDRESS PORT: one side of one case. ADDRESS is the responder's. The
// responder says "ready" when the other side may come. The last line is PASS, or FAIL and why.
// interop_peer --list: the cases.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>

#include "tests/vm/interop/cases.h"

namespace softdat::interop {
namespace {

std::array<std::span<const Case>, 4> all_cases() {
  return {data_cases(), connection_cases(), error_cases(), rping_cases()};
}

const Case* find_case(std::string_view name) {
  for (const auto& group : all_cases())
    for (const Case& one : group)
      if (name == one.name) return &one;
  return nullptr;
}

int list() {
  for (const auto& group : all_cases())
    for (const Case& one : group) std::cout << one.name << '\n';
  return 0;
}

int run(const Case& one, const Place& place, bool is_initiator) {
  try {
    Conversation conversation(place, is_initiator);
    if (!is_initiator) conversation.listen();
    one.run(conversation);
    std::cout << "PASS" << std::endl;
    return 0;
  } catch (const std::exception& problem) {
    std::cout << "FAIL " << problem.what() << std::endl;
    return 1;
  }
}

}  // namespace
}  // namespace softdat::interop

int main(int count, char** words) {
  using namespace softdat::interop;
  if (count == 2 && std::strcmp(words[1], "--list") == 0) return list();
  const Case* const one = count == 6 ? find_case(words[3]) : nullptr;
  const bool is_initiator = count == 6 && std::strcmp(words[2], "initiator") == 0;
  if (one == nullptr || (!is_initiator && std::strcmp(words[2], "responder") != 0)) {
    std::cerr << "usage: interop_peer ADAPTER initiator|responder CASE ADDRESS PORT\n";
    return 2;
  }
  const Place place{.adapter = words[1], .address = words[4], .port = std::strtoull(words[5], nullptr, 10)};
  return run(*one, place, is_initiator);
}
