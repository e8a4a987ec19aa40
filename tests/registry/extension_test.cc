// SPDX-License-Identifier: BSD-2-Clause
// dat_extension_op and dat_registry_providers_related (DAT 2.0).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/registry/scratch_world.h"

namespace softdat::registry {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

const DAT_RETURN kBadHandle = error_of(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);

class ExtensionTest : public ::testing::Test {
 protected:
  void SetUp() override { take_notes(); }
};

TEST_F(ExtensionTest, TakesEitherHandleOnceAnIaHasExtensions) {
  EXPECT_EQ(dat_extension_op(nullptr, 3, 1), kBadHandle);
  const ScratchIa ia("extend");
  take_notes();
  EXPECT_EQ(dat_extension_op(ia.handle, 3, 41), kOk);
  EXPECT_EQ(dat_extension_op(ia.evd, 4, 42), kOk);
  EXPECT_THAT(take_notes(), ElementsAre("foreign extend 3 41 extend", "foreign extend 4 42 extend"));
  EXPECT_EQ(dat_extension_op(nullptr, 3, 1), kBadHandle);
  EXPECT_EQ(dat_extension_op(reinterpret_cast<DAT_HANDLE>(0x5000), 3, 1), kBadHandle);
  EXPECT_EQ(dat_extension_op(reinterpret_cast<DAT_HANDLE>(0x77), 3, 1), kBadHandle);
}

// In a process of its own, as ctest runs it: no other IA has extensions there.
TEST_F(ExtensionTest, IsCalledWhereOnlyANamedAttributeTellsOfThem) {
  const ScratchIa ia("named");
  take_notes();
  EXPECT_EQ(dat_extension_op(ia.handle, 3, 41), kOk);
  EXPECT_THAT(take_notes(), ElementsAre("foreign extend 3 41 named"));
}

TEST_F(ExtensionTest, AnswersForAProviderWithoutExtensions) {
  const ScratchIa extended("extend");
  const ScratchIa hollow("hollow");
  EXPECT_EQ(dat_extension_op(hollow.handle, 3, 1), error_of(DAT_NOT_IMPLEMENTED));
}

TEST_F(ExtensionTest, OpensAProviderJustToQueryIt) {
  DAT_HANDLE query = nullptr;
  ASSERT_EQ(dat_extension_op(nullptr, DAT_OPEN_EXTENSION_BASE, "foreign", &query, 77), kOk);
  EXPECT_NE(query, nullptr);
  EXPECT_THAT(take_notes(), Contains("foreign open query foreign"));
  EXPECT_EQ(dat_extension_op(query, DAT_CLOSE_EXTENSION_BASE), kOk);
  EXPECT_THAT(take_notes(), ElementsAre("foreign close query", "foreign fini foreign", "foreign unload"));
  EXPECT_EQ(dat_extension_op(query, DAT_CLOSE_EXTENSION_BASE), kBadHandle);
}

TEST_F(ExtensionTest, UnloadsAProviderThatRefusesAQuery) {
  DAT_HANDLE query = nullptr;
  EXPECT_EQ(dat_extension_op(nullptr, DAT_OPEN_EXTENSION_BASE, "foreign", &query, 78), error_of(DAT_INVALID_PARAMETER));
  EXPECT_EQ(take_notes().back(), "foreign unload");
}

TEST_F(ExtensionTest, ChecksTheArgumentsOfAQuery) {
  DAT_HANDLE query = nullptr;
  const auto open = [](const char* name, DAT_HANDLE* out) {
    return dat_extension_op(nullptr, DAT_OPEN_EXTENSION_BASE, name, out, 77);
  };
  EXPECT_EQ(open(nullptr, &query), error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_EQ(open("foreign", nullptr), error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
  EXPECT_EQ(open("nowhere", &query), kNotFound);
  EXPECT_EQ(open("hollow", &query), error_of(DAT_NOT_IMPLEMENTED));
  EXPECT_EQ(dat_extension_op(nullptr, DAT_CLOSE_EXTENSION_BASE), kBadHandle);
}

class RelatedTest : public ::testing::Test {
 protected:
  static DAT_RETURN relate(const char* first, const char* second, DAT_HA_RELATIONSHIP* answer) {
    return dat_registry_providers_related(const_cast<char*>(first), const_cast<char*>(second), answer);
  }
  DAT_HA_RELATIONSHIP answer_ = DAT_HA_CONFLICTING;
};

TEST_F(RelatedTest, ChecksArguments) {
  EXPECT_EQ(relate(nullptr, "a", &answer_), error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
  EXPECT_EQ(relate("a", nullptr, &answer_), error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  EXPECT_EQ(relate("a", "b", nullptr), error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_EQ(relate("foreign", "nowhere", &answer_), kNotFound);
  EXPECT_EQ(relate("nowhere", "foreign", &answer_), kNotFound);
  EXPECT_EQ(answer_, DAT_HA_CONFLICTING);
}

TEST_F(RelatedTest, KnowsThatANameIsRelatedToItself) {
  EXPECT_EQ(relate("foreign", "foreign", &answer_), kOk);
  EXPECT_EQ(answer_, DAT_HA_TRUE);
}

TEST_F(RelatedTest, DoesNotKnowWithoutAnOpenIaToAsk) {
  EXPECT_EQ(relate("foreign", "owner", &answer_), kOk);
  EXPECT_EQ(answer_, DAT_HA_UNKNOWN);
}

}  // namespace
}  // namespace softdat::registry
