// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger_private_data.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "libdat/object/failure_text.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/page_guard.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

// Guarded private data stays mapped for ever, so that each later access is seen.
constexpr std::size_t kMostPrivatePages = 4096;

}  // namespace

const void* LedgerPrivateData::watch(Handle owner, const void* data, std::size_t length, const Site& site) {
  if (mode() != Mode::kFull || data == nullptr || length == 0 || length > kGuardedPage) return data;
  const std::lock_guard lock(state_.mutex);
  if (state_.private_pages >= kMostPrivatePages) return data;
  // A page of its own, which can be guarded when the data ends.
  void* const page = ::mmap(nullptr, kGuardedPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return data;
  ++state_.private_pages;
  std::memcpy(page, data, length);
  state_.private_data.emplace(
      owner, PrivateDataRecord{.address = reinterpret_cast<std::uintptr_t>(page), .length = length, .made = site});
  return page;
}

void LedgerPrivateData::end(Handle owner, const Site& site) {
  if (mode() != Mode::kFull) return;
  const std::lock_guard lock(state_.mutex);
  const auto [first, last] = state_.private_data.equal_range(owner);
  for (auto each = first; each != last; ++each) {
    const auto breach = std::make_shared<const Finding>(
        Finding{Rule::kStalePrivateData,
                "The private data " + object::range_text(each->second.address, each->second.length) +
                    " was accessed after its end.",
                {{"given", each->second.made}, {"ended", site}}});
    PageGuard::instance().close(each->second.address, kGuardedPage, breach);
  }
  state_.private_data.erase(first, last);
}

}  // namespace softdat::sanitize
