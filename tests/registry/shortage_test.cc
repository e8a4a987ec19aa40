// SPDX-License-Identifier: BSD-2-Clause
// What an open comes to when memory runs out at any moment: nothing stays open or in use that the program does not know
// of. The program is its own provider, which takes no memory.
#include <gtest/gtest.h>

#include <cstdarg>
#include <cstring>

#include "tests/registry/scratch_world.h"
#include "tests/scarce_memory.h"

namespace softdat::registry {
namespace {

using scarce_memory::allocations_left;

constexpr int kMostAllocations = 100;
// So long that each copy takes memory.
constexpr const char* kLongName = "a name that no string has room for within itself";

int opens = 0;  // that have not been closed
[[maybe_unused]] bool is_close_refused = false;
const void* only_object[1];  // its first word is its table

DAT_RETURN open_only(const DAT_NAME_PTR, DAT_COUNT, DAT_EVD_HANDLE* evd, DAT_IA_HANDLE* ia) {
  ++opens;
  *evd = only_object;
  *ia = only_object;
  return DAT_SUCCESS;
}

DAT_RETURN close_only(DAT_IA_HANDLE, DAT_CLOSE_FLAGS) {
  --opens;
  return DAT_SUCCESS;
}

#if SOFTDAT_ABI == 20
DAT_RETURN extend_only(DAT_HANDLE, DAT_EXTENDED_OP operation, va_list arguments) {
  if (operation == DAT_OPEN_EXTENSION_BASE) {
    ++opens;
    *va_arg(arguments, DAT_HANDLE*) = only_object;
    return DAT_SUCCESS;
  }
  if (is_close_refused) return error_of(DAT_INVALID_STATE);
  --opens;
  return DAT_SUCCESS;
}
#endif

class RegistryShortage : public ::testing::Test {
 protected:
  RegistryShortage() {
    provider_.ia_open_func = open_only;
    provider_.ia_close_func = close_only;
    std::strcpy(info_.ia_name, kLongName);
    info_.dapl_version_major = kMajor;
    info_.dapl_version_minor = kMinor;
    only_object[0] = &provider_;
    opens = 0;
  }
  void SetUp() override {
    // The first open reads dat.conf, which takes more memory than all the rest.
    ASSERT_EQ(open_ia(kLongName).status, kNotFound);
    ASSERT_EQ(dat_registry_add_provider(&provider_, &info_), kOk);
  }
  // Refused while an IA or a query of it is in use.
  void TearDown() override { EXPECT_EQ(dat_registry_remove_provider(&provider_, &info_), kOk); }

  // With memory for none, one, two ... allocations, until `open` succeeds.
  template <typename Open>
  void open_with_ever_more_memory(const Open& open) {
    const DAT_RETURN no_memory = error_of(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    DAT_RETURN status = no_memory;
    for (int count = 0; status != DAT_SUCCESS; ++count) {
      ASSERT_LT(count, kMostAllocations);
      allocations_left = count;
      status = open();
      allocations_left = -1;
      EXPECT_EQ(opens, status == DAT_SUCCESS ? 1 : 0) << count;
      EXPECT_TRUE(status == DAT_SUCCESS || status == no_memory) << count;
    }
  }

  DAT_PROVIDER provider_{};
  DAT_PROVIDER_INFO info_{};
};

TEST_F(RegistryShortage, RefusedOpenLeavesNothingOpenOrInUse) {
  char name[] = "a name that no string has room for within itself";
  DAT_EVD_HANDLE evd = nullptr;
  DAT_IA_HANDLE ia = nullptr;
  open_with_ever_more_memory([&] { return dat_ia_openv(name, 8, &evd, &ia, kMajor, kMinor, DAT_FALSE); });
  EXPECT_EQ(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), kOk);
  EXPECT_EQ(opens, 0);
}

#if SOFTDAT_ABI == 20
// A close takes no memory, whether or not the provider lets it be.
TEST_F(RegistryShortage, EveryQueryThatIsOpenCanBeClosed) {
  provider_.handle_extendedop_func = extend_only;
  DAT_HANDLE query = nullptr;
  open_with_ever_more_memory([&] { return dat_extension_op(nullptr, DAT_OPEN_EXTENSION_BASE, kLongName, &query); });
  for (const bool is_refused : {true, false}) {
    is_close_refused = is_refused;
    allocations_left = 0;
    const DAT_RETURN closed = dat_extension_op(query, DAT_CLOSE_EXTENSION_BASE);
    allocations_left = -1;
    EXPECT_EQ(closed, is_refused ? error_of(DAT_INVALID_STATE) : kOk);
  }
  EXPECT_EQ(opens, 0);
}
#endif

}  // namespace
}  // namespace softdat::registry
