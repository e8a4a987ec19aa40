// SPDX-License-Identifier: BSD-2-Clause
// An open interface adapter and what tests make on it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/conformance/api_version.h"

namespace softdat::conformance {

// The adapters on which the two sides of a test meet.
inline constexpr const char* kServerName = "sim0";
inline constexpr const char* kClientName = "sim1";

// A connection qualifier that no other test of this or any other process uses.
DAT_CONN_QUAL unused_qualifier();

// One opened adapter with its asynchronous dispatcher. Closes abruptly when it goes, which frees
// everything made on it. Its making functions throw SetupFailure.
class Adapter {
 public:
  explicit Adapter(const char* name = kServerName);
  ~Adapter();

  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  DAT_IA_HANDLE handle() const { return ia_; }
  DAT_EVD_HANDLE async_evd() const { return async_evd_; }
  DAT_IA_ADDRESS_PTR address() const;
  DAT_IA_ATTR attributes() const;
  DAT_COUNT max_private_data() const;

  // Forgets the handle: the test has closed it.
  void release() { ia_ = DAT_HANDLE_NULL; }

  DAT_PZ_HANDLE make_pz();
  DAT_CNO_HANDLE make_cno(DAT_OS_WAIT_PROXY_AGENT agent = {nullptr, nullptr});
  DAT_EVD_HANDLE make_evd(int flags, DAT_COUNT length = 64, DAT_CNO_HANDLE cno = DAT_HANDLE_NULL);
  DAT_EVD_HANDLE make_software_evd(DAT_COUNT length = 64, DAT_CNO_HANDLE cno = DAT_HANDLE_NULL);
  DAT_PSP_HANDLE make_psp(DAT_CONN_QUAL qualifier, DAT_EVD_HANDLE evd);

 private:
  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd_ = DAT_HANDLE_NULL;
};

// Registered memory that frees itself.
class Memory {
 public:
  Memory(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, std::size_t size, int privileges = DAT_MEM_PRIV_ALL_FLAG);
  ~Memory();

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  unsigned char* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  DAT_LMR_HANDLE lmr() const { return lmr_; }
  DAT_LMR_CONTEXT lmr_context() const { return lmr_context_; }
  DAT_RMR_CONTEXT rmr_context() const { return rmr_context_; }

  // [offset, offset + length) as a local segment or a remote buffer.
  DAT_LMR_TRIPLET local(std::size_t offset, std::size_t length) const;
  DAT_RMR_TRIPLET remote(std::size_t offset, std::size_t length) const;

  // Fills the range with bytes that differ by position and seed; says whether it holds them.
  void fill(std::size_t offset, std::size_t length, unsigned seed);
  bool holds(std::size_t offset, std::size_t length, unsigned seed) const;

  // Frees the registration but keeps the bytes.
  void deregister();

 private:
  std::vector<unsigned char> bytes_;
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
};

}  // namespace softdat::conformance
