// SPDX-License-Identifier: BSD-2-Clause
// Whatever a consumer passes as a handle: only a live one of the right kind is one.
#include "libdat/object/handle_table.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>

#include "libdat/object/endpoint.h"
#include "tests/libdat/object/world.h"

namespace softdat::object {
namespace {

class HandleTableTest : public testing::Test {
 protected:
  World world_;
  HandleTable& table_ = HandleTable::instance();
};

TEST_F(HandleTableTest, FirstWordIsTheProvidersTable) {
  const Handle pz = world_.make_pz();
  EXPECT_EQ(*static_cast<const void* const*>(pz), &World::kTable);
  EXPECT_TRUE(table_.range().holds(pz));
}

TEST_F(HandleTableTest, NullAndSmallNumbersAreRefused) {
  for (std::uintptr_t value = 0; value < 4096; ++value) {
    EXPECT_FALSE(table_.range().holds(reinterpret_cast<void*>(value)));
    EXPECT_FALSE(table_.pin_any(reinterpret_cast<void*>(value)));
  }
}

TEST_F(HandleTableTest, MisalignedHandlesAreRefused) {
  char* pz = static_cast<char*>(world_.make_pz());
  for (int offset = 1; offset < 64; ++offset) {
    EXPECT_FALSE(pin_handle<ProtectionZone>(pz + offset));
    EXPECT_FALSE(pin_handle<ProtectionZone>(pz - offset));
  }
  EXPECT_TRUE(pin_handle<ProtectionZone>(pz));
}

TEST_F(HandleTableTest, WrongKindIsRefused) {
  const Handle pz = world_.make_pz();
  EXPECT_FALSE(pin_handle<EventDispatcher>(pz));
  EXPECT_FALSE(pin_handle<InterfaceAdapter>(pz));
  EXPECT_FALSE(pin_handle<ProtectionZone>(world_.ia));
  EXPECT_EQ(table_.pin_any(pz)->kind(), Kind::kPz);
}

TEST_F(HandleTableTest, RandomAddressesAreRefused) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 100'000; ++i) {
    EXPECT_FALSE(table_.pin_any(reinterpret_cast<void*>(random() | (std::uint64_t{1} << 63))));
  }
  int on_stack = 0;
  EXPECT_FALSE(table_.range().holds(&on_stack));
  EXPECT_FALSE(table_.range().holds(&table_));
}

TEST_F(HandleTableTest, FreedHandleIsRefusedAndStaysReadable) {
  const Handle pz = world_.make_pz();
  ASSERT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz)), kOk);
  EXPECT_FALSE(pin_handle<ProtectionZone>(pz));
  EXPECT_TRUE(table_.range().holds(pz));
  EXPECT_EQ(*static_cast<const void* const*>(pz), &World::kTable);
}

TEST_F(HandleTableTest, CellsNeverUsedAreRefused) {
  char* pz = static_cast<char*>(world_.make_pz());
  int live = 0;
  for (int cell = -500; cell < 500; ++cell) {
    if (table_.pin_any(pz + cell * 64)) ++live;
  }
  EXPECT_LE(live, static_cast<int>(table_.size()));
}

// Programs use handles that they have freed; they must not meet a newborn.
TEST_F(HandleTableTest, FreedHandleIsNotGivenOutAgainSoon) {
  const Handle first = world_.make_pz();
  ASSERT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(first)), kOk);
  for (int i = 0; i < 16'000; ++i) {
    const Handle pz = world_.make_pz();
    ASSERT_NE(pz, first) << i;
    ASSERT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz)), kOk);
  }
}

TEST_F(HandleTableTest, CellsAreReused) {
  std::set<Handle> seen;
  for (int i = 0; i < 100'000; ++i) {
    const Handle pz = world_.make_pz();
    seen.insert(pz);
    ASSERT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz)), kOk);
  }
  EXPECT_LT(seen.size(), 50'000u);
}

TEST_F(HandleTableTest, FreeWaitsForTheLastPin) {
  const Handle pz = world_.make_pz();
  auto pin = pin_handle<ProtectionZone>(pz);
  std::atomic<bool> is_freed{false};
  std::thread freeing([&] {
    EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz)), kOk);
    is_freed.store(true);
  });
  EXPECT_TRUE(eventually([&] { return !pin_handle<ProtectionZone>(pz); }));
  EXPECT_FALSE(is_freed.load());
  EXPECT_EQ(pin->query().ia, world_.ia);  // still whole
  pin.reset();
  freeing.join();
  EXPECT_TRUE(is_freed.load());
}

TEST_F(HandleTableTest, OneOfManyFreeingThreadsWins) {
  for (int round = 0; round < 200; ++round) {
    const Handle pz = world_.make_pz();
    std::atomic<int> successes{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        auto pin = pin_handle<ProtectionZone>(pz);
        if (pin && ProtectionZone::free(std::move(pin)).ok()) ++successes;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(successes.load(), 1);
  }
}

// Users and freers meet all the time; nobody ever sees an object that is not whole.
TEST_F(HandleTableTest, PinsAndFreesMayRace) {
  std::atomic<Handle> shared{world_.make_pz()};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i) {
    users.emplace_back([&] {
      while (!is_over.load()) {
        if (auto pin = pin_handle<ProtectionZone>(shared.load())) {
          EXPECT_EQ(pin->query().ia, world_.ia);
        }
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    const Handle old = shared.exchange(world_.make_pz());
    EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(old)), kOk);
  }
  is_over.store(true);
  for (std::thread& user : users) user.join();
}

class ExclusivePinTest : public HandleTableTest {
 protected:
  ExclusivePin<EventDispatcher> enter(const void* handle) { return table_.pin_exclusively<EventDispatcher>(handle); }
};

TEST_F(ExclusivePinTest, OnlyALiveHandleOfItsKindIsEntered) {
  const Handle evd = world_.make_evd(kSoftwareStream);
  EXPECT_TRUE(enter(evd));
  EXPECT_EQ(enter(evd)->query().ia, world_.ia);
  EXPECT_FALSE(enter(world_.ia));
  EXPECT_FALSE(enter(nullptr));
  EXPECT_FALSE(enter(static_cast<char*>(evd) + 1));
  ASSERT_EQ(EventDispatcher::free(pin_handle<EventDispatcher>(evd)), kOk);
  EXPECT_FALSE(enter(evd));
}

TEST_F(ExclusivePinTest, FreeWaitsForIt) {
  const Handle evd = world_.make_evd(kSoftwareStream);
  std::atomic<bool> is_freed{false};
  std::thread freeing;
  {
    const auto call = enter(evd);
    freeing = std::thread([&] {
      EXPECT_EQ(EventDispatcher::free(pin_handle<EventDispatcher>(evd)), kOk);
      is_freed.store(true);
    });
    EXPECT_TRUE(eventually([&] { return !pin_handle<EventDispatcher>(evd); }));
    EXPECT_FALSE(is_freed.load());
    EXPECT_EQ(call->query().ia, world_.ia);  // still whole
  }
  freeing.join();
  EXPECT_TRUE(is_freed.load());
}

TEST_F(ExclusivePinTest, KeepsOthersOut) {
  const Handle evd = world_.make_evd(kSoftwareStream);
  int inside = 0;  // not atomic: the cell's lock guards it
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i) {
    users.emplace_back([&] {
      for (int call = 0; call < 10'000; ++call) {
        const auto pin = enter(evd);
        if (pin) ++inside;
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(inside, 30'000);
}

TEST_F(ExclusivePinTest, CallsAndFreesMayRace) {
  std::atomic<Handle> shared{world_.make_evd(kSoftwareStream)};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i) {
    users.emplace_back([&] {
      while (!is_over.load()) {
        if (const auto call = enter(shared.load())) {
          EXPECT_EQ(call->query().ia, world_.ia);
        }
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    const Handle old = shared.exchange(world_.make_evd(kSoftwareStream));
    EXPECT_EQ(EventDispatcher::free(pin_handle<EventDispatcher>(old)), kOk);
  }
  is_over.store(true);
  for (std::thread& user : users) user.join();
}

class LightPinTest : public HandleTableTest {
 protected:
  LightPin<Endpoint> enter(const void* handle) { return table_.pin_lightly<Endpoint>(handle); }
  Handle make_ep() { return world_.make_ep(pz_, nullptr, nullptr, nullptr); }
  void free_ep(Handle ep) { EXPECT_EQ(Endpoint::free(pin_handle<Endpoint>(ep)), kOk); }

  const Handle pz_ = world_.make_pz();
};

TEST_F(LightPinTest, OnlyALiveHandleOfItsKindIsPinned) {
  const Handle ep = make_ep();
  EXPECT_TRUE(enter(ep));
  EXPECT_EQ(&enter(ep)->ia(), &*pin_handle<InterfaceAdapter>(world_.ia));
  EXPECT_FALSE(enter(world_.ia));
  EXPECT_FALSE(enter(nullptr));
  EXPECT_FALSE(enter(static_cast<char*>(ep) + 1));
  free_ep(ep);
  EXPECT_FALSE(enter(ep));
}

TEST_F(LightPinTest, SeveralMayBeHeldAtOnce) {
  const Handle ep = make_ep();
  const auto first = enter(ep);
  const auto second = enter(ep);
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST_F(LightPinTest, FreeWaitsForEachOfThem) {
  const Handle ep = make_ep();
  std::optional<LightPin<Endpoint>> first(std::in_place, static_cast<Cell*>(ep));
  std::optional<LightPin<Endpoint>> second(std::in_place, static_cast<Cell*>(ep));
  std::atomic<bool> is_freed{false};
  std::thread freeing([&] {
    free_ep(ep);
    is_freed.store(true);
  });
  EXPECT_TRUE(eventually([&] { return !pin_handle<Endpoint>(ep); }));
  EXPECT_FALSE(enter(ep)) << "the endpoint is closing";
  second.reset();
  EXPECT_FALSE(is_freed.load());
  first.reset();
  freeing.join();
  EXPECT_TRUE(is_freed.load());
}

TEST_F(LightPinTest, CountsWhenItIsAskedWhetherAPinIsTheOnlyOne) {
  const Handle ep = make_ep();
  const auto pin = pin_handle<Endpoint>(ep);
  EXPECT_TRUE(HandleTable::is_pinned_once(*pin));
  {
    const auto light = enter(ep);
    EXPECT_FALSE(HandleTable::is_pinned_once(*pin));
  }
  EXPECT_TRUE(HandleTable::is_pinned_once(*pin));
}

TEST_F(LightPinTest, CallsAndFreesMayRace) {
  std::atomic<Handle> shared{make_ep()};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i) {
    users.emplace_back([&] {
      while (!is_over.load()) {
        if (const auto call = enter(shared.load())) {
          EXPECT_EQ(call->kind(), Kind::kEp);
        }
      }
    });
  }
  for (int i = 0; i < 2000; ++i) free_ep(shared.exchange(make_ep()));
  is_over.store(true);
  for (std::thread& user : users) user.join();
}

}  // namespace
}  // namespace softdat::object
