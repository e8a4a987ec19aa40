// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::verbs {
namespace {

using testing::HasSubstr;

TEST(LibraryTest, MissingFileIsNamed) {
  const auto loaded = Library::load({.verbs = "libno-such-verbs.so.1"});
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.reason(), HasSubstr("libno-such-verbs.so.1 cannot be loaded"));
}

TEST(LibraryTest, MissingSymbolIsNamed) {
  const auto loaded = Library::load({.verbs = HALF_LIBRARY});
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.reason(), HasSubstr("has no ibv_free_device_list"));
}

// With or without the libraries on this machine.
TEST(LibraryTest, ConnectionManagerIsNeededToo) {
  const auto loaded = Library::load({.cm = "libno-such-cm.so.1"});
  ASSERT_FALSE(loaded.ok());
  if (Library::instance().ok()) {
    EXPECT_THAT(loaded.reason(), HasSubstr("libno-such-cm.so.1"));
  }
}

TEST(LibraryTest, LoadedOnce) {
  EXPECT_EQ(&Library::instance(), &Library::instance());
}

}  // namespace
}  // namespace softdat::verbs
