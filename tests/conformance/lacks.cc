// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/lacks.h"

#include <cstdlib>
#include <map>

#include "tests/conformance/answers.h"

namespace softdat::conformance {
namespace {

struct Offer {
  DAT_IA_ATTR ia{};
  bool has_shared_receives = false;
  std::map<std::string, std::string> named;
};

Offer ask() {
  const Adapter adapter;
  Offer offer;
  offer.ia = adapter.attributes();
  DAT_PROVIDER_ATTR provider{};
  require(dat_ia_query(adapter.handle(), nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider), "dat_ia_query");
  offer.has_shared_receives = provider.srq_supported != DAT_FALSE;
  for (DAT_COUNT i = 0; i < provider.num_provider_specific_attr; ++i) {
    const DAT_NAMED_ATTR& attribute = provider.provider_specific_attr[i];
    offer.named[attribute.name] = attribute.value;
  }
  return offer;
}

const Offer& offer() {
  static const auto& asked = *new Offer(ask());
  return asked;
}

Lack lack_of_named(const std::string& name) {
  return offer().named.contains(name) ? Lack() : "no attribute " + name;
}

std::string transport() {
  const auto found = offer().named.find("SOFTDAT_TRANSPORT");
  return found == offer().named.end() ? "" : found->second;
}

Lack lack_on_iwarp() {
  return transport() == "iwarp" ? "SOFTDAT_TRANSPORT is iwarp" : Lack();
}

}  // namespace

Lack lack_of_windows() {
  return offer().ia.max_rmrs > 0 ? Lack() : "max_rmrs is 0";
}

Lack lack_of_shared_receives() {
  return offer().has_shared_receives ? Lack() : "no srq_supported";
}

Lack lack_of_zero_based_regions() {
#if SOFTDAT_DAT_MAJOR == 2
  return offer().ia.zb_supported != DAT_FALSE ? Lack() : "no zb_supported";
#else
  return {};
#endif
}

Lack lack_of_immediate_data() {
  return lack_of_named("DAT_IB_IMMED_DATA");
}

Lack lack_of_atomics() {
  return lack_of_named("DAT_IB_FETCH_AND_ADD");
}

Lack lack_of_datagrams() {
  return lack_of_named("DAT_IB_UD");
}

Lack lack_of_read_segments() {
  return max_read_segments() > 1 ? Lack() : "max_iov_segments_per_rdma_read is 1";
}

Lack lack_of_resizing() {
  Adapter adapter;
  const DAT_EVD_HANDLE evd = adapter.make_evd(DAT_EVD_DTO_FLAG, 8);
  const bool is_unable = type_of(dat_evd_resize(evd, 4096)) == DAT_MODEL_NOT_SUPPORTED;
  return is_unable ? "dat_evd_resize is not supported" : Lack();
}

Lack lack_of_shared_resizing() {
  if (Lack lack = lack_of_shared_receives(); !lack.empty()) return lack;
  Adapter adapter;
  DAT_SRQ_ATTR attributes{};
  attributes.max_recv_dtos = 8;
  attributes.max_recv_iov = 1;
  attributes.low_watermark = DAT_SRQ_LW_DEFAULT;
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  require(dat_srq_create(adapter.handle(), adapter.make_pz(), &attributes, &srq), "dat_srq_create");
  const bool is_unable = type_of(dat_srq_resize(srq, 4096)) == DAT_MODEL_NOT_SUPPORTED;
  return is_unable ? "dat_srq_resize is not supported" : Lack();
}

Lack lack_of_other_processes() {
  const char* const said = std::getenv("SOFTDAT_TRANSPORT");
  return said != nullptr && std::string(said) == "loop" ? "SOFTDAT_TRANSPORT is loop" : Lack();
}

Lack lack_of_descriptors() {
  return lack_of_other_processes().empty() ? Lack() : "an adapter of the loop has no descriptors";
}

Lack lack_of_waiting_sends() {
  return lack_on_iwarp();
}

Lack lack_of_refusals() {
  return lack_on_iwarp();
}

Lack lack_of_confirmations() {
  return lack_on_iwarp();
}

Lack lack_of_simulation() {
  return transport() == "simulated" ? Lack() : "SOFTDAT_TRANSPORT is " + transport();
}

Lack lack_of_own_limits() {
  if (Lack lack = lack_of_simulation(); !lack.empty()) return lack;
  const std::string vendor = offer().ia.vendor_name;
  return vendor.starts_with("SoftDAT, as ") ? "the vendor is " + vendor : Lack();
}

DAT_COUNT max_read_segments() {
  return offer().ia.max_iov_segments_per_rdma_read;
}

}  // namespace softdat::conformance
