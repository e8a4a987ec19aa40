// SPDX-License-Identifier: BSD-2-Clause
// Registered memory of which a part is unmapped, truncated or protected, as a program may do by mistake.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tests/conformance/peer.h"
#if SOFTDAT_DAT_MAJOR == 2
#include <dat2/dat_ib_extensions.h>
#endif

namespace softdat::conformance {

enum class Damage { kUnmapped, kTruncated, kNoAccess, kReadOnly };

#if defined(__SANITIZE_THREAD__)
inline constexpr std::uintptr_t kFarAway = std::uintptr_t{1} << 36;  // the race checker reserves the rest
#else
inline constexpr std::uintptr_t kFarAway = std::uintptr_t{1} << 45;
#endif

inline constexpr std::size_t kDamagedPage = 4096;

// Registered pages where no other mapping comes to lie by itself, so that what is unmapped stays so.
class DamagedMemory {
 public:
  static constexpr std::size_t kPages = 256;

  DamagedMemory(Peer& owner, bool is_file) : file_(is_file ? memfd_create("damaged", MFD_CLOEXEC) : -1) {
    if (is_file && ftruncate(file_, kPages * kDamagedPage) != 0) throw SetupFailure("ftruncate");
    const int kind = is_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void* const got = mmap(reinterpret_cast<void*>(kFarAway), kPages * kDamagedPage, PROT_READ | PROT_WRITE,
                           kind | MAP_FIXED_NOREPLACE, file_, 0);
    if (got == MAP_FAILED) throw SetupFailure("mmap");
    data_ = static_cast<unsigned char*>(got);
    std::fill_n(data_, kPages * kDamagedPage, static_cast<unsigned char>(1));
    DAT_REGION_DESCRIPTION region{};
    region.for_va = data_;
    int privileges = DAT_MEM_PRIV_ALL_FLAG;
#if SOFTDAT_DAT_MAJOR == 2
    privileges |= DAT_IB_MEM_PRIV_REMOTE_ATOMIC;
#endif
    require(
        create_lmr(owner.adapter.handle(), DAT_MEM_TYPE_VIRTUAL, region, kPages * kDamagedPage, owner.pz,
                   static_cast<DAT_MEM_PRIV_FLAGS>(privileges), &lmr_, &lmr_context_, &rmr_context_, nullptr, nullptr),
        "dat_lmr_create");
  }
  ~DamagedMemory() {
    static_cast<void>(dat_lmr_free(lmr_));
    munmap(data_, kPages * kDamagedPage);
    if (file_ >= 0) close(file_);
  }
  DamagedMemory(const DamagedMemory&) = delete;
  DamagedMemory& operator=(const DamagedMemory&) = delete;

  // Damages the last half of the pages.
  void damage(Damage how) {
    const std::size_t half = kPages / 2 * kDamagedPage;
    int result = -1;
    switch (how) {
      case Damage::kUnmapped:
        result = munmap(edge(), half);
        break;
      case Damage::kTruncated:
        result = ftruncate(file_, static_cast<off_t>(half));
        break;
      case Damage::kNoAccess:
        result = mprotect(edge(), half, PROT_NONE);
        break;
      case Damage::kReadOnly:
        result = mprotect(edge(), half, PROT_READ);
        break;
    }
    require(result == 0 ? DAT_SUCCESS : DAT_INTERNAL_ERROR, "the damage");
  }
  // Where the damage begins.
  unsigned char* edge() const {
    return data_ + kPages / 2 * kDamagedPage;
  }
  DAT_LMR_TRIPLET local(const unsigned char* at, std::size_t length) const {
    return make_local(at, length, lmr_context_);
  }
  DAT_RMR_TRIPLET remote(const unsigned char* at, std::size_t length) const {
    return make_remote(at, length, rmr_context_);
  }

 private:
  const int file_;
  unsigned char* data_ = nullptr;
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
};

}  // namespace softdat::conformance
