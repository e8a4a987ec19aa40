// SPDX-License-Identifier: BSD-2-Clause
// interop_peer ADAPTER initiator|responder ADDRESS PORT CASE...: one side of some cases, up to the first that fails.
// ADDRESS is the responder's. The responder says "ready" when the other side may come. Each case gets a line: its name,
// then PASS and the seconds it took, or FAIL and why.
// interop_peer --list: the cases.
// interop_peer --open ADAPTER: whether the adapter can be opened.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <vector>

#include "tests/vm/interop/cases.h"

namespace softdat::interop {
namespace {

std::array<std::span<const Case>, 4> all_cases() {
  return {data_cases(), error_cases(), rping_cases(), connection_cases()};
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

int open(const char* adapter) {
  try {
    const conformance::Adapter opened(adapter);
    return 0;
  } catch (const std::exception& problem) {
    std::cout << problem.what() << std::endl;
    return 1;
  }
}

// False, and says why, when the case fails.
bool run(Conversation& conversation, const Case& one) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    one.run(conversation);
    conversation.renew();
  } catch (const std::exception& problem) {
    std::cout << one.name << " FAIL " << problem.what() << std::endl;
    return false;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << one.name << " PASS " << took.count() << std::endl;
  return true;
}

int run_all(const Place& place, bool is_initiator, std::span<const Case* const> cases) {
  try {
    Conversation conversation(place, is_initiator);
    if (!is_initiator) conversation.listen();
    for (const Case* const one : cases)
      if (!run(conversation, *one)) return 1;
    return 0;
  } catch (const std::exception& problem) {
    std::cout << "cannot begin: " << problem.what() << std::endl;
    return 1;
  }
}

int usage() {
  std::cerr << "usage: interop_peer ADAPTER initiator|responder ADDRESS PORT CASE...\n";
  return 2;
}

}  // namespace
}  // namespace softdat::interop

int main(int count, char** words) {
  using namespace softdat::interop;
  if (count == 2 && std::strcmp(words[1], "--list") == 0) return list();
  if (count == 3 && std::strcmp(words[1], "--open") == 0) return open(words[2]);
  if (count < 6) return usage();
  const bool is_initiator = std::strcmp(words[2], "initiator") == 0;
  if (!is_initiator && std::strcmp(words[2], "responder") != 0) return usage();
  std::vector<const Case*> cases;
  for (int i = 5; i < count; ++i) {
    cases.push_back(find_case(words[i]));
    if (cases.back() == nullptr) return usage();
  }
  const Place place{.adapter = words[1], .address = words[3], .port = std::strtoull(words[4], nullptr, 10)};
  return run_all(place, is_initiator, cases);
}
