// SPDX-License-Identifier: BSD-2-Clause
// What the registry promises consumers and providers, with a scratch provider on the other side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "tests/registry/scratch_world.h"

namespace softdat::registry {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

const DAT_RETURN kBadIa = error_of(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);

std::string init_note(const std::string& library, const std::string& name, const std::string& data) {
  return library + " init " + name + " " + kVersion + " 0 " + data;
}

class RegistryTest : public ::testing::Test {
 protected:
  void SetUp() override { take_notes(); }
};

TEST_F(RegistryTest, LoadsAtTheFirstOpenAndUnloadsAtTheLastClose) {
  const Opened first = open_ia("foreign");
  ASSERT_EQ(first.status, kOk);
  std::vector<std::string> expected{"foreign load", init_note("foreign", "foreign", "data one"),
                                    "foreign open foreign"};
  if (kMajor == 2) expected.push_back("foreign query");
  EXPECT_EQ(take_notes(), expected);

  const Opened second = open_ia("foreign");
  ASSERT_EQ(second.status, kOk);
  EXPECT_EQ(take_notes()[0], "foreign open foreign");

  EXPECT_EQ(dat_ia_close(first.ia, DAT_CLOSE_DEFAULT), kOk);
  EXPECT_THAT(take_notes(), ElementsAre("foreign close foreign"));
  EXPECT_EQ(dat_ia_close(second.ia, DAT_CLOSE_DEFAULT), kOk);
  EXPECT_THAT(take_notes(), ElementsAre("foreign close foreign", "foreign fini foreign", "foreign unload"));
}

TEST_F(RegistryTest, KeepsALibraryThatCanBeAskedAboutHandles) {
  { const ScratchIa ia("owner"); }
  const auto notes = take_notes();
  EXPECT_THAT(notes, Contains("owner fini owner"));
  EXPECT_THAT(notes, Not(Contains("owner unload")));
}

TEST_F(RegistryTest, CountsEachNameOfALibraryByItself) {
  const ScratchIa outer("owner");
  take_notes();
  { const ScratchIa inner("owner2"); }
  EXPECT_THAT(take_notes(), Contains("owner fini owner2"));
  DAT_HANDLE_TYPE type;
  EXPECT_EQ(dat_get_handle_type(outer.evd, &type), DAT_RETURN{7});
}

TEST_F(RegistryTest, TriesEachLibraryOfANameUntilOneRegisters) {
  const ScratchIa ia("chain");
  const auto notes = take_notes();
  EXPECT_THAT(notes, Contains(init_note("foreign", "chain", "silent")));
  EXPECT_THAT(notes, Contains(init_note("foreign", "chain", "fourth")));
}

TEST_F(RegistryTest, FailsToOpenWhatCannotBeLoaded) {
  EXPECT_EQ(open_ia("broken").status, kNotFound);
  EXPECT_THAT(take_notes(), IsEmpty());
}

TEST_F(RegistryTest, UnloadsALibraryThatDoesNotRegister) {
  EXPECT_EQ(open_ia("silent").status, kNotFound);
  EXPECT_THAT(take_notes(), ElementsAre("foreign load", init_note("foreign", "silent", "silent"), "foreign unload"));
}

TEST_F(RegistryTest, SurvivesAProviderThatThrows) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(open_ia("throw").status, kNotFound);
    EXPECT_EQ(take_notes().back(), "foreign unload");
    { const ScratchIa ia("late"); }
    EXPECT_EQ(take_notes().back(), "foreign unload");
  }
}

TEST_F(RegistryTest, UnloadsWhenTheProviderRefusesToOpen) {
  const Opened opened = open_ia("refuse");
  EXPECT_EQ(opened.status, error_of(DAT_LENGTH_ERROR));
  EXPECT_EQ(opened.ia, nullptr);
  EXPECT_EQ(opened.evd, nullptr);
  EXPECT_EQ(take_notes().back(), "foreign unload");
}

TEST_F(RegistryTest, ForgetsWhatAForgetfulProviderLeavesBehind) {
  for (int round = 0; round < 2; ++round) {
    { const ScratchIa ia("forgetful"); }
    EXPECT_EQ(take_notes().back(), "foreign unload");
  }
}

TEST_F(RegistryTest, AnswersAProviderThatOpensItsOwnNameWhileLoading) {
  const ScratchIa ia("reenter");
  EXPECT_THAT(take_notes(), Contains("foreign not reentered"));
}

TEST_F(RegistryTest, FindsNamesOnlyInTheVersionTheyAreRegisteredFor) {
  EXPECT_EQ(open_ia("foreign", kMajor, kMinor + 1).status, kNotFound);
  EXPECT_EQ(open_ia("foreign", kMajor + 1, kMinor).status, kNotFound);
  EXPECT_EQ(open_ia("foreign", kMajor, kMinor, DAT_TRUE).status, kNotFound);
  EXPECT_EQ(open_ia("nowhere").status, kNotFound);
  EXPECT_EQ(open_ia("").status, kNotFound);
  EXPECT_THAT(take_notes(), IsEmpty());
}

TEST_F(RegistryTest, LetsANewerMinorVersionServe) {
  const ScratchIa ia("newer");
  EXPECT_NE(ia.handle, nullptr);
}

TEST_F(RegistryTest, NeverOpensAProviderOfTheOtherApi) {
  EXPECT_EQ(open_ia("other", kMajor == 2 ? 1 : 2, kMajor == 2 ? 2 : 0).status, kNotFound);
  EXPECT_THAT(take_notes(), IsEmpty());
}

TEST_F(RegistryTest, ChecksTheArgumentsOfOpenInOrder) {
  DAT_EVD_HANDLE evd = nullptr;
  DAT_IA_HANDLE ia = nullptr;
  const auto open = [&](const char* name, DAT_EVD_HANDLE* evd_out, DAT_IA_HANDLE* ia_out) {
    return dat_ia_openv(const_cast<char*>(name), 8, evd_out, ia_out, kMajor, kMinor, DAT_FALSE);
  };
  const DAT_RETURN bad_name = error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
  auto* const wild = reinterpret_cast<char*>(0x10);
  EXPECT_EQ(open(nullptr, nullptr, nullptr), bad_name);
  EXPECT_EQ(open(wild, &evd, &ia), bad_name);
  EXPECT_EQ(open(std::string(256, 'n').c_str(), &evd, &ia), bad_name);
  EXPECT_EQ(open(std::string(255, 'n').c_str(), &evd, &ia), kNotFound);
  EXPECT_EQ(open("nowhere", nullptr, nullptr), kBadIa);
  EXPECT_EQ(open("nowhere", nullptr, reinterpret_cast<DAT_IA_HANDLE*>(wild)), kBadIa);
  EXPECT_EQ(open("nowhere", nullptr, &ia), kNotFound);
  EXPECT_EQ(open("foreign", nullptr, &ia), error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
  EXPECT_EQ(ia, nullptr);
  EXPECT_EQ(evd, nullptr);
}

TEST_F(RegistryTest, ClosesOnce) {
  const Opened opened = open_ia("foreign");
  ASSERT_EQ(opened.status, kOk);
  EXPECT_EQ(dat_ia_close(opened.ia, DAT_CLOSE_ABRUPT_FLAG), kOk);
  EXPECT_EQ(dat_ia_close(opened.ia, DAT_CLOSE_ABRUPT_FLAG), kBadIa);
  EXPECT_EQ(dat_ia_close(nullptr, DAT_CLOSE_ABRUPT_FLAG), kBadIa);
}

TEST_F(RegistryTest, KeepsAnIaWhoseGracefulCloseWasRefused) {
  const Opened opened = open_ia("busy");
  ASSERT_EQ(opened.status, kOk);
  EXPECT_EQ(dat_ia_close(opened.ia, DAT_CLOSE_GRACEFUL_FLAG), error_of(DAT_INVALID_STATE));
  EXPECT_EQ(dat_ia_query(opened.ia, nullptr, 0, nullptr, 0, nullptr), kOk);
  EXPECT_EQ(dat_ia_close(opened.ia, DAT_CLOSE_ABRUPT_FLAG), kOk);
}

TEST_F(RegistryTest, AnswersForASlotTheProviderLeftEmpty) {
  const ScratchIa ia("hollow");
  DAT_PZ_HANDLE pz = nullptr;
  EXPECT_EQ(dat_pz_create(ia.handle, &pz), error_of(DAT_NOT_IMPLEMENTED));
}

DAT_RETURN refuse_to_open(const DAT_NAME_PTR, DAT_COUNT, DAT_EVD_HANDLE*, DAT_IA_HANDLE*) {
  return error_of(DAT_ABORT);
}

// A provider that the program declares by itself.
class Declared : public RegistryTest {
 protected:
  Declared() {
    provider_.device_name = "declared";
    provider_.ia_open_func = refuse_to_open;
    std::strcpy(info_.ia_name, "declared");
    info_.dapl_version_major = kMajor;
    info_.dapl_version_minor = kMinor;
    info_.is_thread_safe = DAT_FALSE;
  }

  DAT_PROVIDER provider_{};
  DAT_PROVIDER_INFO info_{};
};

TEST_F(Declared, IsFoundUntilItIsRemoved) {
  EXPECT_EQ(open_ia("declared").status, kNotFound);
  ASSERT_EQ(dat_registry_add_provider(&provider_, &info_), kOk);
  EXPECT_EQ(open_ia("declared").status, error_of(DAT_ABORT));
  EXPECT_EQ(dat_registry_add_provider(&provider_, &info_), error_of(DAT_PROVIDER_ALREADY_REGISTERED));
  EXPECT_EQ(dat_registry_remove_provider(&provider_, &info_), kOk);
  EXPECT_EQ(dat_registry_remove_provider(&provider_, &info_), kNotFound);
  EXPECT_EQ(open_ia("declared").status, kNotFound);
}

TEST_F(Declared, ComesBeforeAnUnloadedLibrary) {
  std::strcpy(info_.ia_name, "foreign");
  ASSERT_EQ(dat_registry_add_provider(&provider_, &info_), kOk);
  EXPECT_EQ(open_ia("foreign").status, error_of(DAT_ABORT));
  EXPECT_EQ(dat_registry_remove_provider(&provider_, &info_), kOk);
  EXPECT_THAT(take_notes(), IsEmpty());
}

TEST_F(Declared, CannotBeRemovedWhileAnIaIsOpen) {
  const ScratchIa ia("foreign");
  std::strcpy(info_.ia_name, "foreign");
  EXPECT_EQ(dat_registry_remove_provider(&provider_, &info_), error_of(DAT_PROVIDER_IN_USE));
}

TEST_F(Declared, ChecksArguments) {
  const DAT_RETURN bad_provider = error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
  const DAT_RETURN bad_info = error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
  const auto* wild = reinterpret_cast<DAT_PROVIDER*>(0x1000);
  const auto* wild_info = reinterpret_cast<DAT_PROVIDER_INFO*>(~std::uintptr_t{0} - 63);
  DAT_PROVIDER_INFO endless = info_;
  std::memset(endless.ia_name, 'n', sizeof endless.ia_name);
  for (const auto call : {&dat_registry_add_provider, &dat_registry_remove_provider}) {
    EXPECT_EQ(call(nullptr, nullptr), bad_provider);
    EXPECT_EQ(call(const_cast<DAT_PROVIDER*>(wild), &info_), bad_provider);
    EXPECT_EQ(call(&provider_, nullptr), bad_info);
    EXPECT_EQ(call(&provider_, wild_info), bad_info);
    EXPECT_EQ(call(&provider_, &endless), bad_info);
  }
}

class Listing : public RegistryTest {
 protected:
  static constexpr int kMost = 64;
  static constexpr DAT_COUNT kUntouched = -7;

  Listing() {
    for (int i = 0; i < kMost; ++i) pointers_[i] = &infos_[i];
  }
  DAT_RETURN list(DAT_COUNT most) { return dat_registry_list_providers(most, &count_, pointers_.data()); }

  std::array<DAT_PROVIDER_INFO, kMost> infos_{};
  std::array<DAT_PROVIDER_INFO*, kMost> pointers_;
  DAT_COUNT count_ = kUntouched;
};

TEST_F(Listing, ShowsTheFileOwnApiFirst) {
  ASSERT_EQ(list(kMost), kOk);
  ASSERT_EQ(count_, conf_entry_count());
  EXPECT_STREQ(infos_[0].ia_name, "foreign");
  EXPECT_EQ(infos_[0].dapl_version_major, kMajor);
  EXPECT_EQ(infos_[0].dapl_version_minor, kMinor);
  EXPECT_EQ(infos_[0].is_thread_safe, DAT_FALSE);
  EXPECT_STREQ(infos_[count_ - 1].ia_name, "other");
}

TEST_F(Listing, FillsAShortArray) {
  ASSERT_EQ(list(2), kOk);
  EXPECT_EQ(count_, 2);
  EXPECT_STREQ(infos_[1].ia_name, "owner");
  EXPECT_STREQ(infos_[2].ia_name, "");
}

TEST_F(Listing, TellsTheNumberWhenThereIsNoRoom) {
  const DAT_RETURN no_room = error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
  EXPECT_EQ(dat_registry_list_providers(0, &count_, nullptr), no_room);
  EXPECT_EQ(count_, conf_entry_count());
  EXPECT_EQ(list(-1), no_room);
}

TEST_F(Listing, ChecksArguments) {
  EXPECT_EQ(dat_registry_list_providers(kMost, nullptr, pointers_.data()),
            error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
  const DAT_RETURN bad_list = error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
  EXPECT_EQ(dat_registry_list_providers(kMost, &count_, nullptr), bad_list);
  pointers_[1] = nullptr;
  EXPECT_EQ(list(2), bad_list);
  EXPECT_STREQ(infos_[0].ia_name, "") << "a failed call writes no entry";
  EXPECT_EQ(list(1), kOk) << "only the elements that would be filled are looked at";
}

TEST_F(Listing, DoesNotShowDeclaredProviders) {
  DAT_PROVIDER provider{};
  DAT_PROVIDER_INFO info{};
  std::strcpy(info.ia_name, "declared");
  ASSERT_EQ(dat_registry_add_provider(&provider, &info), kOk);
  EXPECT_EQ(list(kMost), kOk);
  EXPECT_EQ(count_, conf_entry_count());
  EXPECT_EQ(dat_registry_remove_provider(&provider, &info), kOk);
}

TEST_F(RegistryTest, ServesManyThreads) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 50;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        const Opened opened = open_ia((thread + round) % 3 == 0 ? "owner" : "foreign");
        DAT_HANDLE_TYPE type;
        if (opened.status != kOk || dat_get_handle_type(opened.evd, &type) != 7) ++failures;
        if (dat_ia_close(opened.ia, DAT_CLOSE_DEFAULT) != kOk) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  const auto notes = take_notes();
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "foreign load"),
            std::count(notes.begin(), notes.end(), "foreign unload"));
  EXPECT_EQ(std::count(notes.begin(), notes.end(), init_note("owner", "owner", "")),
            std::count(notes.begin(), notes.end(), "owner fini owner"));
  EXPECT_THAT(notes, Not(Contains("foreign was kept")));
}

TEST_F(RegistryTest, OfTwoConcurrentClosesOneSucceeds) {
  const ScratchIa keeps_the_library("foreign");
  for (int round = 0; round < 200; ++round) {
    const Opened opened = open_ia("foreign");
    ASSERT_EQ(opened.status, kOk);
    std::atomic<int> closed{0};
    const auto close = [&] { closed += dat_ia_close(opened.ia, DAT_CLOSE_DEFAULT) == kOk ? 1 : 0; };
    std::thread other(close);
    close();
    other.join();
    ASSERT_EQ(closed, 1);
  }
}

}  // namespace
}  // namespace softdat::registry
