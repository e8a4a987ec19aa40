// SPDX-License-Identifier: BSD-2-Clause
#include "base/counter_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "base/assert.h"
#include "base/process_start.h"

namespace softdat::base {
namespace {

constexpr std::uint64_t kFileBytes = kHalvesAt + 2 * kHalfBytes;
constexpr int kNoNewWriters = 0x0010;  // F_SEAL_FUTURE_WRITE, Linux 5.1

constexpr std::uint64_t kKeptForProcess = 4096;  // room for the last record, whatever came before

static_assert(sizeof(CounterFileHeader) <= kHalvesAt);
static_assert(sizeof(RecordHead) + sizeof(ProcessRecord) <= kKeptForProcess);

// Growing a file beyond the limit raises SIGXFSZ.
bool is_size_allowed() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kFileBytes) return true;
  errno = EFBIG;
  return false;
}

}  // namespace

CounterFile::~CounterFile() {
  close();
}

void CounterFile::close() {
  if (memory_ != nullptr) ::munmap(memory_, kFileBytes);
  memory_ = nullptr;
  file_.reset();
}

// A sparse file: it costs the pages that are written. Sealed against shrinking before it is mapped, or another process
// of the user could turn our next store into a SIGBUS.
bool CounterFile::open() {
  close();
  if (!is_size_allowed()) return false;
  const auto start = read_process_start("/proc/self/stat");
  if (!start) return false;
  UniqueFd file(::memfd_create(kCounterFileName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(kFileBytes)) != 0) return false;
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return false;
  // Under mlockall() a writable mapping would be filled from one end to the other.
  void* const got = ::mmap(nullptr, kFileBytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (got == MAP_FAILED) return false;
  if (::munlock(got, kFileBytes) != 0 || ::mprotect(got, kFileBytes, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(got, kFileBytes);
    return false;
  }
  static_cast<void>(::madvise(got, kFileBytes, MADV_DONTDUMP));
  static_cast<void>(::madvise(got, kFileBytes, MADV_DONTFORK));
  // An older kernel does not know it. Then a program of the same user can write nonsense here, which only readers see.
  static_cast<void>(::fcntl(file.get(), F_ADD_SEALS, kNoNewWriters));
  file_ = std::move(file);
  memory_ = static_cast<std::byte*>(got);
  generation_ = 0;
  header() = {.magic = kCounterFileMagic,
              .version = kCounterFileVersion,
              .pid = static_cast<std::uint32_t>(::getpid()),
              .half_bytes = kHalfBytes,
              .start = *start,
              .generation = 0};
  return true;
}

// Records then go to the half that readers do not use, and are unseen until publish().
void CounterFile::begin() {
  check(memory_ != nullptr, "a snapshot is written to an open file");
  head_ = {.generation = generation_ + 1,
           .bytes = sizeof(SnapshotHead),
           .records = 0,
           .left_out = 0,
           .published_ns = 0,
           .period_ns = 0};
}

void CounterFile::add_bytes(RecordKind kind, std::span<const std::byte> body) {
  SOFTDAT_DEBUG_CHECK(head_.generation == generation_ + 1, "begin() comes before the records", head_.generation,
                      generation_);
  SOFTDAT_DEBUG_CHECK(head_.bytes >= sizeof(SnapshotHead) && head_.bytes <= kHalfBytes, "a snapshot lies in its half",
                      head_.bytes);
  const std::uint64_t bytes = sizeof(RecordHead) + body.size();
  // The process's record comes last and must fit, so others may not use its room. Records that do not fit are counted.
  const std::uint64_t room = kind == RecordKind::kProcess ? kHalfBytes : kHalfBytes - kKeptForProcess;
  if (head_.bytes + bytes > room) {
    ++head_.left_out;
    return;
  }
  std::byte* const to = half(head_.generation) + head_.bytes;
  const RecordHead head{static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(bytes)};
  std::memcpy(to, &head, sizeof head);
  std::memcpy(to + sizeof head, body.data(), body.size());
  head_.bytes += bytes;
  ++head_.records;
}

void CounterFile::publish(std::uint64_t now_ns, std::uint64_t period_ns) {
  check(head_.generation == generation_ + 1, "begin() comes before publish()", head_.generation, generation_);
  head_.published_ns = now_ns;
  head_.period_ns = period_ns;
  // A snapshot is written to the half that readers do not use now. Storing its generation makes it the current one.
  std::memcpy(half(head_.generation), &head_, sizeof head_);
  generation_ = head_.generation;
  // Pairs with the reader's loads before and after it copies a half. If they differ, the copy may be torn, and the
  // reader tries again.
  std::atomic_ref<std::uint64_t>(header().generation).store(generation_, std::memory_order_seq_cst);
}

}  // namespace softdat::base
