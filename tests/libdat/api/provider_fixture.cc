// SPDX-License-Identifier: BSD-2-Clause
#include "tests/libdat/api/provider_fixture.h"

#include <unistd.h>

#include <cstring>
#include <map>
#include <string>

#include "libdat/api/provider.h"
#include "tests/libdat/api/fake_registry.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

constexpr DAT_COUNT kQlen = 64;
constexpr DAT_TIMEOUT kPatience = 30'000'000;

void expect_success(DAT_RETURN answer, const char* what) {
  ASSERT_EQ(answer, static_cast<DAT_RETURN>(DAT_SUCCESS)) << what << " 0x" << std::hex << answer;
}

// Each set of objects listens for itself, and all 64 bits count.
DAT_CONN_QUAL next_qualifier() {
  static DAT_CONN_QUAL next = (static_cast<DAT_CONN_QUAL>(::getpid()) << 32) + 0x5f0dda7000000000;
  return ++next;
}

DAT_EVD_FLAGS flags_of(std::uint32_t bits) {
  return static_cast<DAT_EVD_FLAGS>(bits);
}

void create_evds(LiveObjects& live) {
  const auto& table = *live.table;
  expect_success(table.cno_create_func(live.ia, {nullptr, nullptr}, &live.cno), "cno");
  expect_success(
      table.evd_create_func(
          live.ia, kQlen, live.cno,
          flags_of(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG), &live.evd),
      "evd");
  expect_success(table.evd_create_func(live.ia, kQlen, nullptr, DAT_EVD_SOFTWARE_FLAG, &live.software_evd),
                 "software evd");
}

void create_eps(LiveObjects& live) {
  const auto& table = *live.table;
  live.psp_qual = next_qualifier();
  for (DAT_EP_HANDLE* ep : {&live.ep, &live.reserved_ep})
    expect_success(table.ep_create_func(live.ia, live.pz, live.evd, live.evd, live.evd, nullptr, ep), "ep");
  expect_success(table.psp_create_func(live.ia, live.psp_qual, live.evd, DAT_PSP_CONSUMER_FLAG, &live.psp), "psp");
  expect_success(table.rsp_create_func(live.ia, next_qualifier(), live.reserved_ep, live.evd, &live.rsp), "rsp");
}

// The IA asks itself for a connection that nobody answers: the request stays.
void create_cr(LiveObjects& live) {
  const auto& table = *live.table;
  DAT_IA_ATTR attributes{};
  expect_success(table.ia_query_func(live.ia, nullptr, DAT_IA_FIELD_ALL, &attributes, 0, nullptr), "ia_query");
  char greeting[] = "greeting";
  expect_success(table.ep_connect_func(live.ep, attributes.ia_address_ptr, live.psp_qual, DAT_TIMEOUT_INFINITE,
                                       sizeof(greeting), greeting, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
                 "ep_connect");
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  expect_success(table.evd_wait_func(live.evd, kPatience, 1, &event, &nmore), "evd_wait");
  ASSERT_EQ(event.event_number, DAT_CONNECTION_REQUEST_EVENT);
  EXPECT_EQ(event.event_data.cr_arrival_event_data.sp_handle.psp_handle, live.psp);
  EXPECT_EQ(event.event_data.cr_arrival_event_data.conn_qual, live.psp_qual);
  live.cr = event.event_data.cr_arrival_event_data.cr_handle;
}

}  // namespace

const DAT_PROVIDER* provider_of(const char* ia_name, bool is_thread_safe) {
  static auto& known = *new std::map<std::pair<std::string, bool>, const void*>;
  const auto [entry, is_new] = known.try_emplace({ia_name, is_thread_safe}, nullptr);
  if (is_new) {
    api::ProviderInfo info{};
    std::strncpy(info.ia_name, ia_name, sizeof(info.ia_name) - 1);
    info.major = kAbiMajor;
    info.minor = kAbiMinor;
    info.is_thread_safe = is_thread_safe;
    api::registry_calls().added_table = nullptr;
    ::dat_provider_init(&info, "");
    entry->second = api::registry_calls().added_table;
  }
  return static_cast<const DAT_PROVIDER*>(entry->second);
}

DAT_HANDLE LiveObjects::of(object::Kind kind) const {
  const DAT_HANDLE handles[object::kKindCount] = {cr, ep, evd, ia, lmr, psp, pz, rmr, rsp, cno, nullptr, nullptr};
  return handles[static_cast<std::size_t>(kind)];
}

DAT_RETURN create_lmr(const LiveObjects& live, DAT_VLEN length, DAT_LMR_HANDLE* lmr, DAT_LMR_CONTEXT* lmr_context,
                      DAT_RMR_CONTEXT* rmr_context) {
  DAT_REGION_DESCRIPTION region{};
  region.for_va = const_cast<std::byte*>(live.memory.data());
#if SOFTDAT_ABI == 20
  return live.table->lmr_create_func(live.ia, DAT_MEM_TYPE_VIRTUAL, region, length, live.pz, DAT_MEM_PRIV_ALL_FLAG,
                                     DAT_VA_TYPE_VA, lmr, lmr_context, rmr_context, nullptr, nullptr);
#else
  return live.table->lmr_create_func(live.ia, DAT_MEM_TYPE_VIRTUAL, region, length, live.pz, DAT_MEM_PRIV_ALL_FLAG, lmr,
                                     lmr_context, rmr_context, nullptr, nullptr);
#endif
}

void create_live_objects(LiveObjects& live) {
  live.table = provider_of("sim0");
  ASSERT_NE(live.table, nullptr);
  char name[] = "sim0";
  expect_success(live.table->ia_open_func(name, 8, &live.async_evd, &live.ia), "ia_open");
  expect_success(live.table->pz_create_func(live.ia, &live.pz), "pz");
  create_evds(live);
  expect_success(create_lmr(live, live.memory.size(), &live.lmr, &live.lmr_context, &live.rmr_context), "lmr");
  expect_success(live.table->rmr_create_func(live.pz, &live.rmr), "rmr");
  create_eps(live);
  create_cr(live);
}

void close_live_objects(LiveObjects& live) {
  if (live.ia == nullptr) return;
  expect_success(live.table->ia_close_func(live.ia, DAT_CLOSE_ABRUPT_FLAG), "ia_close");
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
