// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/adapter.h"

#include <unistd.h>

#include <atomic>

#include "tests/conformance/answers.h"

namespace softdat::conformance {
namespace {

constexpr DAT_COUNT kAsyncLength = 16;

unsigned char byte_at(std::size_t position, unsigned seed) {
  return static_cast<unsigned char>(position * 131 + (position >> 8) * 17 + seed * 29 + 1);
}

// Registered memory is shared with a device, perhaps with one of another process. What makes it safe to
// look at is a completion over there, or nothing, when a test watches it change; ThreadSanitizer sees
// neither. So it is not asked about the program's own looks; the device's are all observed.
__attribute__((no_sanitize("thread"))) void write_pattern(unsigned char* to, std::size_t length, unsigned seed) {
  for (std::size_t i = 0; i < length; ++i) to[i] = byte_at(i, seed);
}

__attribute__((no_sanitize("thread"))) bool is_pattern(const unsigned char* from, std::size_t length, unsigned seed) {
  for (std::size_t i = 0; i < length; ++i)
    if (from[i] != byte_at(i, seed)) return false;
  return true;
}

void check_range(std::size_t offset, std::size_t length, std::size_t size) {
  if (offset > size || length > size - offset) throw SetupFailure("the test looks beyond its memory");
}

}  // namespace

DAT_CONN_QUAL unused_qualifier() {
  static std::atomic<DAT_CONN_QUAL> next{0};
  return (static_cast<DAT_CONN_QUAL>(getpid()) << 24) + next.fetch_add(1) + 1;
}

Adapter::Adapter(const char* name) {
  std::string copy = name;
  require(dat_ia_open(copy.data(), kAsyncLength, &async_evd_, &ia_), "dat_ia_open");
}

Adapter::~Adapter() {
  if (ia_ != DAT_HANDLE_NULL) dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG);
}

DAT_IA_ATTR Adapter::attributes() const {
  DAT_IA_ATTR attributes{};
  require(dat_ia_query(ia_, nullptr, DAT_IA_FIELD_ALL, &attributes, 0, nullptr), "dat_ia_query");
  return attributes;
}

DAT_IA_ADDRESS_PTR Adapter::address() const {
  return attributes().ia_address_ptr;
}

DAT_COUNT Adapter::max_private_data() const {
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(ia_, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_MAX_PRIVATE_DATA_SIZE, &provider), "dat_ia_query");
  return provider.max_private_data_size;
}

DAT_PZ_HANDLE Adapter::make_pz() {
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  require(dat_pz_create(ia_, &pz), "dat_pz_create");
  return pz;
}

DAT_CNO_HANDLE Adapter::make_cno(DAT_OS_WAIT_PROXY_AGENT agent) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  require(dat_cno_create(ia_, agent, &cno), "dat_cno_create");
  return cno;
}

DAT_EVD_HANDLE Adapter::make_evd(int flags, DAT_COUNT length, DAT_CNO_HANDLE cno) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  require(dat_evd_create(ia_, length, cno, static_cast<DAT_EVD_FLAGS>(flags), &evd), "dat_evd_create");
  return evd;
}

DAT_EVD_HANDLE Adapter::make_software_evd(DAT_COUNT length, DAT_CNO_HANDLE cno) {
  return make_evd(DAT_EVD_SOFTWARE_FLAG, length, cno);
}

DAT_PSP_HANDLE Adapter::make_psp(DAT_CONN_QUAL qualifier, DAT_EVD_HANDLE evd) {
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  require(dat_psp_create(ia_, qualifier, evd, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create");
  return psp;
}

Memory::Memory(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, std::size_t size, int privileges) : bytes_(size) {
  DAT_REGION_DESCRIPTION region{};
  region.for_va = bytes_.data();
  require(create_lmr(ia, DAT_MEM_TYPE_VIRTUAL, region, size, pz, static_cast<DAT_MEM_PRIV_FLAGS>(privileges), &lmr_,
                     &lmr_context_, &rmr_context_, nullptr, nullptr),
          "dat_lmr_create");
}

Memory::~Memory() {
  // After its adapter was closed the handle is stale, and the call says so.
  if (lmr_ != DAT_HANDLE_NULL) static_cast<void>(dat_lmr_free(lmr_));
}

DAT_LMR_TRIPLET Memory::local(std::size_t offset, std::size_t length) const {
  return make_local(bytes_.data() + offset, length, lmr_context_);
}

DAT_RMR_TRIPLET Memory::remote(std::size_t offset, std::size_t length) const {
  return make_remote(bytes_.data() + offset, length, rmr_context_);
}

void Memory::fill(std::size_t offset, std::size_t length, unsigned seed) {
  check_range(offset, length, bytes_.size());
  write_pattern(bytes_.data() + offset, length, seed);
}

bool Memory::holds(std::size_t offset, std::size_t length, unsigned seed) const {
  check_range(offset, length, bytes_.size());
  return is_pattern(bytes_.data() + offset, length, seed);
}

void Memory::deregister() {
  require(dat_lmr_free(lmr_), "dat_lmr_free");
  lmr_ = DAT_HANDLE_NULL;
}

}  // namespace softdat::conformance
