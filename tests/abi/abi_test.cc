// SPDX-License-Identifier: BSD-2-Clause
// Every fact of the tables holds for the public headers; the 2.0 table also for the headers of libdapl-dev, which shows
// that the table is right. Most of it was shown by compiling this program; here we count that nothing was left out.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/abi/checks.h"
#include "tests/abi/fact_table.h"

extern "C" {
const abi_checks* abi_dat12_c(void);
const abi_checks* abi_dat12_cxx(void);
const abi_checks* abi_dat20_c(void);
const abi_checks* abi_dat20_cxx(void);
const abi_checks* abi_installed_c(void);
}
#ifndef ABI_HAS_INSTALLED
const abi_checks* abi_installed_c(void) {
  return nullptr;
}
#endif

namespace softdat::abi_test {
namespace {

struct Subject {
  const char* name;
  const abi_checks* (*checks)(void);
  const char* table;
  const char* overrides;
};

void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.name;
}

using Key = std::pair<std::string, std::string>;

std::multiset<Key> keys_of(const abi_check* check) {
  std::multiset<Key> keys;
  for (; check->kind != nullptr; ++check) keys.emplace(check->kind, check->name);
  return keys;
}

class Abi : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    checks_ = GetParam().checks();
    if (checks_ == nullptr) GTEST_SKIP() << "no <dat2/udat.h> of libdapl-dev in /usr/include to compare with";
  }

  const abi_checks* checks_ = nullptr;
};

TEST_P(Abi, HasACheckForEveryFactOfTheTable) {
  const std::string facts = SOFTDAT_ABI_FACTS;
  const std::string overrides = GetParam().overrides;
  const FactTable table =
      read_fact_table(facts + "/" + GetParam().table, overrides.empty() ? "" : facts + "/" + overrides);
  std::multiset<Key> expected;
  std::map<std::string, int> counts;
  for (const Fact& fact : table.facts) {
    expected.emplace(fact.kind, fact.name);
    ++counts[fact.kind];
  }
  std::multiset<Key> compiled = keys_of(checks_->at_compile_time);
  compiled.merge(keys_of(checks_->at_run_time));
  EXPECT_EQ(compiled, expected);
  for (const auto& [kind, count] : counts) {
    RecordProperty(kind, count);
    std::cout << "  " << count << " " << kind << '\n';
  }
  for (const Skip& skip : table.skips) std::cout << "  not checked: " << skip.fact.name << ": " << skip.reason << '\n';
}

TEST_P(Abi, MacrosExpandAndCallAsTheTableSays) {
  int run = 0;
  for (const abi_check* check = checks_->at_run_time; check->kind != nullptr; ++check, ++run) {
    const char* complaint = check->run();
    EXPECT_EQ(complaint, nullptr) << check->kind << " " << check->name << " " << complaint;
  }
  EXPECT_GT(run, 0);
}

INSTANTIATE_TEST_SUITE_P(Tables, Abi,
                         testing::Values(Subject{"dat12_as_c", abi_dat12_c, "dat12.tsv", "dat12_overrides.tsv"},
                                         Subject{"dat12_as_cxx", abi_dat12_cxx, "dat12.tsv", "dat12_overrides.tsv"},
                                         Subject{"dat20_as_c", abi_dat20_c, "dat20.tsv", "dat20_overrides.tsv"},
                                         Subject{"dat20_as_cxx", abi_dat20_cxx, "dat20.tsv", "dat20_overrides.tsv"},
                                         Subject{"libdapl_dev_as_c", abi_installed_c, "dat20.tsv",
                                                 "dat20_stock_skips.tsv"}),
                         [](const testing::TestParamInfo<Subject>& subject) { return subject.param.name; });

}  // namespace
}  // namespace softdat::abi_test
