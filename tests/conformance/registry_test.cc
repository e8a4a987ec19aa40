// SPDX-License-Identifier: BSD-2-Clause
// dat_registry_list_providers and dat_strerror as a program without any configuration sees them.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/answers.h"

namespace softdat::conformance {
namespace {

class RegistryList : public testing::Test {
 protected:
  RegistryList() : infos_(64) {
    for (DAT_PROVIDER_INFO& info : infos_) pointers_.push_back(&info);
  }

  std::vector<DAT_PROVIDER_INFO> infos_;
  std::vector<DAT_PROVIDER_INFO*> pointers_;
  DAT_COUNT count_ = -1;
};

TEST_F(RegistryList, NamesTheSimulatorForThisVersion) {
  ASSERT_THAT(dat_registry_list_providers(64, &count_, pointers_.data()), succeeds());
  ASSERT_GT(count_, 0);
  ASSERT_LE(count_, 64);
  bool found = false;
  for (DAT_COUNT i = 0; i < count_; ++i) {
    const DAT_PROVIDER_INFO& info = infos_[static_cast<std::size_t>(i)];
    found = found || (std::string(info.ia_name) == "sim0" &&
                      info.dapl_version_major == static_cast<DAT_UINT32>(DAT_VERSION_MAJOR) &&
                      info.dapl_version_minor == static_cast<DAT_UINT32>(DAT_VERSION_MINOR) &&
                      info.is_thread_safe == DAT_THREADSAFE);
  }
  EXPECT_TRUE(found);
}

TEST_F(RegistryList, NoRoomTellsTheNumberNeeded) {
  ASSERT_THAT(dat_registry_list_providers(64, &count_, pointers_.data()), succeeds());
  DAT_COUNT needed = -1;
  EXPECT_THAT(dat_registry_list_providers(0, &needed, pointers_.data()),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
  EXPECT_EQ(needed, count_);
}

TEST_F(RegistryList, NullOutputsAreInvalid) {
  EXPECT_THAT(dat_registry_list_providers(64, nullptr, pointers_.data()),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_THAT(dat_registry_list_providers(64, &count_, nullptr), fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  pointers_[0] = nullptr;
  EXPECT_THAT(dat_registry_list_providers(64, &count_, pointers_.data()),
              fails_with(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_THAT(dat_registry_list_providers(-1, &count_, pointers_.data()), fails_with(DAT_INVALID_PARAMETER));
}

struct Words {
  const char* major = nullptr;
  const char* minor = nullptr;
};

Words words_of(DAT_RETURN result) {
  Words words;
  EXPECT_THAT(dat_strerror(result, &words.major, &words.minor), succeeds()) << std::hex << result;
  return words;
}

TEST(StrError, SpellsTypesAsTheirEnumerators) {
  EXPECT_STREQ(words_of(DAT_SUCCESS).major, "DAT_SUCCESS");
  EXPECT_STREQ(words_of(DAT_CLASS_ERROR | DAT_TIMEOUT_EXPIRED).major, "DAT_TIMEOUT_EXPIRED");
  EXPECT_STREQ(words_of(DAT_CLASS_ERROR | DAT_CONN_QUAL_UNAVAILABLE).major, "DAT_CONN_QUAL_UNAVAILABLE");
  EXPECT_STREQ(words_of(DAT_CLASS_ERROR | static_cast<DAT_RETURN>(DAT_NOT_IMPLEMENTED)).major, "DAT_NOT_IMPLEMENTED");
}

TEST(StrError, SpellsSubtypesAndLeavesNoneEmpty) {
  const DAT_RETURN result =
      DAT_CLASS_ERROR | static_cast<DAT_RETURN>(DAT_INVALID_HANDLE) | static_cast<DAT_RETURN>(DAT_INVALID_HANDLE_CNO);
  EXPECT_STREQ(words_of(result).minor, "DAT_INVALID_HANDLE_CNO");
  EXPECT_STREQ(words_of(DAT_CLASS_ERROR | DAT_QUEUE_FULL).minor, "");
}

TEST(StrError, ClassIsIgnored) {
  EXPECT_STREQ(words_of(DAT_QUEUE_EMPTY).major, "DAT_QUEUE_EMPTY");
  EXPECT_STREQ(words_of(DAT_CLASS_WARNING | DAT_QUEUE_EMPTY).major, "DAT_QUEUE_EMPTY");
}

TEST(StrError, EveryTypeAndSubtypeHasItsOwnName) {
  std::set<std::string> types;
  for (DAT_RETURN type = DAT_SUCCESS; type <= DAT_CONN_QUAL_UNAVAILABLE; type += 0x10000)
    types.insert(words_of(type).major);
  EXPECT_EQ(types.size(), (static_cast<std::size_t>(DAT_CONN_QUAL_UNAVAILABLE) >> 16) + 1);
  std::set<std::string> subtypes;
  for (DAT_RETURN subtype = 1; subtype <= DAT_THREAD_SAFETY_NOT_FOUND; ++subtype)
    subtypes.insert(words_of(static_cast<DAT_RETURN>(DAT_INVALID_STATE) | subtype).minor);
  EXPECT_EQ(subtypes.size(), static_cast<std::size_t>(DAT_THREAD_SAFETY_NOT_FOUND));
}

// Programs take the length of both texts unasked.
TEST(StrError, UnknownCodesAreInvalidAndStillHaveTexts) {
  for (const DAT_RETURN code : {DAT_RETURN{0x83330000u}, DAT_RETURN{0x80057fffu}}) {
    Words words;
    const DAT_RETURN result = dat_strerror(code, &words.major, &words.minor);
    EXPECT_EQ(type_of(result), DAT_INVALID_PARAMETER);
    ASSERT_NE(words.major, nullptr);
    ASSERT_NE(words.minor, nullptr);
    EXPECT_LT(std::strlen(words.major) + std::strlen(words.minor), 1000u);
  }
}

TEST(StrError, NullOutputsAreInvalid) {
  const char* text = nullptr;
  EXPECT_EQ(type_of(dat_strerror(DAT_SUCCESS, nullptr, &text)), DAT_INVALID_PARAMETER);
  EXPECT_EQ(type_of(dat_strerror(DAT_SUCCESS, &text, nullptr)), DAT_INVALID_PARAMETER);
}

}  // namespace
}  // namespace softdat::conformance
