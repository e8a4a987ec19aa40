// SPDX-License-Identifier: BSD-2-Clause
// How the provider registers itself, and what dat_ia_query tells of an IA.
#include "libdat/api/provider.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "libdat/api/return_code.h"
#include "tests/libdat/api/fake_registry.h"
#include "tests/libdat/api/provider_fixture.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using api::ProviderInfo;
using api::registry_calls;

constexpr DAT_RETURN kSuccess = DAT_SUCCESS;

ProviderInfo info_of(const char* name, bool is_thread_safe = false) {
  ProviderInfo info{};
  std::strncpy(info.ia_name, name, sizeof(info.ia_name) - 1);
  info.major = kAbiMajor;
  info.minor = kAbiMinor;
  info.is_thread_safe = is_thread_safe;
  return info;
}

TEST(Provider, InitAddsExactlyTheIaItIsAskedFor) {
  const ProviderInfo info = info_of("one-name");
  const int before = registry_calls().added;
  ::dat_provider_init(&info, "instance \"data\"");
  EXPECT_EQ(registry_calls().added, before + 1);
  EXPECT_EQ(std::memcmp(&registry_calls().added_info, &info, sizeof(info)), 0);
  const auto* table = static_cast<const DAT_PROVIDER*>(registry_calls().added_table);
  EXPECT_STREQ(table->device_name, "one-name");
}

TEST(Provider, FiniRemovesWhatInitAdded) {
  const ProviderInfo info = info_of("coming-and-going");
  ::dat_provider_init(&info, "");
  const void* table = registry_calls().added_table;
  const int before = registry_calls().removed;
  ::dat_provider_fini(&info);
  EXPECT_EQ(registry_calls().removed, before + 1);
  EXPECT_EQ(registry_calls().removed_table, table);
}

TEST(Provider, ComingAgainItIsTheSameTable) {
  const ProviderInfo info = info_of("again");
  ::dat_provider_init(&info, "data");
  const void* table = registry_calls().added_table;
  ::dat_provider_fini(&info);
  ::dat_provider_init(&info, "data");
  EXPECT_EQ(registry_calls().added_table, table);
}

TEST(Provider, ThreadSafeAndNotAreTwoProviders) {
  const DAT_PROVIDER* safe = provider_of("both", true);
  const DAT_PROVIDER* unsafe = provider_of("both", false);
  ASSERT_NE(safe, nullptr);
  ASSERT_NE(unsafe, nullptr);
  EXPECT_NE(safe, unsafe);
  EXPECT_NE(safe->ia_open_func, unsafe->ia_open_func);
}

TEST(Provider, OtherVersionsAndUnterminatedNamesAreNotAdded) {
  const int before = registry_calls().added;
  ProviderInfo info = info_of("future");
  info.major = 3;
  ::dat_provider_init(&info, "");
  std::memset(info.ia_name, 'x', sizeof(info.ia_name));
  info.major = kAbiMajor;
  ::dat_provider_init(&info, "");
  ::dat_provider_init(nullptr, nullptr);
  EXPECT_EQ(registry_calls().added, before);
}

TEST(Provider, OwnsNothingThatIsNoHandle) {
  int local = 0;
  const base::HandleRange& range = *::softdat_handle_range();
  EXPECT_FALSE(range.holds(nullptr));
  EXPECT_FALSE(range.holds(&local));
  EXPECT_FALSE(range.holds(reinterpret_cast<void*>(~std::uintptr_t{0})));
}

class OpenIa : public testing::Test {
 protected:
  void SetUp() override { open(false); }
  void TearDown() override { close(); }

  void open(bool is_thread_safe) {
    table_ = provider_of("sim0", is_thread_safe);
    ASSERT_NE(table_, nullptr);
    char name[] = "sim0";
    async_evd_ = nullptr;
    ASSERT_EQ(table_->ia_open_func(name, 8, &async_evd_, &ia_), kSuccess);
  }

  void close() {
    if (ia_ != nullptr) {
      EXPECT_EQ(table_->ia_close_func(ia_, DAT_CLOSE_GRACEFUL_FLAG), kSuccess);
    }
    ia_ = nullptr;
  }

  const DAT_PROVIDER* table_ = nullptr;
  DAT_IA_HANDLE ia_ = nullptr;
  DAT_EVD_HANDLE async_evd_ = nullptr;
};

TEST_F(OpenIa, ItsHandlesStartWithTheTable) {
  EXPECT_EQ(*static_cast<const void* const*>(ia_), table_);
  EXPECT_EQ(*static_cast<const void* const*>(async_evd_), table_);
  EXPECT_TRUE(::softdat_handle_range()->holds(ia_));
  EXPECT_FALSE(::softdat_handle_range()->holds(static_cast<char*>(ia_) + sizeof(void*)));
}

TEST_F(OpenIa, LimitsSufficeForStockPrograms) {
  DAT_IA_ATTR a{};
  ASSERT_EQ(table_->ia_query_func(ia_, nullptr, DAT_IA_FIELD_ALL, &a, 0, nullptr), kSuccess);
  EXPECT_STREQ(a.adapter_name, "sim0");
  EXPECT_STRNE(a.vendor_name, "");
  EXPECT_GE(a.max_eps, 1000);
  EXPECT_GE(a.max_dto_per_ep, 50000);
  EXPECT_GE(a.max_evd_qlen, 51200);
  EXPECT_GE(a.max_iov_segments_per_dto, 4);
  EXPECT_GE(a.max_rdma_read_per_ep_in, 4);
  EXPECT_GE(a.max_rdma_read_per_ep_out, 4);
  EXPECT_GE(a.max_message_size, 100u << 20);
  EXPECT_GE(a.max_rdma_size, 100u << 20);
  EXPECT_GE(a.max_lmr_block_size, 1u << 30);
  EXPECT_GE(a.max_srqs, 1000);
}

TEST_F(OpenIa, ItsAddressIsOfThisMachineAndStays) {
  DAT_IA_ATTR first{};
  DAT_IA_ATTR second{};
  ASSERT_EQ(table_->ia_query_func(ia_, nullptr, DAT_IA_FIELD_ALL, &first, 0, nullptr), kSuccess);
  ASSERT_EQ(table_->ia_query_func(ia_, nullptr, DAT_IA_FIELD_ALL, &second, 0, nullptr), kSuccess);
  ASSERT_NE(first.ia_address_ptr, nullptr);
  EXPECT_EQ(first.ia_address_ptr, second.ia_address_ptr);
  EXPECT_EQ(first.ia_address_ptr->sa_family, AF_INET);
  EXPECT_NE(reinterpret_cast<const sockaddr_in*>(first.ia_address_ptr)->sin_addr.s_addr, 0u);
}

// OFED's dat_ia_close rebuilds the registry's key from these.
TEST_F(OpenIa, ProviderAttributesGiveTheKeyBack) {
  for (const bool is_thread_safe : {false, true}) {
    close();
    open(is_thread_safe);
    DAT_PROVIDER_ATTR a{};
    ASSERT_EQ(table_->ia_query_func(ia_, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &a), kSuccess);
    EXPECT_EQ(a.dapl_version_major, kAbiMajor);
    EXPECT_EQ(a.dapl_version_minor, kAbiMinor);
    EXPECT_EQ(a.is_thread_safe, is_thread_safe ? DAT_TRUE : DAT_FALSE);
    EXPECT_GE(a.max_private_data_size, 64);
  }
}

// dtest asks for the attributes' mask alone and reads their number too.
TEST_F(OpenIa, NamedAttributesAreTerminatedTexts) {
  DAT_PROVIDER_ATTR a{};
  ASSERT_EQ(table_->ia_query_func(ia_, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR, &a), kSuccess);
  std::string all;
  for (DAT_COUNT i = 0; i < a.num_provider_specific_attr; ++i)
    all += std::string(a.provider_specific_attr[i].name) + "=" + a.provider_specific_attr[i].value + ";";
  EXPECT_NE(all.find("DAT_IB_RDMA_READ=TRUE;"), std::string::npos) << all;
  EXPECT_NE(all.find("DAT_IB_TRANSPORT_MTU="), std::string::npos) << all;
}

TEST_F(OpenIa, MayBeAskedForNothing) {
  EXPECT_EQ(table_->ia_query_func(ia_, nullptr, 0, nullptr, 0, nullptr), kSuccess);
  DAT_EVD_HANDLE evd = nullptr;
  EXPECT_EQ(table_->ia_query_func(ia_, &evd, 0, nullptr, 0, nullptr), kSuccess);
  EXPECT_EQ(evd, async_evd_);
}

TEST_F(OpenIa, QueriesNameItAsTheRegistryDoes) {
  DAT_EVD_PARAM evd{};
  ASSERT_EQ(table_->evd_query_func(async_evd_, DAT_EVD_FIELD_ALL, &evd), kSuccess);
  EXPECT_EQ(evd.ia_handle, ia_);
  const auto integer = reinterpret_cast<void*>(3);
  api::set_integer_of(ia_, integer);
  ASSERT_EQ(table_->evd_query_func(async_evd_, DAT_EVD_FIELD_ALL, &evd), kSuccess);
  api::set_integer_of(nullptr, nullptr);
  EXPECT_EQ(evd.ia_handle, kAbi == 20 ? integer : ia_);
}

TEST_F(OpenIa, ASecondOneMaySayThatTheAsynchronousEvdIsElsewhere) {
  char name[] = "sim0";
  DAT_EVD_HANDLE evd = DAT_EVD_ASYNC_EXISTS;
  DAT_IA_HANDLE second = nullptr;
  ASSERT_EQ(table_->ia_open_func(name, 8, &evd, &second), kSuccess);
  EXPECT_EQ(evd, DAT_EVD_OUT_OF_SCOPE);
  EXPECT_EQ(table_->ia_close_func(second, DAT_CLOSE_GRACEFUL_FLAG), kSuccess);
}

TEST_F(OpenIa, ContextsAreKeptForEveryKind) {
  LiveObjects live;
  create_live_objects(live);
  for (std::size_t kind = 0; kind < object::kKindCount; ++kind) {
    const DAT_HANDLE handle = live.of(static_cast<object::Kind>(kind));
    if (handle == nullptr) continue;
    DAT_CONTEXT context{};
    context.as_64 = 0x1122334455667788 + kind;
    EXPECT_EQ(table_->set_consumer_context_func(handle, context), kSuccess);
    DAT_CONTEXT back{};
    EXPECT_EQ(table_->get_consumer_context_func(handle, &back), kSuccess);
    EXPECT_EQ(back.as_64, context.as_64);
  }
  close_live_objects(live);
}

}  // namespace
}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
