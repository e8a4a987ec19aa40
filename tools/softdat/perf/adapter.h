// SPDX-License-Identifier: BSD-2-Clause
// An opened IA with a protection zone, and what it can do. Closing it frees whatever was made on it, in whatever state.
#pragma once

#include <dat2/udat.h>

#include <string>

#include "tools/softdat/perf/plan.h"

namespace softdat::tools::perf {

inline constexpr DAT_TIMEOUT kConnectPatience = 10'000'000;  // us

class Adapter {
 public:
  explicit Adapter(const std::string& name);
  ~Adapter();
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  DAT_IA_HANDLE ia() const { return ia_; }
  DAT_PZ_HANDLE pz() const { return pz_; }
  const DAT_IA_ATTR& attributes() const { return attributes_; }
  DAT_IA_ADDRESS_PTR address() const { return attributes_.ia_address_ptr; }

  // Empty if the adapter has `operation`; else why not.
  std::string refusal(Operation operation) const;
  bool has_atomics() const { return has_fetch_add_ || has_compare_swap_; }
  bool has_extension() const { return has_atomics() || has_immediate_; }

  // What dat_ia_open took.
  double open_us() const { return open_us_; }

 private:
  void learn_extensions();

  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd_ = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz_ = DAT_HANDLE_NULL;
  DAT_IA_ATTR attributes_{};
  bool has_immediate_ = false;
  bool has_fetch_add_ = false;
  bool has_compare_swap_ = false;
  double open_us_ = 0;
};

// Zeroed plain memory, as malloc gives it, registered with every right: the first bytes of a pool, as RDMA programs
// have one, which is large enough for malloc to map it by itself.
class Region {
 public:
  Region(const Adapter& adapter, std::size_t length);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  std::uint8_t* data() const { return bytes_; }
  std::size_t size() const { return length_; }
  // [offset, offset + length) of it, for this side and for the other.
  DAT_LMR_TRIPLET local(std::size_t offset, std::size_t length) const;
  DAT_RMR_TRIPLET remote() const;

 private:
  std::size_t length_;
  void* allocation_;
  std::uint8_t* bytes_;  // in the allocation, at a cache line
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
};

}  // namespace softdat::tools::perf
