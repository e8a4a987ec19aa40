// SPDX-License-Identifier: BSD-2-Clause
// Profiles: what a file may say, what is built in, and what a device is made a profile of.
#include "simnic/model/profile_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "simnic/model/capture.h"

namespace softdat::simnic::model {
namespace {

constexpr const char* kHead = "name = \"a\"\ntransport = \"iwarp\"\n";

std::string mistake(const std::string& text) {
  const auto profile = read_profile("my.toml", text);
  return profile.ok() ? "none" : profile.reason();
}

struct Wrong {
  const char* text;  // after kHead, which has two lines
  const char* said;
};

TEST(ProfileFile, AWrongOneNamesFileLineValueAndWhatIsAllowed) {
  const Wrong all[] = {
      {"[limits]\nmax_wr = 0", "my.toml:4: \"max_wr\" is 0; it takes a whole number from 1 to 2147483647"},
      {"[limits]\nmax_wr = -1", "my.toml:4: \"max_wr\" is -1; it takes a whole number from 1 to 2147483647"},
      {"[limits]\nmax_wr = 2147483648", "my.toml:4: \"max_wr\" is 2147483648; it takes"},
      {"[limits]\nmax_wr = \"many\"", "my.toml:4: \"max_wr\" is \"many\"; it takes a whole number"},
      {"[limits]\nmax_wr = \"unlimited\"", "my.toml:4: \"max_wr\" is \"unlimited\"; it takes a whole number"},
      {"[limits]\nmax_wr = 1.5", "my.toml:4: \"max_wr\" is 1.5; it takes a whole number"},
      {"[limits]\nmax_wr = nan", "my.toml:4: \"max_wr\" is nan; it takes a whole number"},
      {"[limits]\nmax_wr = [1]", "my.toml:4: \"max_wr\" is an array; it takes a whole number"},
      {"[limits]\nmax_wr = { value = {} }", "my.toml:4: \"max_wr\" is a table; it takes a whole number"},
      {"[limits]\nmax_wr = 1979-05-27", "my.toml:4: \"max_wr\" is a date or time; it takes a whole number"},
      {"[[limits]]\nmax_wr = 1", "my.toml:3: \"limits\" is a table: [limits]"},
      {"[limits]\nmax_mr_size = 0", "it takes a whole number from 1 on, or \"unlimited\""},
      {"[limits]\nmax_wrs = 1",
       "my.toml:4: \"max_wrs\" is no part of [limits], did you mean \"max_wr\"?; allowed: max_qp"},
      {"[limits]\natomics = true", "my.toml:4: \"atomics\" is no part of [limits]"},
      {"[limits]\nmax_wr = { value = 1, form = 2 }", "\"max_wr\" has no part \"form\"; allowed: { value = ..., source"},
      {"[limits]\nmax_wr = { source = \"x\" }", "my.toml:4: \"max_wr\" has no value, as in { value = 1 }"},
      {"[limits]\nmax_wr = { value = 1, source = 2 }", "the source of \"max_wr\" is a text of up to 400 letters"},
      {"[limits]\nmax_wr = { value = 1, source = \"a\\nb\" }", "letters in quotes, on one line"},
      {"[limits]\nmax_wr = { value = 1, source = \"a\\u007fb\" }", "letters in quotes, on one line"},
      {"[limits]\nmax_sge = 2\nmax_read_sge = 3", "\"max_read_sge\" is 3, more than \"max_sge\", which is 2"},
      {"[features]\natomics = 1", "my.toml:4: \"atomics\" is 1; it takes true or false"},
      {"[features]\natomics = \"yes\"", "my.toml:4: \"atomics\" is \"yes\"; it takes true or false"},
      {"[rounding]\nwork_queue = \"up\"", "it takes \"exact\" or \"power-of-two\""},
      {"[quirks]\nno_receive = \"waits\"", "\"no_receive\" is \"waits\"; it takes \"wait\" or \"terminate\""},
      {"[limit]\nmax_wr = 1", "my.toml:3: \"limit\" is no part of a profile, did you mean \"limits\"?; allowed: name"},
      {"limits = 3", "my.toml:3: \"limits\" is a table: [limits]"},
      {"title = 3", "my.toml:3: \"title\" is a text of 1 to 400 letters in quotes"},
      {"title = \"a\\u001bb\"", "my.toml:3: \"title\" has a control character"},
      {"[limits\nmax_wr = 1", "my.toml:3: "},
      {"[limits]\nmax_wr = 1\nmax_wr = 2", "my.toml:5: "},
      {"[limits]\nmax_wr = 99999999999999999999", "my.toml:4: "},
  };
  for (const Wrong& wrong : all) {
    EXPECT_NE(mistake(std::string(kHead) + wrong.text).find(wrong.said), std::string::npos)
        << wrong.text << "\nsays: " << mistake(std::string(kHead) + wrong.text);
  }
}

TEST(ProfileFile, WantsANameAndATransport) {
  EXPECT_EQ(mistake(""), "my.toml:1: there is no name, as in name = \"my-card\"");
  EXPECT_EQ(mistake("name = \"\""), "my.toml:1: \"name\" is a text of 1 to 64 letters in quotes");
  EXPECT_EQ(mistake("name = \"a\""), "my.toml:1: there is no transport, as in transport = \"infiniband\"");
  EXPECT_EQ(mistake("name = \"a\"\ntransport = \"ib\""),
            "my.toml:2: \"transport\" is \"ib\"; it takes \"infiniband\" (RoCE too) or \"iwarp\"");
  EXPECT_EQ(mistake(kHead), "none");
}

TEST(ProfileFile, WhatIsNotSaidIsNotKnown) {
  const auto profile = read_profile("a", std::string(kHead) + "[limits]\nmax_wr = 7\nmax_srq = 0");
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile.value().number(Field::kMaxWr, 1), 7u);
  EXPECT_EQ(profile.value().number(Field::kMaxSrq, 1), 0u);
  EXPECT_FALSE(profile.value().at(Field::kMaxQp).has_value());
  EXPECT_FALSE(profile.value().at(Field::kAtomics).has_value());
}

TEST(ProfileFile, AFileThatIsNoneIsRefused) {
  EXPECT_NE(find_profile("@/nonexistent/x.toml").reason().find("No such file or directory"), std::string::npos);
  EXPECT_NE(find_profile("@/").reason().find("the profile \"/\" cannot be read"), std::string::npos);
  EXPECT_NE(find_profile("@").reason().find("cannot be read"), std::string::npos);
  for (const char* const path : {"@/", "@/dev/zero", "@/dev/null", "@/dev/full"}) {
    EXPECT_NE(find_profile(path).reason().find("it is no regular file"), std::string::npos) << path;
  }
  EXPECT_NE(find_profile("connectx5").reason().find("did you mean \"connectx-5\"?; there are chelsio-t6, connectx-3"),
            std::string::npos);
}

// A directory of its own, which is removed at the end.
class ProfilePath : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(directory_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string write(const std::string& text) const {
    const std::string path = directory_ + "/file.toml";
    std::ofstream(path) << text;
    return path;
  }

  std::string directory_ = testing::TempDir() + "profile-XXXXXX";
};

TEST_F(ProfilePath, AFifoWithoutAWriterIsRefusedAtOnce) {
  const std::string path = directory_ + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(find_profile('@' + path).reason(), "the profile \"" + path + "\" cannot be read: it is no regular file");
}

TEST_F(ProfilePath, ALinkIsFollowed) {
  const std::string path = write(kHead), link = directory_ + "/link";
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  EXPECT_TRUE(find_profile('@' + link).ok());
}

TEST_F(ProfilePath, AFileThatIsTooLongIsRefused) {
  const std::string fits = kHead + std::string(kMostProfileBytes - std::string(kHead).size(), '\n');
  EXPECT_TRUE(find_profile('@' + write(fits)).ok());
  EXPECT_NE(find_profile('@' + write(fits + '\n')).reason().find("longer than 1048576 bytes"), std::string::npos);
}

TEST_F(ProfilePath, DeepNestingIsRefused) {
  const std::string deep = std::string(kHead) + "limits = " + std::string(100000, '[');
  EXPECT_EQ(find_profile('@' + write(deep)).ok(), false);
}

class BuiltInProfile : public testing::TestWithParam<BuiltIn> {};

TEST_P(BuiltInProfile, IsReadAndGivesASourceForEachValue) {
  const auto profile = find_profile(std::string(GetParam().name));
  ASSERT_TRUE(profile.ok()) << profile.reason();
  EXPECT_EQ(profile.value().name, GetParam().name);
  std::size_t known = 0;
  for (const FieldInfo& info : fields()) {
    const auto& value = profile.value().at(info.field);
    if (!value) continue;
    ++known;
    EXPECT_GE(value->source.size(), 10u) << info.name;
  }
  EXPECT_GE(known, 5u);
}

TEST_P(BuiltInProfile, IsTheSameWhenItIsWrittenAndReadAgain) {
  const auto profile = find_profile(std::string(GetParam().name));
  ASSERT_TRUE(profile.ok());
  const std::string text = write_profile(profile.value());
  const auto again = read_profile("again", text);
  ASSERT_TRUE(again.ok()) << again.reason();
  EXPECT_EQ(again.value().title, profile.value().title);
  EXPECT_EQ(again.value().family, profile.value().family);
  for (const FieldInfo& info : fields()) {
    const auto &before = profile.value().at(info.field), &after = again.value().at(info.field);
    ASSERT_EQ(before.has_value(), after.has_value()) << info.name;
    if (!before) continue;
    EXPECT_EQ(before->number, after->number) << info.name;
    EXPECT_EQ(before->source, after->source) << info.name;
  }
}

std::string test_name(const testing::TestParamInfo<BuiltIn>& info) {
  std::string name(info.param.name);
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInProfile, testing::ValuesIn(built_in_profiles().begin(), built_in_profiles().end()),
                         test_name);

TEST(Capture, SaysWhatTheDeviceSaysAndNoMore) {
  hca::DeviceAttributes device{.name = "verbs:rxe0",
                               .vendor = "a \"vendor\"",
                               .address = {},
                               .max_qp = 10,
                               .max_wr = 20,
                               .max_sge = 3,
                               .max_cq = 40,
                               .max_cqe = 50,
                               .max_mr = 60,
                               .max_pd = 70,
                               .max_mr_size = ~std::uint64_t{0},
                               .max_message_size = 80,
                               .max_ird = 4,
                               .max_ord = 5,
                               .max_private_data = 52,
                               .max_read_sge = 1,
                               .has_atomics = true,
                               .transport = hca::Transport::kIwarp};
  const auto profile = read_profile("captured", write_profile(capture(device, "rxe0", "a test")));
  ASSERT_TRUE(profile.ok()) << profile.reason();
  EXPECT_EQ(profile.value().name, "rxe0");
  EXPECT_EQ(profile.value().title, "a \"vendor\" (verbs:rxe0)");
  EXPECT_EQ(profile.value().family, Family::kIwarp);
  EXPECT_EQ(profile.value().number(Field::kMaxWr, 0), 20u);
  EXPECT_EQ(profile.value().number(Field::kMaxMrSize, 0), kUnlimited);
  EXPECT_EQ(profile.value().number(Field::kMaxSrq, 9), 0u);
  EXPECT_EQ(profile.value().number(Field::kAtomics, 0), 1u);
  EXPECT_EQ(profile.value().at(Field::kMaxPd)->source, "a test");
  EXPECT_FALSE(profile.value().at(Field::kMaxSrqWr).has_value());
  EXPECT_FALSE(profile.value().at(Field::kWorkQueue).has_value());
  EXPECT_FALSE(profile.value().at(Field::kNoReceive).has_value());
}

// What no file can say is left out, or is the most that one can.
TEST(Capture, MakesAFileOfAnyDevice) {
  constexpr std::uint32_t kMost = ~std::uint32_t{0};
  hca::DeviceAttributes none{};
  none.name = "none";
  const hca::DeviceAttributes devices[] = {none,
                                           {.name = "all",
                                            .vendor = "v",
                                            .address = {},
                                            .max_qp = kMost,
                                            .max_wr = kMost,
                                            .max_sge = 1,
                                            .max_cq = kMost,
                                            .max_cqe = kMost,
                                            .max_mr = kMost,
                                            .max_pd = kMost,
                                            .max_mr_size = ~std::uint64_t{0} - 4095,
                                            .max_message_size = kMost,
                                            .max_ird = kMost,
                                            .max_ord = kMost,
                                            .max_private_data = kMost,
                                            .max_srq = kMost,
                                            .max_srq_wr = kMost,
                                            .max_srq_sge = kMost,
                                            .max_mw = kMost,
                                            .max_read_sge = kMost}};
  for (const hca::DeviceAttributes& device : devices) {
    const auto profile = read_profile("captured", write_profile(capture(device, "a", "a test")));
    ASSERT_TRUE(profile.ok()) << profile.reason();
    const bool is_all = device.name == "all";
    EXPECT_EQ(profile.value().number(Field::kMaxQp, 7), is_all ? 2147483647u : 7u);
    EXPECT_EQ(profile.value().number(Field::kMaxMrSize, 7), is_all ? kUnlimited : 7u);
    EXPECT_EQ(profile.value().number(Field::kMaxReadSge, 7), is_all ? 1u : 7u);
    EXPECT_EQ(profile.value().number(Field::kMaxReadsIn, 7), is_all ? 2147483647u : 0u);
    EXPECT_EQ(profile.value().number(Field::kMaxMw, 7), is_all ? 2147483647u : 0u);
  }
}

}  // namespace
}  // namespace softdat::simnic::model
