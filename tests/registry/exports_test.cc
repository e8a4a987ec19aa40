// SPDX-License-Identifier: BSD-2-Clause
// The registry library exports the functions of its API under their version node, and nothing else.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

namespace softdat::registry {
namespace {

#if SOFTDAT_ABI == 20
const std::string kNode = "DAT_2.0";
constexpr std::size_t kFunctions = 84;
#else
const std::string kNode = "DAT_1.2";
constexpr std::size_t kFunctions = 72;
#endif

std::set<std::string> expected_exports() {
  std::set<std::string> lines{"A " + kNode};
  std::ifstream file(EXPORT_LIST);
  for (std::string name; std::getline(file, name);) lines.insert("T " + name + "@@" + kNode);
  return lines;
}

// "T name@@NODE" for each dynamic symbol that the library defines.
std::set<std::string> actual_exports() {
  std::set<std::string> lines;
  FILE* nm = ::popen(NM " -D --defined-only --with-symbol-versions " REGISTRY_LIBRARY, "r");
  EXPECT_NE(nm, nullptr);
  char value[64];
  char kind[8];
  char name[256];
  while (std::fscanf(nm, "%63s %7s %255s", value, kind, name) == 3) {
    lines.insert(std::string(kind) + " " + name);
  }
  EXPECT_EQ(::pclose(nm), 0);
  return lines;
}

TEST(Exports, AreTheFunctionsOfTheApiAndNothingElse) {
  const std::set<std::string> expected = expected_exports();
  EXPECT_EQ(expected.size(), kFunctions + 1);
  EXPECT_EQ(actual_exports(), expected);
}

}  // namespace
}  // namespace softdat::registry
