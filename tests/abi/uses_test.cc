// SPDX-License-Identifier: BSD-2-Clause
// What a C++ program may do with the headers beyond what the tables say.
#define DAT_THREADSAFE DAT_TRUE
#define DAT_HANDLE_TO_PROVIDER(handle) (abi_hidden_table(handle))
struct dat_provider;
static dat_provider* abi_hidden_table(void* handle);

#include <gtest/gtest.h>

#include <type_traits>

#include "tests/abi/checks.h"
//
#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_registry.h>

static void* hidden_for;
static DAT_PROVIDER hidden_table;

static dat_provider* abi_hidden_table(void* handle) {
  hidden_for = handle;
  return &hidden_table;
}

namespace {

TEST(HeadersInCxx, OpenAnIaByALiteralNameWithTheThreadSafetyTheProgramAsksFor) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  EXPECT_EQ(dat_ia_open("sim0", 8, &evd, &ia), ABI_ANSWER);
  EXPECT_STREQ(abi_opened.name, "sim0");
  EXPECT_EQ(abi_opened.thread_safety, DAT_TRUE);
}

TEST(HeadersInCxx, LetAProgramSayWhereTablesAre) {
  hidden_table.pz_free_func = [](DAT_PZ_HANDLE) -> DAT_RETURN { return ABI_ANSWER; };
  int object = 0;
  EXPECT_EQ(DAT_PZ_FREE(&object), ABI_ANSWER);
  EXPECT_EQ(hidden_for, &object);
}

TEST(HeadersInCxx, LetAttributesBeMadeAndAssigned) {
  static_assert(std::is_default_constructible_v<DAT_PROVIDER_ATTR>);
  static_assert(std::is_copy_assignable_v<DAT_PROVIDER_ATTR>);
}

TEST(HeadersInCxx, NameExtendedReturnValues) {
  const char* text = nullptr;
  EXPECT_EQ(dat_strerror_extension(DAT_IB_ERR, &text), DAT_SUCCESS);
  EXPECT_STREQ(text, "DAT_IB_ERR");
  EXPECT_EQ(dat_strerror_extension(DAT_IB_COLLECTIVE_ERR, &text), DAT_SUCCESS);
  EXPECT_STREQ(text, "DAT_IB_COLLECTIVE_ERR");
  EXPECT_EQ(dat_strerror_extension(static_cast<DAT_IB_RETURN>(DAT_SUCCESS), &text), DAT_SUCCESS);
  EXPECT_STREQ(text, "DAT_SUCCESS");
}

TEST(HeadersInCxx, NameTheStatusOfExtendedEvents) {
  const char* text = nullptr;
  EXPECT_EQ(dat_strerror_ext_status(DAT_OP_SUCCESS, &text), DAT_SUCCESS);
  EXPECT_STREQ(text, "DAT_OP_SUCCESS");
  EXPECT_EQ(dat_strerror_ext_status(DAT_IB_OP_ERR, &text), DAT_SUCCESS);
  EXPECT_STREQ(text, "DAT_IB_OP_ERR");
  EXPECT_EQ(dat_strerror_ext_status(DAT_IB_COLL_COMP_ERR, &text), DAT_SUCCESS);
  EXPECT_STREQ(text, "DAT_IB_COLL_COMP_ERR");
  EXPECT_EQ(DAT_GET_TYPE(dat_strerror_ext_status(static_cast<DAT_IB_STATUS>(3), &text)), DAT_INVALID_PARAMETER);
}

TEST(HeadersInCxx, KeepTheOlderNamesOfTheCounterCalls) {
  abi_extension_hook = [](void*, int op, va_list) -> int { return op == DAT_IB_PRINT_COUNTERS_OP; };
  EXPECT_EQ(dat_print_counters(DAT_HANDLE_NULL, DCNT_IA_ALL_COUNTERS, 0), ABI_ANSWER);
}

}  // namespace
