// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/ia_attributes.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/made_once.h"
#include "libdat/api/numbers.h"
#include "libdat/object/endpoint_attributes.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using api::copy_name;
using api::dat_count;
using object::AdapterAttributes;

constexpr std::uint32_t kProviderMajor = SOFTDAT_VERSION_MAJOR;
constexpr std::uint32_t kProviderMinor = SOFTDAT_VERSION_MINOR;

// What a frame of the strongest InfiniBand link carries; programs size small messages by it.
char transport_mtu_name[] = "DAT_IB_TRANSPORT_MTU";
char transport_mtu_value[] = "4096";
char rdma_read_name[] = "DAT_IB_RDMA_READ";
char rdma_read_value[] = "TRUE";

// SoftDAT's own: what a program that must know can tell devices apart by (docs/BACKENDS.md).
char transport_name[] = "SOFTDAT_TRANSPORT";
char simulated_value[] = "simulated";
char infiniband_value[] = "infiniband";
char iwarp_value[] = "iwarp";
char direct_name[] = "SOFTDAT_DIRECT";
char none_value[] = "off";
char harmless_value[] = "auto";
char able_value[] = "on";

// The number of a table of named attributes: a bit for each feature, then transport and direct access.
constexpr std::size_t kWithImmediate = 1;
constexpr std::size_t kWithAtomics = 2;
constexpr std::size_t kWithDatagrams = 4;
constexpr std::size_t kTimesTransport = 8;
constexpr std::size_t kTimesDirect = 3 * kTimesTransport;
constexpr std::size_t kCombinations = 3 * kTimesDirect;

#if SOFTDAT_ABI == 20
char extension_name[] = "DAT_EXTENSION_INTERFACE";
char immediate_name[] = DAT_IB_ATTR_IMMED_DATA;
char fetch_and_add_name[] = DAT_IB_ATTR_FETCH_AND_ADD;
char cmp_and_swap_name[] = DAT_IB_ATTR_CMP_AND_SWAP;
char datagram_name[] = DAT_IB_ATTR_UD;
char counters_name[] = DAT_IB_ATTR_COUNTERS;
char offered[] = "TRUE";
#endif

// The names of what a device has. Not const: the DAT headers hand it out as a pointer to non-const.
struct NamedAttributes {
  std::array<DAT_NAMED_ATTR, 10> rows{};
  DAT_COUNT count = 0;

  void add(char* name, char* value) {
    base::check(static_cast<std::size_t>(count) < rows.size(), "there is a row for each name",
                static_cast<std::uint64_t>(count));
    rows[static_cast<std::size_t>(count++)] = {name, value};
  }
};

char* value_of(hca::Transport transport) {
  switch (transport) {
    case hca::Transport::kSimulated:
      break;
    case hca::Transport::kInfiniBand:
      return infiniband_value;
    case hca::Transport::kIwarp:
      return iwarp_value;
  }
  return simulated_value;
}

char* value_of(hca::DirectAccess direct) {
  switch (direct) {
    case hca::DirectAccess::kNone:
      break;
    case hca::DirectAccess::kWhereHarmless:
      return harmless_value;
    case hca::DirectAccess::kWhereAble:
      return able_value;
  }
  return none_value;
}

NamedAttributes make_named_attributes(std::size_t which) {
  NamedAttributes result;
  result.add(transport_name, value_of(static_cast<hca::Transport>(which % kTimesDirect / kTimesTransport)));
  result.add(direct_name, value_of(static_cast<hca::DirectAccess>(which / kTimesDirect)));
  result.add(transport_mtu_name, transport_mtu_value);
  result.add(rdma_read_name, rdma_read_value);
#if SOFTDAT_ABI == 20
  result.add(extension_name, offered);
  if ((which & kWithImmediate) != 0) result.add(immediate_name, offered);
  if ((which & kWithAtomics) != 0) result.add(fetch_and_add_name, offered);
  if ((which & kWithAtomics) != 0) result.add(cmp_and_swap_name, offered);
  if ((which & kWithDatagrams) != 0) result.add(datagram_name, offered);
  result.add(counters_name, offered);
#endif
  return result;
}

// Consumers keep the pointer for as long as they like.
NamedAttributes& named_attributes(const AdapterAttributes& adapter) {
  using All = std::array<NamedAttributes, kCombinations>;
  static constinit std::atomic<All*> place{nullptr};
  All& all = base::made_once(place, [] {
    auto made = std::make_unique<All>();
    for (std::size_t which = 0; which < kCombinations; ++which) (*made)[which] = make_named_attributes(which);
    return made;
  });
  const std::size_t features = (adapter.has_immediate ? kWithImmediate : 0) | (adapter.has_atomics ? kWithAtomics : 0) |
                               (adapter.has_datagrams ? kWithDatagrams : 0);
  const std::size_t which = features + static_cast<std::size_t>(adapter.transport) * kTimesTransport +
                            static_cast<std::size_t>(adapter.direct) * kTimesDirect;
  base::check(which < all.size(), "a table of names stands for each kind of device", which);
  return all[which];
}

#if SOFTDAT_ABI == 20
std::uint32_t length_of(std::uint64_t length) {
  return api::length32(length);
}
#else
std::uint64_t length_of(std::uint64_t length) {
  return length;
}
#endif

void set_limits_of_transfers(DAT_IA_ATTR& attributes, const AdapterAttributes& adapter) {
  const DAT_COUNT iov = std::min(adapter.max_iov_segments_per_dto, api::kLargestIov);
  attributes.max_dto_per_ep = adapter.max_dto_per_ep;
  attributes.max_iov_segments_per_dto = iov;
  attributes.max_iov_segments_per_rdma_read = std::min(iov, adapter.max_iov_segments_per_read);
  attributes.max_iov_segments_per_rdma_write = iov;
  attributes.max_message_size = length_of(adapter.max_message_size);
  attributes.max_rdma_size = length_of(adapter.max_rdma_size);
}

void set_limits_of_reads(DAT_IA_ATTR& attributes, const AdapterAttributes& adapter) {
  SOFTDAT_DEBUG_CHECK(
      adapter.max_eps >= 0 && adapter.max_rdma_read_per_ep_in >= 0 && adapter.max_rdma_read_per_ep_out >= 0,
      "the limits of an adapter are counts");
  const auto eps = static_cast<std::uint64_t>(adapter.max_eps);
  const auto in = static_cast<std::uint64_t>(adapter.max_rdma_read_per_ep_in);
  const auto out = static_cast<std::uint64_t>(adapter.max_rdma_read_per_ep_out);
  attributes.max_rdma_read_per_ep_in = adapter.max_rdma_read_per_ep_in;
  attributes.max_rdma_read_per_ep_out = adapter.max_rdma_read_per_ep_out;
  // Nothing is shared between endpoints, so each gets all that it may ask for.
  attributes.max_rdma_read_in = dat_count(in * eps);
  attributes.max_rdma_read_out = dat_count(out * eps);
  attributes.max_rdma_read_per_ep_in_guaranteed = DAT_TRUE;
  attributes.max_rdma_read_per_ep_out_guaranteed = DAT_TRUE;
}

void set_limits_of_objects(DAT_IA_ATTR& attributes, const AdapterAttributes& adapter) {
  attributes.max_eps = adapter.max_eps;
  attributes.max_evds = adapter.max_evds;
  attributes.max_evd_qlen = adapter.max_evd_qlen;
  attributes.max_lmrs = adapter.max_lmrs;
  attributes.max_lmr_block_size = length_of(adapter.max_lmr_block_size);
  attributes.max_lmr_virtual_address = adapter.max_lmr_virtual_address;
  attributes.max_pzs = adapter.max_pzs;
  attributes.max_rmrs = adapter.max_rmrs;
  attributes.max_srqs = adapter.max_srqs;
  attributes.max_ep_per_srq = adapter.max_srqs > 0 ? adapter.max_eps : 0;
  attributes.max_recv_per_srq = adapter.max_recv_per_srq;
  attributes.max_rmr_target_address = adapter.max_lmr_virtual_address;
}

void set_identity(DAT_PROVIDER_ATTR& attributes, const RegisteredIa& ia) {
  copy_name(attributes.provider_name, "SoftDAT");
  attributes.provider_version_major = kProviderMajor;
  attributes.provider_version_minor = kProviderMinor;
  // A registry finds its entry again by these three.
  attributes.dapl_version_major = ia.info.major;
  attributes.dapl_version_minor = ia.info.minor;
  attributes.is_thread_safe = ia.info.is_thread_safe == 0 ? DAT_FALSE : DAT_TRUE;
}

void set_ways(DAT_PROVIDER_ATTR& attributes, const AdapterAttributes& adapter) {
  // DAT_MEM_TYPE_VIRTUAL is 0 and always there.
  attributes.lmr_mem_types_supported =
      static_cast<DAT_MEM_TYPE>(DAT_MEM_TYPE_VIRTUAL | DAT_MEM_TYPE_LMR | DAT_MEM_TYPE_SHARED_VIRTUAL);
  attributes.iov_ownership_on_return = DAT_IOV_CONSUMER;
  // One quality is all there is, and it is as good as any that may be asked for.
  attributes.dat_qos_supported = static_cast<DAT_QOS>(object::kAllQos);
  attributes.completion_flags_supported = static_cast<DAT_COMPLETION_FLAGS>(
      DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG |
      DAT_COMPLETION_BARRIER_FENCE_FLAG | DAT_COMPLETION_EVD_THRESHOLD_FLAG);
  attributes.supports_multipath = DAT_FALSE;
  attributes.ep_creator = DAT_PSP_CREATES_EP_IFASKED;
  attributes.pz_support = DAT_PZ_UNIQUE;
  attributes.optimal_buffer_alignment = 64;
  attributes.lmr_sync_req = DAT_FALSE;
  attributes.dto_async_return_guaranteed = DAT_FALSE;
  attributes.rdma_write_for_rdma_read_req = adapter.needs_remote_write_to_read ? DAT_TRUE : DAT_FALSE;
  // Streams of all kinds may share an EVD. The DAT headers declare the matrix const although it is
  // an output.
  auto* merging = const_cast<DAT_BOOLEAN*>(&attributes.evd_stream_merging_supported[0][0]);
  std::fill_n(merging, sizeof(attributes.evd_stream_merging_supported) / sizeof(*merging), DAT_TRUE);
}

// The counts say how many of the page's watermarks and numbers there are.
void set_shared_receives(DAT_PROVIDER_ATTR& attributes, const AdapterAttributes& adapter) {
  const bool has_srqs = adapter.max_srqs > 0;
  attributes.srq_supported = has_srqs ? DAT_TRUE : DAT_FALSE;
  attributes.srq_watermarks_supported = has_srqs ? 3 : 0;  // low; soft and hard high
  attributes.srq_ep_pz_difference_supported = has_srqs ? DAT_TRUE : DAT_FALSE;
  attributes.srq_info_supported = has_srqs ? 2 : 0;  // available, outstanding
  attributes.ep_recv_info_supported = 2;             // buffers, span
}

void set_what_is_missing([[maybe_unused]] DAT_PROVIDER_ATTR& attributes) {
#if SOFTDAT_ABI == 20
  // A read request carries the key of its sink, which is the region's one key.
  attributes.rdma_read_lmr_rmr_context_exposure = DAT_TRUE;
  attributes.rmr_scope_supported = DAT_RMR_SCOPE_ANY;
  attributes.is_signal_safe = DAT_FALSE;
  attributes.ha_supported = DAT_FALSE;
  attributes.ha_loadbalancing = DAT_HA_LB_NONE;
#endif
}

}  // namespace

void write_ia_attributes(const AdapterAttributes& adapter, DAT_IA_ATTR& to) {
  to = {};
  copy_name(to.adapter_name, adapter.name);
  copy_name(to.vendor_name, adapter.vendor);
  SOFTDAT_DEBUG_CHECK(adapter.address != nullptr, "an adapter has an address");
  to.hardware_version_major = kProviderMajor;
  to.hardware_version_minor = kProviderMinor;
  to.firmware_version_major = kProviderMajor;
  to.firmware_version_minor = kProviderMinor;
  to.ia_address_ptr = api::dat_address(adapter.address);
  set_limits_of_objects(to, adapter);
  set_limits_of_transfers(to, adapter);
  set_limits_of_reads(to, adapter);
#if SOFTDAT_ABI == 20
  to.zb_supported = adapter.has_zero_based ? DAT_TRUE : DAT_FALSE;
  // Programs that see it write with immediate data, as dtest does, and ask no named attribute.
  if (adapter.has_immediate) {
    to.extension_supported = DAT_EXTENSION_IB;
    to.extension_version = DAT_IB_EXTENSION_VERSION;
  }
#endif
}

void write_provider_attributes(const RegisteredIa& ia, const AdapterAttributes& adapter, DAT_PROVIDER_ATTR& to) {
  set_identity(to, ia);
  set_ways(to, adapter);
  set_shared_receives(to, adapter);
  set_what_is_missing(to);
  to.max_private_data_size = adapter.max_private_data_size;
  NamedAttributes& named = named_attributes(adapter);
  to.num_provider_specific_attr = named.count;
  to.provider_specific_attr = named.rows.data();
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
