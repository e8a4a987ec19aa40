// SPDX-License-Identifier: BSD-2-Clause
// dat_lmr_create: which memory may be registered and which not, the memory of another LMR, shared
// memory, and regions whose addresses count from zero.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kReading = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG;

// A mapping that goes with the test.
class Mapping {
 public:
  Mapping(std::size_t length, int rights, int flags, int fd = -1, off_t offset = 0)
      : length_(length), at_(mmap(nullptr, length, rights, flags, fd, offset)) {}
  ~Mapping() {
    if (is_there()) munmap(at_, length_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool is_there() const { return at_ != MAP_FAILED; }
  unsigned char* data() const { return static_cast<unsigned char*>(at_); }

 private:
  const std::size_t length_;
  void* const at_;
};

// A page that is not there between two that are. Another thread's mapping may come to lie in it; then it is no gap any
// more, and is left alone.
class Gap {
 public:
  Gap() : at_(static_cast<unsigned char*>(mmap(nullptr, 3 * kPage, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (at_ == MAP_FAILED || munmap(page(), kPage) != 0) throw SetupFailure("mmap");
  }
  ~Gap() {
    munmap(before(), kPage);
    munmap(after(), kPage);
  }
  Gap(const Gap&) = delete;
  Gap& operator=(const Gap&) = delete;

  unsigned char* before() const { return at_; }
  unsigned char* page() const { return at_ + kPage; }
  unsigned char* after() const { return at_ + 2 * kPage; }
  bool is_open() const {
    unsigned char state;
    return mincore(page(), kPage, &state) == -1 && errno == ENOMEM;
  }

 private:
  unsigned char* const at_;
};

// A file without a name.
class File {
 public:
  explicit File(std::size_t size) : fd_(memfd_create("conformance", MFD_CLOEXEC)) {
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(size)) != 0) throw SetupFailure("memfd_create");
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

using Cookie = char[DAT_LMR_COOKIE_SIZE];

class LmrMemory : public testing::Test {
 protected:
  LmrMemory() { std::snprintf(cookie_, sizeof cookie_, "%d %p", getpid(), static_cast<void*>(this)); }

  DAT_RETURN create(DAT_MEM_TYPE type, const DAT_REGION_DESCRIPTION& region, DAT_VLEN length, int privileges) {
    return create_lmr(peer_.adapter.handle(), type, region, length, peer_.pz,
                      static_cast<DAT_MEM_PRIV_FLAGS>(privileges), &lmr_, &lmr_context_, &rmr_context_, nullptr,
                      nullptr);
  }
  DAT_RETURN create(const void* address, DAT_VLEN length, int privileges = DAT_MEM_PRIV_ALL_FLAG) {
    DAT_REGION_DESCRIPTION region{};
    region.for_va = const_cast<void*>(address);
    return create(DAT_MEM_TYPE_VIRTUAL, region, length, privileges);
  }
  DAT_RETURN create_from(DAT_LMR_HANDLE source, int privileges = DAT_MEM_PRIV_ALL_FLAG) {
    DAT_REGION_DESCRIPTION region{};
    region.for_lmr_handle = source;
    return create(DAT_MEM_TYPE_LMR, region, 12345, privileges);
  }
  DAT_RETURN create_shared(void* address, DAT_VLEN length, Cookie* cookie) {
    DAT_REGION_DESCRIPTION region{};
    region.for_shared_memory.virtual_address = address;
    region.for_shared_memory.shared_memory_id = cookie;
    return create(DAT_MEM_TYPE_SHARED_VIRTUAL, region, length, DAT_MEM_PRIV_ALL_FLAG);
  }

  DAT_LMR_PARAM query() const {
    DAT_LMR_PARAM param{};
    require(dat_lmr_query(lmr_, DAT_LMR_FIELD_ALL, &param), "dat_lmr_query");
    return param;
  }

  // Both sides of a transfer: bytes go out of and into what was registered last.
  void expect_usable(unsigned char* at, std::size_t length) {
    Peer other(kClientName);
    establish(peer_, other);
    other.memory->fill(0, 64, 7);
    ASSERT_THAT(other.post_write(0, 64, make_remote(at + length - 64, 64, rmr_context_)), succeeds());
    ASSERT_EQ(next_completion(other.request_evd).status, DAT_DTO_SUCCESS);
    ASSERT_THAT(other.post_read(100, 64, make_remote(at + length - 64, 64, rmr_context_)), succeeds());
    ASSERT_EQ(next_completion(other.request_evd).status, DAT_DTO_SUCCESS);
    EXPECT_TRUE(are_same_bytes(other.memory->data(), other.memory->data() + 100, 64));
    EXPECT_TRUE(are_same_bytes(other.memory->data(), at + length - 64, 64));
    require(dat_lmr_free(lmr_), "dat_lmr_free");
  }

  Peer peer_{kServerName};
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
  Cookie cookie_{};
};

TEST_F(LmrMemory, HeapMemoryIsUsable) {
  std::vector<unsigned char> bytes(100'001);
  ASSERT_THAT(create(bytes.data(), bytes.size()), succeeds());
  expect_usable(bytes.data(), bytes.size());
}

TEST_F(LmrMemory, StackMemoryIsUsable) {
  unsigned char bytes[1000];
  ASSERT_THAT(create(bytes, sizeof bytes), succeeds());
  expect_usable(bytes, sizeof bytes);
}

TEST_F(LmrMemory, AnonymousMappingIsUsable) {
  const Mapping mapping(1 << 20, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS);
  ASSERT_THAT(create(mapping.data(), 1 << 20), succeeds());
  expect_usable(mapping.data(), 1 << 20);
}

TEST_F(LmrMemory, MappedFileIsUsableAndSharesWhatIsWritten) {
  const File file(3 * kPage);
  const Mapping mapping(3 * kPage, kReadWrite, MAP_SHARED, file.fd());
  ASSERT_THAT(create(mapping.data(), 3 * kPage), succeeds());
  expect_usable(mapping.data(), 3 * kPage);
  unsigned char last[64];
  ASSERT_EQ(pread(file.fd(), last, sizeof last, 3 * kPage - 64), 64);
  EXPECT_TRUE(are_same_bytes(last, mapping.data() + 3 * kPage - 64, 64));
}

TEST_F(LmrMemory, PrivatelyMappedFileIsUsable) {
  const File file(2 * kPage);
  const Mapping mapping(2 * kPage, kReadWrite, MAP_PRIVATE, file.fd());
  ASSERT_THAT(create(mapping.data(), 2 * kPage), succeeds());
  expect_usable(mapping.data(), 2 * kPage);
}

// Of the kernel's own huge pages where it has any, else of memory that it may make huge.
TEST_F(LmrMemory, HugePagesAreUsable) {
  constexpr std::size_t kHuge = 2 << 20;
  const Mapping huge(kHuge, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
  const Mapping plain(2 * kHuge, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS);
  auto* aligned = reinterpret_cast<unsigned char*>((reinterpret_cast<std::uintptr_t>(plain.data()) + kHuge - 1) &
                                                   ~(std::uintptr_t{kHuge} - 1));
  unsigned char* at = huge.is_there() ? huge.data() : aligned;
  madvise(at, kHuge, MADV_HUGEPAGE);
  ASSERT_THAT(create(at, kHuge), succeeds());
  expect_usable(at, kHuge);
}

// A stack grows when it is used; a buffer that has never been used may lie below.
TEST_F(LmrMemory, StackThatHasNotGrownYetIsUsable) {
  constexpr std::size_t kDepth = 1 << 20;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &limit), 0);
  if (limit.rlim_cur < 4 * kDepth) GTEST_SKIP() << "the stack may not grow so far";
  unsigned char here = 0;
  const volatile std::uintptr_t address = reinterpret_cast<std::uintptr_t>(&here) - kDepth;
  auto* below = reinterpret_cast<unsigned char*>(address);
  if (create(below, 4096) != DAT_SUCCESS) {
    // Not the main thread's stack, or it cannot grow: then using it would fault, too.
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_LT(write(ends[1], below, 1), 0);
    close(ends[0]);
    close(ends[1]);
    return;
  }
  EXPECT_THAT(dat_lmr_free(lmr_), succeeds());
}

// "Specified buffer must have been previously allocated"
TEST_F(LmrMemory, MemoryThatIsNotThereIsInvalid) {
  const auto expect_refused = [&](unsigned char* (Gap::*start)() const, std::ptrdiff_t offset, DAT_VLEN length) {
    constexpr int kMostTries = 50;
    for (int tries = 0; tries < kMostTries; ++tries) {
      const Gap gap;
      const DAT_RETURN result = create((gap.*start)() + offset, length);
      if (result == DAT_SUCCESS) require(dat_lmr_free(std::exchange(lmr_, DAT_HANDLE_NULL)), "dat_lmr_free");
      if (!gap.is_open()) continue;
      EXPECT_THAT(result, fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
      return;
    }
    FAIL() << "no gap stayed one";
  };
  expect_refused(&Gap::page, 0, kPage);
  expect_refused(&Gap::before, 0, kPage + 1);
  expect_refused(&Gap::before, 0, 3 * kPage);
  expect_refused(&Gap::after, -1, 2);
  EXPECT_THAT(create(nullptr, 4096), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_EQ(lmr_, DAT_HANDLE_NULL);
  const Gap gap;
  EXPECT_THAT(create(gap.before(), kPage), succeeds());
}

TEST_F(LmrMemory, GuardPagesAreInvalid) {
  const Mapping mapping(2 * kPage, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS);
  ASSERT_EQ(mprotect(mapping.data() + kPage, kPage, PROT_NONE), 0);
  EXPECT_THAT(create(mapping.data(), kPage + 1, 0), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(create(mapping.data(), kPage), succeeds());
}

// What lies in the mapping beyond the file's end raises a signal when it is used.
TEST_F(LmrMemory, MappingLongerThanItsFileIsInvalid) {
  const File file(kPage + 100);
  const Mapping mapping(4 * kPage, kReadWrite, MAP_SHARED, file.fd());
  EXPECT_THAT(create(mapping.data(), 4 * kPage), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(create(mapping.data() + 2 * kPage, 1), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(create(mapping.data(), 2 * kPage), succeeds());
}

TEST_F(LmrMemory, ReadOnlyMemoryGivesNoRightToWrite) {
  const Mapping mapping(kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
  for (const int privilege : {DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_MEM_PRIV_REMOTE_WRITE_FLAG}) {
    EXPECT_THAT(create(mapping.data(), kPage, kReading | privilege),
                fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  }
  EXPECT_THAT(create(mapping.data(), kPage, kReading), succeeds());
  static const char text[] = "constant, and registered all the same";
  EXPECT_THAT(create(text, sizeof text, kReading), succeeds());
}

// "Consumers can create an LMR over the existing LMR memory with different Protection Zones and
// privileges"; "Length parameter is ignored".
TEST_F(LmrMemory, LmrOfAnLmrCoversItsMemory) {
  ASSERT_THAT(create_from(peer_.memory->lmr(), kReading), succeeds());
  const DAT_LMR_PARAM param = query();
  EXPECT_EQ(param.mem_type, DAT_MEM_TYPE_LMR);
  EXPECT_EQ(param.region_desc.for_lmr_handle, peer_.memory->lmr());
  EXPECT_EQ(param.length, peer_.memory->size());
  EXPECT_EQ(param.mem_priv, static_cast<DAT_MEM_PRIV_FLAGS>(kReading));
  EXPECT_EQ(param.registered_address, reinterpret_cast<std::uintptr_t>(peer_.memory->data()));
  EXPECT_NE(lmr_context_, peer_.memory->lmr_context());
}

TEST_F(LmrMemory, LmrOfAnLmrHasItsOwnZoneAndRights) {
  if (const Lack lack = lack_of_refusals(); !lack.empty()) GTEST_SKIP() << lack;
  Peer other(kClientName);
  establish(peer_, other);
  // In a zone of its own it is of no use to the endpoint, and what the first one may is untouched.
  const DAT_PZ_HANDLE pz = peer_.pz;
  peer_.pz = peer_.adapter.make_pz();
  ASSERT_THAT(create_from(peer_.memory->lmr()), succeeds());
  peer_.pz = pz;
  DAT_LMR_TRIPLET foreign = make_local(peer_.memory->data(), 16, lmr_context_);
  EXPECT_THAT(dat_ep_post_send(peer_.ep, 1, &foreign, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_PROTECTION_VIOLATION));
  ASSERT_THAT(create_from(peer_.memory->lmr(), kReading), succeeds());
  ASSERT_THAT(other.post_read(0, 16, make_remote(peer_.memory->data(), 16, rmr_context_)), succeeds());
  EXPECT_EQ(next_completion(other.request_evd).status, DAT_DTO_SUCCESS);
  ASSERT_THAT(other.post_write(0, 16, make_remote(peer_.memory->data(), 16, rmr_context_)), succeeds());
  EXPECT_EQ(next_completion(other.request_evd).status, DAT_DTO_ERR_REMOTE_ACCESS);
}

TEST_F(LmrMemory, LmrOfAnLmrOutlivesIt) {
  std::vector<unsigned char> bytes(4096);
  ASSERT_THAT(create(bytes.data(), bytes.size()), succeeds());
  const DAT_LMR_HANDLE source = lmr_;
  ASSERT_THAT(create_from(source), succeeds());
  EXPECT_THAT(dat_lmr_free(source), succeeds());
  expect_usable(bytes.data(), bytes.size());
}

TEST_F(LmrMemory, LmrOfWhatIsNoLmrIsAnInvalidHandle) {
  const DAT_LMR_HANDLE stale = peer_.memory->lmr();
  peer_.memory->deregister();
  for (const DAT_HANDLE bad : {DAT_HANDLE_NULL, static_cast<DAT_HANDLE>(peer_.pz), stale}) {
    EXPECT_THAT(create_from(bad), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
  }
}

TEST_F(LmrMemory, LmrOfAnotherAdaptersLmrIsAnInvalidHandle) {
  Peer other(kClientName);
  EXPECT_THAT(create_from(other.memory->lmr()), fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
}

TEST_F(LmrMemory, SharedMemoryIsUsableAndTellsItsCookie) {
  const Mapping mapping(2 * kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS);
  ASSERT_THAT(create_shared(mapping.data(), 2 * kPage, &cookie_), succeeds());
  const DAT_LMR_PARAM param = query();
  EXPECT_EQ(param.mem_type, DAT_MEM_TYPE_SHARED_VIRTUAL);
  EXPECT_EQ(param.region_desc.for_shared_memory.virtual_address, mapping.data());
  EXPECT_EQ(std::memcmp(*param.region_desc.for_shared_memory.shared_memory_id, cookie_, sizeof cookie_), 0);
  EXPECT_EQ(param.length, 2 * kPage);
  expect_usable(mapping.data(), 2 * kPage);
}

// "INVALID_STATE: for example, shared virtual buffer was not created shared by the platform"
TEST_F(LmrMemory, PrivateMemoryIsNotShared) {
  EXPECT_THAT(create_shared(peer_.memory->data(), 64, &cookie_), fails_with(DAT_INVALID_STATE));
  const Mapping mapping(kPage, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS);
  EXPECT_THAT(create_shared(mapping.data(), kPage, &cookie_), fails_with(DAT_INVALID_STATE));
  EXPECT_EQ(lmr_, DAT_HANDLE_NULL);
}

TEST_F(LmrMemory, SharedMemoryThatIsNotThereIsInvalid) {
  EXPECT_THAT(create_shared(nullptr, 64, &cookie_), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

TEST_F(LmrMemory, SharedMemoryNeedsACookieThatCanBeRead) {
  const Mapping mapping(kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS);
  EXPECT_THAT(create_shared(mapping.data(), kPage, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(create_shared(mapping.data(), kPage, reinterpret_cast<Cookie*>(16)),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
}

// One cookie names one memory, for all who register it at the same time.
TEST_F(LmrMemory, OneCookieNamesOneMemory) {
  const Mapping mapping(2 * kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS);
  const Mapping other(kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS);
  ASSERT_THAT(create_shared(mapping.data(), 2 * kPage, &cookie_), succeeds());
  const DAT_LMR_HANDLE first = lmr_;
  ASSERT_THAT(create_shared(mapping.data(), 2 * kPage, &cookie_), succeeds());
  const DAT_LMR_HANDLE second = lmr_;
  EXPECT_NE(first, second);
  EXPECT_THAT(create_shared(other.data(), kPage, &cookie_), fails_with(DAT_INVALID_STATE));
  ASSERT_THAT(dat_lmr_free(first), succeeds());
  EXPECT_THAT(create_shared(other.data(), kPage, &cookie_), fails_with(DAT_INVALID_STATE));
  ASSERT_THAT(dat_lmr_free(second), succeeds());
  EXPECT_THAT(create_shared(other.data(), kPage, &cookie_), succeeds());
}

// "must check the entire 40 bytes and shall not interpret it as a null-terminated string"
TEST_F(LmrMemory, EveryByteOfTheCookieCounts) {
  const Mapping one(kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS);
  const Mapping two(kPage, kReadWrite, MAP_SHARED | MAP_ANONYMOUS);
  ASSERT_THAT(create_shared(one.data(), kPage, &cookie_), succeeds());
  cookie_[DAT_LMR_COOKIE_SIZE - 1] = 'x';
  ASSERT_EQ(cookie_[DAT_LMR_COOKIE_SIZE - 2], '\0');
  EXPECT_THAT(create_shared(two.data(), kPage, &cookie_), succeeds());
}

TEST_F(LmrMemory, AttributesNameTheTypesOfMemory) {
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(peer_.adapter.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider), "dat_ia_query");
  constexpr unsigned kAll = DAT_MEM_TYPE_LMR | DAT_MEM_TYPE_SHARED_VIRTUAL;
  EXPECT_EQ(static_cast<unsigned>(provider.lmr_mem_types_supported), kAll);
  EXPECT_EQ(provider.lmr_sync_req, DAT_FALSE);
}

#if SOFTDAT_DAT_MAJOR == 1

TEST_F(LmrMemory, StronglyOrderedMemoryIsVirtualMemory) {
  DAT_REGION_DESCRIPTION region{};
  std::vector<unsigned char> bytes(4096);
  region.for_va = bytes.data();
  ASSERT_THAT(create(DAT_MEM_TYPE_SO_VIRTUAL, region, bytes.size(), DAT_MEM_PRIV_ALL_FLAG), succeeds());
  EXPECT_EQ(query().mem_type, DAT_MEM_TYPE_SO_VIRTUAL);
  expect_usable(bytes.data(), bytes.size());
}

#else

class ZeroBasedLmr : public testing::Test {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_zero_based_regions(); !lack.empty()) GTEST_SKIP() << lack;
    DAT_REGION_DESCRIPTION region{};
    region.for_va = pair_.server.memory->data() + kStart;
    ASSERT_THAT(
        dat_lmr_create(pair_.server.adapter.handle(), DAT_MEM_TYPE_VIRTUAL, region, kLength, pair_.server.pz,
                       DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB, &lmr_, &lmr_context_, &rmr_context_, nullptr, nullptr),
        succeeds());
  }

  static constexpr std::size_t kStart = 1000;
  static constexpr std::size_t kLength = 4096;
  ConnectedPair pair_;
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
};

TEST_F(ZeroBasedLmr, PeerCountsFromTheStart) {
  EXPECT_EQ(pair_.server.adapter.attributes().zb_supported, DAT_TRUE);
  pair_.client.memory->fill(0, 100, 3);
  ASSERT_THAT(pair_.client.post_write(0, 100, make_remote(std::uint64_t{50}, 100, rmr_context_)), succeeds());
  ASSERT_EQ(next_completion(pair_.client.request_evd).status, DAT_DTO_SUCCESS);
  const unsigned char* sent = pair_.client.memory->data();
  EXPECT_TRUE(eventually([&] { return are_same_bytes(sent, pair_.server.memory->data() + kStart + 50, 100); }));
  ASSERT_THAT(pair_.client.post_read(200, 100, make_remote(std::uint64_t{50}, 100, rmr_context_)), succeeds());
  ASSERT_EQ(next_completion(pair_.client.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(are_same_bytes(sent, sent + 200, 100));
}

TEST_F(ZeroBasedLmr, LocalSegmentsCountFromTheStart) {
  pair_.server.memory->fill(kStart, 100, 4);
  DAT_LMR_TRIPLET first{0, 64, lmr_context_};
  ASSERT_THAT(pair_.client.post_recv(0, 64), succeeds());
  ASSERT_THAT(dat_ep_post_send(pair_.server.ep, 1, &first, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
  ASSERT_EQ(next_completion(pair_.client.recv_evd).status, DAT_DTO_SUCCESS);
  const unsigned char* sent = pair_.server.memory->data() + kStart;
  EXPECT_TRUE(are_same_bytes(sent, pair_.client.memory->data(), 64));
  DAT_LMR_TRIPLET last{kLength - 64, 64, lmr_context_};
  ASSERT_THAT(dat_ep_post_recv(pair_.server.ep, 1, &last, make_cookie(2), DAT_COMPLETION_DEFAULT_FLAG), succeeds());
  ASSERT_THAT(pair_.client.post_send(0, 64), succeeds());
  ASSERT_EQ(next_completion(pair_.server.recv_evd).status, DAT_DTO_SUCCESS);
  EXPECT_TRUE(are_same_bytes(sent, sent + kLength - 64, 64));
}

TEST_F(ZeroBasedLmr, ItsEndIsItsLength) {
  DAT_LMR_TRIPLET beyond{kLength - 63, 64, lmr_context_};
  EXPECT_THAT(dat_ep_post_send(pair_.server.ep, 1, &beyond, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  DAT_LMR_TRIPLET by_address = make_local(pair_.server.memory->data() + kStart, 64, lmr_context_);
  EXPECT_THAT(dat_ep_post_send(pair_.server.ep, 1, &by_address, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  ASSERT_THAT(pair_.client.post_write(0, 64, make_remote(std::uint64_t{kLength - 63}, 64, rmr_context_)), succeeds());
  EXPECT_EQ(next_completion(pair_.client.request_evd).status, DAT_DTO_ERR_REMOTE_ACCESS);
}

TEST_F(ZeroBasedLmr, QueryTellsHowAddressesCount) {
  DAT_LMR_PARAM param{};
  ASSERT_THAT(dat_lmr_query(lmr_, DAT_LMR_FIELD_ALL, &param), succeeds());
  EXPECT_EQ(param.va_type, DAT_VA_TYPE_ZB);
  EXPECT_EQ(param.region_desc.for_va, pair_.server.memory->data() + kStart);
}

#endif

}  // namespace
}  // namespace softdat::conformance
