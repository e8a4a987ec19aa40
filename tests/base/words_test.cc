// SPDX-License-Identifier: BSD-2-Clause
#include "base/words.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/call.h"
#include "base/log.h"
#include "base/place.h"

namespace softdat::base {
namespace {

// How much is said is read once in a process, so each of these has one of its own.
template <typename Saying>
[[noreturn]] void say_at(const char* level, Saying saying) {
  ::setenv("SOFTDAT_LOG", level, 1);
  saying();
  ::_exit(0);
}

class Words : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(Words, ALineBeginsWithTheProcess) {
  EXPECT_EXIT(say_at("notice", [] { say("the key is wrong"); }), ::testing::ExitedWithCode(0),
              "^softdat\\[[0-9]+\\]: the key is wrong\n$");
}

TEST_F(Words, RepeatedOnesAreCounted) {
  const auto twelve = [] {
    for (int i = 0; i < 12; ++i) say("again");
  };
  EXPECT_EXIT(say_at("notice", twelve), ::testing::ExitedWithCode(0),
              "^softdat\\[[0-9]+\\]: again\nsoftdat\\[[0-9]+\\]: again \\(2 times so far\\)\n"
              "softdat\\[[0-9]+\\]: again \\(10 times so far\\)\n$");
}

// What a child of fork() says is its own.
TEST_F(Words, TheEndOfAProcessTellsHowOftenInAll) {
  const auto twelve_and_a_child = [] {
    for (int i = 0; i < 12; ++i) say("again");
    if (const pid_t child = ::fork(); child == 0) {
      for (int i = 0; i < 3; ++i) say("again");
      std::exit(0);
    } else {
      ::waitpid(child, nullptr, 0);
    }
    std::exit(0);
  };
  const std::string first = "softdat\\[[0-9]+\\]: again\n",
                    second = "softdat\\[[0-9]+\\]: again \\(2 times so far\\)\n";
  EXPECT_EXIT(say_at("notice", twelve_and_a_child), ::testing::ExitedWithCode(0),
              "^" + first + second + "softdat\\[[0-9]+\\]: again \\(10 times so far\\)\n" + first + second +
                  "softdat\\[[0-9]+\\]: again \\(3 times in all\\)\n" +
                  "softdat\\[[0-9]+\\]: again \\(12 times in all\\)\n$");
}

TEST_F(Words, NothingIsSaidUnlessItIsWanted) {
  EXPECT_EXIT(say_at("warning", [] { say("the key is wrong"); }), ::testing::ExitedWithCode(0), "^$");
}

TEST_F(Words, AWarningHasTheProcessAndIsCountedAndAnErrorIsPrintedEachTime) {
  const auto thrice = [] {
    for (int i = 0; i < 3; ++i) log(LogLevel::kWarning, "the %s\nis lost", "peer");
    for (int i = 0; i < 3; ++i) log(LogLevel::kError, "no adapter");
    std::exit(0);
  };
  const std::string head = "softdat\\[[0-9]+\\]: ", lost = head + "the peer is lost";
  EXPECT_EXIT(say_at("warning", thrice), ::testing::ExitedWithCode(0),
              "^" + lost + "\n" + lost + " \\(2 times so far\\)\n(" + head + "no adapter\n){3}" + lost +
                  " \\(3 times in all\\)\n$");
}

// The remedy follows a value, so a long text is cut at its end alone, and stays one line.
TEST_F(Words, ALongTextOfTheLogIsCut) {
  const auto endless = [] { log(LogLevel::kWarning, "%s", std::string(5000, 'x').c_str()); };
  EXPECT_EXIT(say_at("warning", endless), ::testing::ExitedWithCode(0), "^softdat\\[[0-9]+\\]: x{450}\n$");
}

TEST(Call, TheInnermostCountsWhileItLasts) {
  EXPECT_EQ(current_call(), nullptr);
  const int outer_place = 0, inner_place = 0;
  Call outer("dat_cno_wait", &outer_place);
  {
    Call inner("dat_ep_post_send", &inner_place);
    EXPECT_EQ(calling_place(), &inner_place);
    current_call()->refuse("first");
    current_call()->refuse("second");
    EXPECT_EQ(inner.reason(), "first");
  }
  EXPECT_EQ(current_call(), &outer);
  EXPECT_EQ(outer.reason(), "");
}

[[gnu::noinline]] const void* where_it_was_called() {
  return __builtin_return_address(0);
}

TEST(Place, HasAFunctionOrAFile) {
  const void* const place = where_it_was_called();
  // "TestBody at words_test.cc:65", or without debugging information "TestBody+0x1c (base_tests)".
  EXPECT_NE(place_text(place).find_first_of(":+"), std::string::npos) << place_text(place);
  EXPECT_EQ(place_text(nullptr), "");
}

TEST(Place, HasALineInALibraryThatIsLoadedLater) {
  const void* const here = where_it_was_called();
  if (place_text(here).find(':') == std::string::npos) GTEST_SKIP() << "no debugging information: " << place_text(here);
  void* const library = ::dlopen(LATE_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto take_place = reinterpret_cast<const void* (*)(const void* (*)())>(::dlsym(library, "take_place"));
  ASSERT_NE(take_place, nullptr);
  EXPECT_EQ(place_text(take_place(&where_it_was_called)), "take_place at late_library.cc:5");
  ::dlclose(library);
}

}  // namespace
}  // namespace softdat::base
