// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/adapter.h"

#include <dat2/dat_ib_extensions.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "tools/softdat/dat_call.h"

namespace softdat::tools::perf {
namespace {

constexpr std::size_t kCacheLine = 64;
// malloc maps blocks from 128 KiB on by themselves, unless as large ones have been freed before.
constexpr std::size_t kLeastPool = std::size_t{256} << 10;

bool has_attribute(const DAT_PROVIDER_ATTR& provider, std::string_view name) {
  for (DAT_COUNT i = 0; i < provider.num_provider_specific_attr; ++i) {
    const DAT_NAMED_ATTR& attribute = provider.provider_specific_attr[i];
    if (attribute.name != nullptr && attribute.value != nullptr && name == attribute.name) {
      return std::string_view(attribute.value) == "TRUE";
    }
  }
  return false;
}

}  // namespace

Adapter::Adapter(const std::string& name) {
  using Clock = std::chrono::steady_clock;
  constexpr DAT_COUNT kAsyncEvents = 8;
  std::string mutable_name = name;
  const auto start = Clock::now();
  const DAT_RETURN opened = dat_ia_open(mutable_name.data(), kAsyncEvents, &async_evd_, &ia_);
  open_us_ = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  if (opened != DAT_SUCCESS) throw Failure(fmt::format("opening the adapter \"{}\": {}", name, describe(opened)));
  require(dat_pz_create(ia_, &pz_), "dat_pz_create");
  require(dat_ia_query(ia_, nullptr, DAT_IA_ALL, &attributes_, 0, nullptr), "dat_ia_query");
  learn_extensions();
}

// An abrupt close frees what is left, so the objects of a failed measurement need no order.
Adapter::~Adapter() {
  if (ia_ != DAT_HANDLE_NULL) dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG);
}

// A value other than TRUE means that the adapter lacks the operation, though it has the extension.
void Adapter::learn_extensions() {
  if (attributes_.extension_supported != DAT_EXTENSION_IB) return;
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(ia_, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider), "dat_ia_query");
  has_immediate_ = has_attribute(provider, DAT_IB_ATTR_IMMED_DATA);
  has_fetch_add_ = has_attribute(provider, DAT_IB_ATTR_FETCH_AND_ADD);
  has_compare_swap_ = has_attribute(provider, DAT_IB_ATTR_CMP_AND_SWAP);
}

std::string Adapter::refusal(Operation operation) const {
  const bool is_there = operation == Operation::kWriteImmediate ? has_immediate_
                        : operation == Operation::kFetchAdd     ? has_fetch_add_
                        : operation == Operation::kCompareSwap  ? has_compare_swap_
                                                                : true;
  return is_there ? "" : fmt::format("the adapter does not have {}", to_text(operation));
}

Region::Region(const Adapter& adapter, std::size_t length)
    : length_(length), allocation_(std::calloc(1, std::max(length + kCacheLine, kLeastPool))) {
  if (allocation_ == nullptr) throw std::bad_alloc();
  const auto address = reinterpret_cast<std::uintptr_t>(allocation_);
  bytes_ = reinterpret_cast<std::uint8_t*>((address + kCacheLine - 1) / kCacheLine * kCacheLine);
  // Every page is there before anything is timed.
  std::memset(bytes_, 0, length_);
  int rights = DAT_MEM_PRIV_ALL_FLAG;
  if (adapter.has_atomics()) rights |= int{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};
  DAT_REGION_DESCRIPTION region{};
  region.for_va = bytes_;
  const DAT_RETURN created = dat_lmr_create(adapter.ia(), DAT_MEM_TYPE_VIRTUAL, region, length_, adapter.pz(),
                                            static_cast<DAT_MEM_PRIV_FLAGS>(rights), DAT_VA_TYPE_VA, &lmr_,
                                            &lmr_context_, &rmr_context_, nullptr, nullptr);
  if (created == DAT_SUCCESS) return;
  std::free(allocation_);
  require(created, "dat_lmr_create");
}

Region::~Region() {
  if (lmr_ != DAT_HANDLE_NULL) dat_lmr_free(lmr_);
  std::free(allocation_);
}

DAT_LMR_TRIPLET Region::local(std::size_t offset, std::size_t length) const {
  DAT_LMR_TRIPLET triplet{};
  triplet.virtual_address = reinterpret_cast<std::uintptr_t>(bytes_) + offset;
  triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  triplet.lmr_context = lmr_context_;
  return triplet;
}

DAT_RMR_TRIPLET Region::remote() const {
  DAT_RMR_TRIPLET triplet{};
  triplet.virtual_address = reinterpret_cast<std::uintptr_t>(bytes_);
  triplet.segment_length = static_cast<DAT_SEG_LENGTH>(length_);
  triplet.rmr_context = rmr_context_;
  return triplet;
}

}  // namespace softdat::tools::perf
