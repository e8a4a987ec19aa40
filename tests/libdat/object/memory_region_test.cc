// SPDX-License-Identifier: BSD-2-Clause
// dat_lmr_create and _free; and how memory is looked at without touching it.
#include "libdat/object/memory_region.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "libdat/object/memory_probe.h"
#include "libdat/object/memory_window.h"
#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

constexpr std::size_t kPage = 4096;

// Pages of chosen rights, one after the other.
class Pages {
 public:
  explicit Pages(std::initializer_list<int> rights) : count_(rights.size()) {
    base_ =
        static_cast<char*>(mmap(nullptr, count_ * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::size_t at = 0;
    for (const int right : rights) {
      char* page = base_ + kPage * at++;
      if (right < 0) {
        munmap(page, kPage);
      } else {
        mprotect(page, kPage, right);
      }
    }
  }
  ~Pages() { munmap(base_, count_ * kPage); }
  std::uint64_t at(std::size_t offset) const { return reinterpret_cast<std::uint64_t>(base_) + offset; }

 private:
  const std::size_t count_;
  char* base_;
};

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

TEST(MemoryProbe, SeesEveryPage) {
  const Pages pages{kReadWrite, PROT_READ, kReadWrite, PROT_NONE, kReadWrite, -1, kReadWrite};
  EXPECT_TRUE(is_accessible(pages.at(0), kPage, true));
  EXPECT_TRUE(is_accessible(pages.at(1), 3 * kPage - 1, false));
  EXPECT_FALSE(is_accessible(pages.at(1), 3 * kPage - 1, true));
  EXPECT_FALSE(is_accessible(pages.at(2 * kPage), kPage + 1, false));
  EXPECT_FALSE(is_accessible(pages.at(3 * kPage), 1, false));
  EXPECT_FALSE(is_accessible(pages.at(4 * kPage), kPage + 1, false));
  EXPECT_TRUE(is_accessible(pages.at(4 * kPage), kPage, true));
  EXPECT_TRUE(is_accessible(pages.at(6 * kPage), 1, true));
  EXPECT_FALSE(is_accessible(0, 1, false));
  EXPECT_FALSE(is_accessible(0, ~std::uint64_t{0}, false));
}

// However the kernel is asked. Private and shared pages, a file's, and none, beside each other.
TEST(MemoryProbe, SeesTheSameInTheTextAndByAsking) {
  const Pages pages{kReadWrite, PROT_READ, kReadWrite, PROT_NONE, kReadWrite, -1, kReadWrite};
  const base::UniqueFd file(memfd_create("probe", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), 2 * kPage), 0);
  void* const shared = mmap(nullptr, 3 * kPage, kReadWrite, MAP_SHARED, file.get(), 0);
  ASSERT_NE(shared, MAP_FAILED);
  const auto base = reinterpret_cast<std::uint64_t>(shared);
  const std::uint64_t places[] = {pages.at(0),
                                  pages.at(1),
                                  pages.at(2 * kPage),
                                  pages.at(3 * kPage),
                                  pages.at(5 * kPage),
                                  pages.at(7000u),
                                  base,
                                  base + kPage + 5,
                                  base + 2 * kPage,
                                  kPage,
                                  reinterpret_cast<std::uint64_t>(&kPage)};
  for (const std::uint64_t place : places) {
    for (const std::uint64_t length : {std::uint64_t{1}, std::uint64_t{kPage}, std::uint64_t{kPage + 1}}) {
      for (const bool is_written : {false, true}) {
        const MemoryNature asked = look_at_memory(place, length, is_written);
        const MemoryNature read = look_at_memory(place, length, is_written, MapReading::kAll);
        EXPECT_EQ(asked.is_accessible, read.is_accessible) << place << "+" << length;
        EXPECT_EQ(asked.is_shared, read.is_shared) << place << "+" << length;
        EXPECT_EQ(asked.identity, read.identity) << place << "+" << length;
      }
    }
  }
  munmap(shared, 3 * kPage);
}

// The kernel joins private mappings that lie beside each other, so that where one begins says nothing.
TEST(MemoryProbe, SeesNoIdentityOfPrivateMemory) {
  const Pages pages{kReadWrite, PROT_READ};
  for (const MapReading reading : {MapReading::kWanted, MapReading::kAll}) {
    const MemoryNature nature = look_at_memory(pages.at(5), kPage, false, reading);
    EXPECT_TRUE(nature.is_accessible);
    EXPECT_EQ(nature.identity, SharedIdentity{});
  }
}

TEST(MemoryProbe, SeesWhetherEveryPageCanBeRead) {
  const Pages pages{kReadWrite, PROT_READ, kReadWrite, PROT_NONE, kReadWrite, -1, kReadWrite};
  EXPECT_TRUE(is_readable(pages.at(1), 3 * kPage - 1));
  EXPECT_FALSE(is_readable(pages.at(1), 3 * kPage));
  EXPECT_FALSE(is_readable(pages.at(3 * kPage), 1));
  EXPECT_TRUE(is_readable(pages.at(5 * kPage - 1), 1));
  EXPECT_FALSE(is_readable(pages.at(5 * kPage - 1), 2));
  EXPECT_FALSE(is_readable(0, 1));
  EXPECT_FALSE(is_readable(0, ~std::uint64_t{0}));
  EXPECT_FALSE(is_readable(~std::uint64_t{0}, 2));
  EXPECT_TRUE(is_readable(0, 0));
}

// As many as are asked about in one call, one fewer, and one more: the last page counts in each.
TEST(MemoryProbe, SeesTheLastOfManyPages) {
  for (const std::size_t count : {63u, 64u, 65u, 128u, 129u}) {
    const std::size_t length = count * kPage;
    char* const base =
        static_cast<char*>(mmap(nullptr, length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ASSERT_NE(base, MAP_FAILED);
    const auto address = reinterpret_cast<std::uint64_t>(base);
    EXPECT_TRUE(is_readable(address, length)) << count;
    munmap(base + length - kPage, kPage);
    EXPECT_TRUE(is_readable(address, length - kPage)) << count;
    EXPECT_FALSE(is_readable(address, length - kPage + 1)) << count;
    munmap(base, length - kPage);
  }
}

class MemoryRegionTest : public testing::Test {
 protected:
  Status create(std::uint64_t address, std::uint64_t length, std::uint32_t privileges) {
    return create({.address = address, .length = length, .privileges = privileges});
  }
  Status create(const Registration& registration) {
    return MemoryRegion::create(*pin_handle<InterfaceAdapter>(world_.ia), *pin_handle<ProtectionZone>(pz_),
                                registration, lmr_, made_);
  }
  Status free() { return MemoryRegion::free(pin_handle<MemoryRegion>(lmr_)); }
  std::uint64_t address() { return reinterpret_cast<std::uint64_t>(bytes_.data()); }

  World world_;
  Handle pz_ = world_.make_pz();
  std::vector<char> bytes_ = std::vector<char>(10'000);
  Handle lmr_ = nullptr;
  MemoryRegionParameters made_{};
};

TEST_F(MemoryRegionTest, TellsWhatItIs) {
  ASSERT_EQ(create(address() + 3, 1000, kLocalReadPrivilege | kRemoteReadPrivilege), kOk);
  const MemoryRegionParameters& now = pin_handle<MemoryRegion>(lmr_)->query();
  EXPECT_EQ(now.ia, world_.ia);
  EXPECT_EQ(now.pz, pz_);
  EXPECT_EQ(now.address, address() + 3);
  EXPECT_LE(now.registered_address, address() + 3);
  EXPECT_GE(now.registered_address + now.registered_size, address() + 1003);
  EXPECT_EQ(now.lmr_context, made_.lmr_context);
  EXPECT_NE(now.rmr_context, 0u);
}

// "If mem_privileges does not specify remote Read and Write privileges, rmr_context is not generated"
TEST_F(MemoryRegionTest, RemoteContextNeedsRemotePrivileges) {
  ASSERT_EQ(create(address(), 10, kLocalReadPrivilege | kLocalWritePrivilege), kOk);
  EXPECT_EQ(made_.rmr_context, 0u);
}

TEST_F(MemoryRegionTest, EveryCombinationOfPrivilegesIsLegal) {
  for (std::uint32_t privileges = 0; privileges <= kAllPrivileges; ++privileges) {
    if ((privileges & ~kAllPrivileges) != 0) continue;
    EXPECT_EQ(create(address(), 10, privileges), kOk) << privileges;
    EXPECT_EQ(free(), kOk);
  }
  EXPECT_EQ(create(address(), 10, 0x80), invalid_parameter(StatusDetail::kInvalidArg6));
}

TEST_F(MemoryRegionTest, SenselessRangesAreRefused) {
  const Pages pages{PROT_READ, -1};
  EXPECT_EQ(create(address(), 0, kLocalReadPrivilege), Status{StatusType::kLengthError});
  EXPECT_EQ(create(0, 0, kLocalReadPrivilege), Status{StatusType::kLengthError});
  EXPECT_EQ(create(address(), ~std::uint64_t{0}, 0).type, StatusType::kInvalidParameter);
  EXPECT_EQ(create(~std::uint64_t{0} - 10, 100, 0).type, StatusType::kInvalidParameter);
  EXPECT_EQ(create(8, 100, 0), invalid_parameter(StatusDetail::kInvalidArg3));
  EXPECT_EQ(create(pages.at(0), kPage, kLocalReadPrivilege), kOk);
  EXPECT_EQ(create(pages.at(0), kPage, kLocalWritePrivilege), invalid_parameter(StatusDetail::kInvalidArg3));
  EXPECT_EQ(create(pages.at(0), kPage, kRemoteWritePrivilege), invalid_parameter(StatusDetail::kInvalidArg3));
  EXPECT_EQ(create(pages.at(0), kPage + 1, kLocalReadPrivilege), invalid_parameter(StatusDetail::kInvalidArg3));
}

TEST_F(MemoryRegionTest, ZoneIsInUse) {
  ASSERT_EQ(create(address(), 10, kAllPrivileges), kOk);
  EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz_)), invalid_state(StatusDetail::kInvalidStatePzInUse));
  EXPECT_EQ(free(), kOk);
  EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz_)), kOk);
  EXPECT_EQ(world_.device->live_objects.load(), 0);
}

TEST_F(MemoryRegionTest, WindowsCanBeMade) {
  Handle rmr = nullptr;
  ASSERT_EQ(MemoryWindow::create(*pin_handle<ProtectionZone>(pz_), WindowScope::kZone, rmr), kOk);
  EXPECT_EQ(pin_handle<MemoryWindow>(rmr)->query().pz, pz_);
  EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz_)), invalid_state(StatusDetail::kInvalidStatePzInUse));
  EXPECT_EQ(MemoryWindow::free(pin_handle<MemoryWindow>(rmr)), kOk);
  EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz_)), kOk);
}

}  // namespace
}  // namespace softdat::object
