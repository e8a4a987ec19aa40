// SPDX-License-Identifier: BSD-2-Clause
// Every entry point with every kind of wrong argument: the documented error, no crash, and nothing
// changed.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include "tests/conformance/entry_points.h"
#include "tests/conformance/lacks.h"

namespace softdat::conformance {
namespace {

// The names that the registry library exports, as nm tells; empty where there is no nm.
std::set<std::string> exported_functions() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<void*>(&dat_ia_openv), &library) == 0) return {};
  const std::string command = "nm -D --defined-only '" + std::string(library.dli_fname) + "' 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::set<std::string> names;
  char line[512];
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe.get()) != nullptr) {
    char kind = 0;
    char name[256];
    if (std::sscanf(line, "%*x %c %255[^@\n]", &kind, name) != 2 || kind != 'T') continue;
    if (std::string(name).rfind("dat", 0) == 0) names.insert(name);
  }
  return names;
}

TEST(BadInput, TableNamesEveryExportedFunction) {
  const std::set<std::string> exported = exported_functions();
  if (exported.empty()) GTEST_SKIP() << "no nm here to read the library's symbols";
  std::set<std::string> covered;
  for (const HandleArgument& argument : handle_arguments()) covered.insert(argument.function);
  for (const std::string& name : functions_without_handles()) covered.insert(name);
  for (const std::string& name : exported) EXPECT_EQ(covered.count(name), 1u) << name << " is not in the table";
}

TEST(BadInput, NoBadHandleIsTakenAndNothingChanges) {
  if (const Lack lack = lack_of_windows(); !lack.empty()) GTEST_SKIP() << lack;
  World world;
  for (const HandleArgument& argument : handle_arguments()) {
    for (const BadHandle& bad : world.bad_handles(argument.type, argument.null_is_allowed)) {
      if (argument.any_kind && bad.why.rfind("living", 0) == 0) continue;
      const DAT_RETURN result = argument.call(world, bad.handle);
      EXPECT_THAT(result, fails_with(DAT_INVALID_HANDLE, argument.subtype))
          << argument.function << "(" << argument.argument << "): " << bad.why << " " << bad.handle;
    }
  }
  world.expect_unharmed();
}

TEST(BadInput, NoWildArgumentIsTakenAndNothingChanges) {
  if (const Lack lack = lack_of_windows(); !lack.empty()) GTEST_SKIP() << lack;
  World world;
  for (const WildArgument& argument : wild_arguments()) {
    EXPECT_THAT(argument.call(world), argument.answer) << argument.function << ": " << argument.argument;
  }
  world.expect_unharmed();
}

// A refused call leaves the caller's outputs alone.
TEST(BadInput, OutputsAreNotWrittenOnFailure) {
  if (const Lack lack = lack_of_windows(); !lack.empty()) GTEST_SKIP() << lack;
  World world;
  for (const HandleArgument& argument : handle_arguments()) {
    // An endpoint is modified by what stands in the buffer, and a timed out CNO writes null.
    if (argument.function == "dat_ep_modify") continue;
    std::fill(std::begin(world.out.bytes), std::end(world.out.bytes), static_cast<unsigned char>(0xb7));
    static_cast<void>(argument.call(world, reinterpret_cast<DAT_HANDLE>(std::uintptr_t{54321})));
    for (const unsigned char byte : world.out.bytes) {
      ASSERT_EQ(byte, 0xb7) << argument.function << "(" << argument.argument << ")";
    }
  }
}

}  // namespace
}  // namespace softdat::conformance
