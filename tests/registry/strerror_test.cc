// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <set>

#include "tests/registry/scratch_world.h"

namespace softdat::registry {
namespace {

struct Words {
  DAT_RETURN status;
  std::string type;
  std::string subtype;
};

Words words_of(DAT_RETURN value) {
  const char* type = nullptr;
  const char* subtype = nullptr;
  const DAT_RETURN status = dat_strerror(value, &type, &subtype);
  EXPECT_NE(type, nullptr);
  EXPECT_NE(subtype, nullptr);
  return {status, type == nullptr ? "" : type, subtype == nullptr ? "" : subtype};
}

TEST(Strerror, SaysTheNamesOfTypeAndSubtype) {
  const Words words = words_of(error_of(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  EXPECT_EQ(words.status, DAT_RETURN{DAT_SUCCESS});
  EXPECT_EQ(words.type, "DAT_INVALID_HANDLE");
  EXPECT_EQ(words.subtype, "DAT_INVALID_HANDLE_IA");
}

TEST(Strerror, IgnoresTheClassAndLeavesNoSubtypeEmpty) {
  for (const DAT_RETURN value : {DAT_RETURN{DAT_QUEUE_EMPTY}, error_of(DAT_QUEUE_EMPTY)}) {
    EXPECT_EQ(words_of(value).type, "DAT_QUEUE_EMPTY");
    EXPECT_EQ(words_of(value).subtype, "");
  }
  EXPECT_EQ(words_of(DAT_SUCCESS).type, "DAT_SUCCESS");
  EXPECT_EQ(words_of(DAT_NOT_IMPLEMENTED).type, "DAT_NOT_IMPLEMENTED");
  EXPECT_EQ(words_of(error_of(DAT_NOT_IMPLEMENTED)).type, "DAT_NOT_IMPLEMENTED");
}

TEST(Strerror, KnowsWhatTheStockTableForgets) {
  EXPECT_EQ(words_of(error_of(DAT_CONN_QUAL_UNAVAILABLE)).type, "DAT_CONN_QUAL_UNAVAILABLE");
  EXPECT_EQ(words_of(error_of(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE)).subtype,
            "DAT_INVALID_STATE_SRQ_IN_USE");
}

TEST(Strerror, HasAWordForEverySubtypeAndNoWordTwice) {
#if SOFTDAT_ABI == 20
  constexpr DAT_RETURN kLast = DAT_THREAD_SAFETY_NOT_FOUND;
  constexpr DAT_RETURN kTypes = DAT_COMM_NOT_SUPPORTED >> 16;
#else
  constexpr DAT_RETURN kLast = DAT_INVALID_RO_COOKIE;
  constexpr DAT_RETURN kTypes = DAT_CONN_QUAL_UNAVAILABLE >> 16;
#endif
  std::set<std::string> seen;
  for (DAT_RETURN subtype = 0; subtype <= kLast; ++subtype) {
    EXPECT_EQ(words_of(subtype).status, DAT_RETURN{DAT_SUCCESS}) << subtype;
    EXPECT_TRUE(seen.insert(words_of(subtype).subtype).second) << subtype;
  }
  for (DAT_RETURN type = 0; type <= kTypes; ++type) {
    EXPECT_EQ(words_of(type << 16).status, DAT_RETURN{DAT_SUCCESS}) << type;
    EXPECT_TRUE(seen.insert(words_of(type << 16).type).second) << type;
  }
  EXPECT_NE(words_of(kLast + 1).status, DAT_RETURN{DAT_SUCCESS});
  EXPECT_NE(words_of((kTypes + 1) << 16).status, DAT_RETURN{DAT_SUCCESS});
}

TEST(Strerror, RefusesAnUnknownValueYetSetsBothStrings) {
  const Words unknown_type = words_of(0x25550000);
  EXPECT_EQ(unknown_type.status, error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
  EXPECT_FALSE(unknown_type.type.empty());
  const Words unknown_subtype = words_of(DAT_RETURN{DAT_ABORT} | 0x7777);
  EXPECT_EQ(unknown_subtype.status, error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
  EXPECT_EQ(unknown_subtype.type, "DAT_ABORT");
  EXPECT_FALSE(unknown_subtype.subtype.empty());
}

TEST(Strerror, ToleratesNullPointers) {
  const char* text = nullptr;
  EXPECT_EQ(dat_strerror(DAT_SUCCESS, nullptr, &text), error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_STREQ(text, "");
  EXPECT_EQ(dat_strerror(DAT_SUCCESS, &text, nullptr), error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_STREQ(text, "DAT_SUCCESS");
}

}  // namespace
}  // namespace softdat::registry
