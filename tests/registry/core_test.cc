// SPDX-License-Identifier: BSD-2-Clause
// The parts of the registry that know neither DAT headers nor libraries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "libdat/registry/ia_table.h"
#include "libdat/registry/provider_tables.h"
#include "libdat/registry/self_memory.h"
#include "libdat/registry/static_registry.h"

namespace softdat::registry {
namespace {

using ::testing::ElementsAre;

// Two pages of which the second cannot be touched.
class HalfMapped {
 public:
  HalfMapped()
      : size_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        start_(static_cast<char*>(
            ::mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::mprotect(start_ + size_, size_, PROT_NONE);
  }
  ~HalfMapped() { ::munmap(start_, 2 * size_); }
  HalfMapped(const HalfMapped&) = delete;
  HalfMapped& operator=(const HalfMapped&) = delete;

  char* edge() const { return start_ + size_; }

 private:
  std::size_t size_;
  char* start_;
};

void* address(std::uintptr_t number) {
  return reinterpret_cast<void*>(number);
}

// Both ways of reading keep the same promises.
class SelfMemory : public ::testing::TestWithParam<decltype(&read_self)> {
 protected:
  static bool read_self(const void* from, void* to, std::size_t size) { return GetParam()(from, to, size); }
};

INSTANTIATE_TEST_SUITE_P(Ways, SelfMemory, ::testing::Values(read_self, read_self_by_probing));

TEST_P(SelfMemory, CopiesWhatCanBeRead) {
  const std::uint64_t word = 0x1122334455667788;
  std::uint64_t copy = 0;
  EXPECT_TRUE(read_self(&word, &copy, sizeof copy));
  EXPECT_EQ(copy, word);
}

TEST_P(SelfMemory, RefusesWhatCannot) {
  const HalfMapped memory;
  std::uint64_t word = 0;
  for (const auto number : {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{0x1000},
                            std::uintptr_t{0xdeadbeefdeadbee8}, ~std::uintptr_t{0} - 7}) {
    EXPECT_FALSE(read_self(address(number), &word, sizeof word)) << std::hex << number;
  }
  EXPECT_FALSE(read_self(memory.edge(), &word, sizeof word));
  EXPECT_FALSE(read_self(memory.edge() - 4, &word, sizeof word));
  EXPECT_TRUE(read_self(memory.edge() - 8, &word, sizeof word));
}

TEST(SelfMemoryText, KeepsErrno) {
  std::uint64_t word = 0;
  errno = ENOTTY;
  EXPECT_FALSE(read_self(nullptr, &word, sizeof word));
  EXPECT_EQ(errno, ENOTTY);
}

TEST(SelfMemoryText, ReadsTextUpToTheEndOfAMapping) {
  const HalfMapped memory;
  std::memcpy(memory.edge() - 4, "abc", 4);
  EXPECT_EQ(read_text(memory.edge() - 4, 255), "abc");
  memory.edge()[-1] = 'd';
  EXPECT_EQ(read_text(memory.edge() - 4, 255), std::nullopt);
}

TEST(SelfMemoryText, LimitsText) {
  const std::string text(255, 'x');
  EXPECT_EQ(read_text(text.c_str(), 255), text);
  EXPECT_EQ(read_text((text + "y").c_str(), 255), std::nullopt);
  EXPECT_EQ(read_text(std::string(100000, 'z').c_str(), 255), std::nullopt);
  EXPECT_EQ(read_text("", 255), "");
  EXPECT_EQ(read_text(nullptr, 255), std::nullopt);
}

// A provider whose handles live in one array.
struct Cell {
  const void* table;
};
Cell cells[4];
const base::HandleRange range_of_cells{
    .begin = reinterpret_cast<std::uintptr_t>(cells), .size = sizeof cells, .step = sizeof(Cell)};

TEST(ProviderTables, KnowsHandlesOfTablesInUse) {
  ProviderTables tables;
  const int table = 0;
  const Cell foreign{&table};
  EXPECT_EQ(tables.find(&foreign), nullptr);
  tables.acquire(&table, nullptr);
  EXPECT_EQ(tables.find(&foreign), &table);
  tables.acquire(&table, nullptr);
  tables.release(&table);
  EXPECT_EQ(tables.find(&foreign), &table);
  tables.release(&table);
  EXPECT_EQ(tables.find(&foreign), nullptr);
}

TEST(ProviderTables, AsksTheOwnerBeforeReading) {
  ProviderTables tables;
  const int table = 0;
  const int other = 0;
  cells[0].table = &table;
  cells[1].table = &other;
  cells[2].table = nullptr;
  tables.acquire(&table, &range_of_cells);
  EXPECT_EQ(tables.find(&cells[0]), &table);
  EXPECT_EQ(tables.find_at_once(&cells[0]), &table);
  EXPECT_EQ(tables.find_at_once(&cells[1]), nullptr);
  EXPECT_EQ(tables.find_at_once(&cells[2]), nullptr);
  EXPECT_EQ(tables.find(&cells[1]), nullptr);
  EXPECT_EQ(tables.find(&cells[2]), nullptr);
  const Cell elsewhere{&table};
  EXPECT_EQ(tables.find(&elsewhere), nullptr);
  tables.acquire(&other, &range_of_cells);
  EXPECT_EQ(tables.find(&cells[1]), &other);
  EXPECT_EQ(tables.find_at_once(&cells[1]), &other);
  tables.release(&table);
  EXPECT_EQ(tables.find(&cells[0]), nullptr);
  EXPECT_EQ(tables.find_at_once(&cells[0]), nullptr);
  tables.release(&other);
}

TEST(ProviderTables, RefusesWildHandles) {
  const HalfMapped memory;
  for (const bool is_foreign : {false, true}) {
    ProviderTables tables;
    const int table = 0;
    if (is_foreign) tables.acquire(&table, nullptr);
    tables.acquire(&cells, &range_of_cells);
    for (const auto number : {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{3}, std::uintptr_t{8},
                              std::uintptr_t{0xfff8}, std::uintptr_t{0xdeadbeefdeadbee8}, ~std::uintptr_t{7}}) {
      EXPECT_EQ(tables.find(address(number)), nullptr) << std::hex << number;
      EXPECT_EQ(tables.find_at_once(address(number)), nullptr) << std::hex << number;
    }
    EXPECT_EQ(tables.find(memory.edge()), nullptr);
    EXPECT_EQ(tables.find(memory.edge() - 8), nullptr);
    EXPECT_EQ(tables.find(memory.edge() - 7), nullptr);
  }
}

TEST(ProviderTables, ForgetsWhichForeignHandlesWereReadable) {
  ProviderTables tables;
  const int table = 0;
  tables.acquire(&table, nullptr);
  // More rounds than there are epochs, so that a stamp that returned would be seen.
  for (int round = 0; round < 70000; ++round) tables.forget_readable();
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static_cast<Cell*>(page)->table = &table;
  EXPECT_EQ(tables.find(page), &table);
  EXPECT_EQ(tables.find(page), &table);
  tables.forget_readable();
  ::munmap(page, 4096);
  EXPECT_EQ(tables.find(page), nullptr);
  tables.release(&table);
}

TEST(ProviderTables, CanBeReadWhileTablesComeAndGo) {
  ProviderTables tables;
  const int lasting = 0;
  const int passing[3] = {};
  cells[3].table = &lasting;
  tables.acquire(&lasting, &range_of_cells);
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    for (int round = 0; round < 3000; ++round) {
      tables.acquire(&passing[round % 3], round % 2 == 0 ? &range_of_cells : nullptr);
      if (round >= 1) tables.release(&passing[(round - 1) % 3]);
    }
    is_over = true;
  });
  const Cell stale{&cells};
  while (!is_over) {
    ASSERT_EQ(tables.find(&cells[3]), &lasting);
    ASSERT_EQ(tables.find_at_once(&cells[3]), &lasting);
    ASSERT_EQ(tables.find_at_once(&stale), nullptr);
    ASSERT_EQ(tables.find(&stale), nullptr);
  }
  writer.join();
}

OpenIa ia_of(void* object, const char* name = "a") {
  OpenIa ia;
  ia.object = object;
  ia.table = &cells;
  ia.lease.key.ia_name = name;
  return ia;
}

TEST(IaTable, CountsIntegersFromOne) {
  IaTable ias(IaTable::Handles::kIntegers);
  int objects[2] = {};
  EXPECT_EQ(ias.add(ia_of(&objects[0])), address(1));
  EXPECT_EQ(ias.add(ia_of(&objects[1])), address(2));
  EXPECT_EQ(ias.find(address(1))->object, &objects[0]);
  EXPECT_EQ(ias.find(&objects[1])->object, &objects[1]);
  EXPECT_EQ(ias.integer_of(&objects[1]), address(2));
  EXPECT_EQ(ias.object_of(address(1)), &objects[0]);
  EXPECT_EQ(ias.object_of(&objects[0]), nullptr);
  for (const auto number : {std::uintptr_t{0}, std::uintptr_t{3}, ~std::uintptr_t{0}}) {
    EXPECT_FALSE(ias.find(address(number)));
    EXPECT_EQ(ias.integer_of(address(number)), nullptr);
  }
}

TEST(IaTable, HandsOutThePointersThemselves) {
  IaTable ias(IaTable::Handles::kPointers);
  int object = 0;
  EXPECT_EQ(ias.add(ia_of(&object)), &object);
  EXPECT_EQ(ias.find(&object)->object, &object);
  EXPECT_FALSE(ias.find(address(1)));
}

TEST(IaTable, ForgetsAClosedIa) {
  IaTable ias(IaTable::Handles::kIntegers);
  int object = 0;
  void* handle = ias.add(ia_of(&object, "gone"));
  const auto closing = ias.begin_close(handle);
  ASSERT_TRUE(closing);
  EXPECT_FALSE(ias.begin_close(handle)) << "a second close at the same time";
  EXPECT_TRUE(ias.find(handle)) << "the provider may still ask for it";
  EXPECT_EQ(ias.end_close(closing->token).lease.key.ia_name, "gone");
  EXPECT_FALSE(ias.find(handle));
  EXPECT_FALSE(ias.begin_close(handle));
}

TEST(IaTable, KeepsAnIaWhoseCloseWasRefused) {
  IaTable ias(IaTable::Handles::kIntegers);
  int object = 0;
  void* handle = ias.add(ia_of(&object));
  ias.cancel_close(ias.begin_close(handle)->token);
  EXPECT_TRUE(ias.find(handle));
  EXPECT_TRUE(ias.begin_close(handle));
}

TEST(IaTable, DoesNotReuseAnIntegerSoon) {
  IaTable ias(IaTable::Handles::kIntegers);
  int object = 0;
  void* stale = ias.add(ia_of(&object));
  static_cast<void>(ias.end_close(ias.begin_close(stale)->token));
  for (int round = 0; round < 64; ++round) {
    void* handle = ias.add(ia_of(&object));
    EXPECT_NE(handle, stale);
    static_cast<void>(ias.end_close(ias.begin_close(handle)->token));
  }
  EXPECT_FALSE(ias.find(stale));
}

TEST(IaTable, RunsOutOfIntegersWithoutHarm) {
  IaTable ias(IaTable::Handles::kIntegers);
  int object = 0;
  for (int count = 0; count < 65535; ++count) ASSERT_NE(ias.add(ia_of(&object)), nullptr);
  OpenIa one_more = ia_of(&object, "kept");
  EXPECT_EQ(ias.add(std::move(one_more)), nullptr);
  EXPECT_EQ(one_more.lease.key.ia_name, "kept");
  static_cast<void>(ias.end_close(ias.begin_close(address(7))->token));
  EXPECT_EQ(ias.add(ia_of(&object)), address(7));
}

TEST(IaTable, PrefersTheNewIaAtTheAddressOfAClosingOne) {
  IaTable ias(IaTable::Handles::kIntegers);
  int object = 0;
  const auto closing = ias.begin_close(ias.add(ia_of(&object)));
  void* reborn = ias.add(ia_of(&object));
  EXPECT_EQ(ias.integer_of(&object), reborn);
  static_cast<void>(ias.end_close(closing->token));
  EXPECT_EQ(ias.integer_of(&object), reborn);
}

TEST(IaTable, FindsByName) {
  IaTable ias(IaTable::Handles::kIntegers);
  int objects[3] = {};
  for (int& object : objects) {
    static_cast<void>(ias.add(ia_of(&object, &object == &objects[1] ? "b" : "a")));
  }
  EXPECT_EQ(ias.find_by_name("a").size(), 2u);
  EXPECT_EQ(ias.find_by_name("b").size(), 1u);
  EXPECT_TRUE(ias.find_by_name("c").empty());
}

ConfEntry entry(const std::string& name, std::uint32_t major, std::uint32_t minor,
                const std::string& library = "lib.so") {
  ConfEntry made;
  made.ia_name = name;
  made.major = major;
  made.minor = minor;
  made.is_default = true;
  made.library_path = library;
  return made;
}

StaticRegistry make_static(std::vector<ConfEntry> entries, bool is_any_name_ours = false, bool is_file_chosen = false) {
  StaticRegistry::Options options;
  options.api_major = 2;
  options.is_any_name_ours = is_any_name_ours;
  options.is_file_chosen = is_file_chosen;
  return StaticRegistry(options, ConfFile{std::move(entries)});
}

std::vector<std::string> listed(const StaticRegistry& registry) {
  std::vector<std::string> lines;
  for (const ProviderKey& key : registry.listing()) lines.push_back(describe(key));
  return lines;
}

TEST(StaticRegistry, FindsTheExactKey) {
  StaticRegistry registry = make_static({entry("a", 2, 0), entry("a", 2, 1), entry("a", 1, 2)});
  EXPECT_EQ(registry.find({"a", 2, 0, false})->key.minor, 0u);
  EXPECT_EQ(registry.find({"a", 2, 1, false})->key.minor, 1u);
  EXPECT_EQ(registry.find({"a", 1, 2, false})->key.major, 1u);
  EXPECT_EQ(registry.find({"a", 2, 0, true}), nullptr);
  EXPECT_EQ(registry.find({"a", 3, 0, false}), nullptr);
  EXPECT_EQ(registry.find({"b", 2, 0, false}), nullptr);
}

TEST(StaticRegistry, LetsANewerMinorServeAnOlder) {
  StaticRegistry registry = make_static({entry("a", 2, 3), entry("a", 2, 2)});
  EXPECT_EQ(registry.find({"a", 2, 0, false})->key.minor, 2u);
  EXPECT_EQ(registry.find({"a", 2, 4, false}), nullptr);
}

TEST(StaticRegistry, ChainsDuplicatesInFileOrder) {
  StaticRegistry registry = make_static({entry("a", 2, 0, "x"), entry("a", 2, 0, "y")});
  const Slot* slot = registry.find({"a", 2, 0, false});
  ASSERT_EQ(slot->alternatives.size(), 2u);
  EXPECT_EQ(slot->alternatives[0].library_path, "x");
  EXPECT_EQ(slot->alternatives[1].library_path, "y");
}

TEST(StaticRegistry, ServesUserLevelDefaultsOnly) {
  ConfEntry kernel = entry("k", 2, 0);
  kernel.is_kernel = true;
  ConfEntry nondefault = entry("n", 2, 0);
  nondefault.is_default = false;
  StaticRegistry registry = make_static({kernel, nondefault}, false, true);
  EXPECT_EQ(registry.find({"k", 2, 0, false}), nullptr);
  EXPECT_EQ(registry.find({"n", 2, 0, false}), nullptr);
  EXPECT_TRUE(registry.listing().empty());
}

TEST(StaticRegistry, HasSixteenSimulatorsBuiltIn) {
  StaticRegistry registry = make_static({});
  for (const char* name : {"sim0", "sim1", "sim9", "sim10", "sim15"}) {
    const Slot* slot = registry.find({name, 2, 0, false});
    ASSERT_NE(slot, nullptr) << name;
    EXPECT_EQ(slot->key.ia_name, name);
    EXPECT_EQ(slot->alternatives.front().library_path, "libsoftdat.so");
    EXPECT_EQ(registry.find({name, 2, 0, false}), slot);
    EXPECT_NE(registry.find({name, 2, 0, true}), nullptr) << "thread safe consumers too";
  }
  for (const char* name : {"sim", "sim16", "sim00", "sim01", "sim-1", "sim1x", "Sim0", "xsim0"}) {
    EXPECT_EQ(registry.find({name, 2, 0, false}), nullptr) << name;
  }
  EXPECT_EQ(registry.find({"sim0", 2, 1, false}), nullptr);
  EXPECT_EQ(registry.find({"sim0", 1, 2, false}), nullptr);
}

TEST(StaticRegistry, LetsTheFileReplaceABuiltInName) {
  StaticRegistry registry = make_static({entry("sim0", 2, 0, "mine.so")});
  EXPECT_EQ(registry.find({"sim0", 2, 0, false})->alternatives.front().library_path, "mine.so");
  EXPECT_THAT(listed(registry), ElementsAre("sim0 2.0 nonthreadsafe"));
}

TEST(StaticRegistry, RoutesEveryNameThatAChosenFileLacksWhenAsked) {
  StaticRegistry registry = make_static({entry("ofa-v2-ib0", 2, 0, "mine.so")}, true, true);
  EXPECT_EQ(registry.find({"ibd0", 2, 0, false})->alternatives.front().library_path, "libsoftdat.so");
  EXPECT_EQ(registry.find({"ofa-v2-ib0", 2, 0, false})->alternatives.front().library_path, "mine.so");
}

TEST(StaticRegistry, RoutesEveryNameOfTheSystemsFileWhenAsked) {
  ConfEntry routed = entry("mine", 2, 0, "/usr/lib/libsoftdat.so");
  routed.instance_data = "kept";
  StaticRegistry registry = make_static({entry("ofa-v2-ib0", 2, 0, "theirs.so"), routed}, true);
  EXPECT_EQ(registry.find({"ofa-v2-ib0", 2, 0, false})->alternatives.front().library_path, "libsoftdat.so");
  EXPECT_EQ(registry.find({"mine", 2, 0, false})->alternatives.front().instance_data, "kept");
  EXPECT_THAT(listed(registry), ElementsAre("sim0 2.0 nonthreadsafe", "mine 2.0 nonthreadsafe"));
}

TEST(StaticRegistry, ListsTheSimulatorThenItsOwnApiThenTheOther) {
  const StaticRegistry registry =
      make_static({entry("old", 1, 2), entry("new", 2, 0), entry("twice", 2, 0), entry("twice", 2, 0)});
  EXPECT_THAT(listed(registry),
              ElementsAre("sim0 2.0 nonthreadsafe", "new 2.0 nonthreadsafe", "twice 2.0 nonthreadsafe",
                          "twice 2.0 nonthreadsafe", "old 1.2 nonthreadsafe"));
}

TEST(StaticRegistry, ListsTheFileAloneWhenItWasChosen) {
  const StaticRegistry registry = make_static({entry("a", 2, 0)}, false, true);
  EXPECT_THAT(listed(registry), ElementsAre("a 2.0 nonthreadsafe"));
}

}  // namespace
}  // namespace softdat::registry
