// SPDX-License-Identifier: BSD-2-Clause
// Two direct contexts in one process: ours is used by theirs, through a door that we have opened.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "simnic/direct/direct_context.h"
#include "tests/memory/pages.h"

namespace softdat::simnic::direct::testing {

inline constexpr std::uint32_t kKey = 0x100;
inline constexpr std::uint32_t kRight = 4;
inline constexpr std::uint32_t kDomain = 3;

class TwoContexts : public ::testing::Test {
 protected:
  // Skips the test where there is no direct access.
  void SetUp() override {
    ours_ = DirectContext::create();
    if (ours_ == nullptr) GTEST_SKIP() << "no direct access here";
    theirs_ = DirectContext::create();
    them_ = attach(*theirs_, *ours_);
    ASSERT_NE(them_, nullptr);
    us_ = attach(*ours_, *theirs_);
    ASSERT_NE(us_, nullptr);
    door_ = *us_->find_door(*ours_->key_directory().take_qp_entry(kDomain), ours_->next_connection());
    ours_->key_directory().open_qp_entry(door_.index, door_.connection);
  }

  std::shared_ptr<DirectContext> ours_;
  std::shared_ptr<DirectContext> theirs_;
  std::shared_ptr<Peer> us_;
  std::shared_ptr<Peer> them_;
  Door door_;

 private:
  // What `user` knows of `shown`.
  static std::shared_ptr<Peer> attach(const DirectContext& shown, DirectContext& user) {
    using memory::testing::duplicate;
    return user.peers().attach(duplicate(shown.key_directory_file()), duplicate(shown.arena_file()), {});
  }
};

}  // namespace softdat::simnic::direct::testing
