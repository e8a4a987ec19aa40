// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/conf_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace softdat::registry {
namespace {

using ::testing::HasSubstr;

const std::string kRest = " u2.0 nonthreadsafe default lib.so softdat.1.0 \"\" \"\"";

TEST(ConfLine, ReadsTheEightFields) {
  const ConfLine line =
      parse_conf_line("ofa-v2-ib0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"ib0 0\" \"\"");
  const auto* entry = std::get_if<ConfEntry>(&line);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->ia_name, "ofa-v2-ib0");
  EXPECT_FALSE(entry->is_kernel);
  EXPECT_EQ(entry->major, 2u);
  EXPECT_EQ(entry->minor, 0u);
  EXPECT_FALSE(entry->is_thread_safe);
  EXPECT_TRUE(entry->is_default);
  EXPECT_EQ(entry->library_path, "libdaplofa.so.2");
  EXPECT_EQ(entry->provider_version, "dapl.2.0");
  EXPECT_EQ(entry->instance_data, "ib0 0");
  EXPECT_EQ(entry->platform_data, "");
}

TEST(ConfLine, ReadsTheOtherChoiceOfEachField) {
  const ConfLine line = parse_conf_line("ibd0 k1.2 threadsafe nondefault x SUNW.1.0 \" \" \"driver_name=tavor\"");
  const auto* entry = std::get_if<ConfEntry>(&line);
  ASSERT_NE(entry, nullptr);
  EXPECT_TRUE(entry->is_kernel);
  EXPECT_EQ(entry->major, 1u);
  EXPECT_EQ(entry->minor, 2u);
  EXPECT_TRUE(entry->is_thread_safe);
  EXPECT_FALSE(entry->is_default);
  EXPECT_EQ(entry->instance_data, " ");
  EXPECT_EQ(entry->platform_data, "driver_name=tavor");
}

struct FieldCase {
  const char* promise;
  std::string line;
  std::string name;
  std::string instance_data;

  friend std::ostream& operator<<(std::ostream& out, const FieldCase& test) { return out << test.line; }
};

class ConfLineFields : public ::testing::TestWithParam<FieldCase> {};

TEST_P(ConfLineFields, KeepTheirText) {
  const ConfLine line = parse_conf_line(GetParam().line);
  const auto* entry = std::get_if<ConfEntry>(&line);
  ASSERT_NE(entry, nullptr) << std::get<ConfMistake>(line).reason;
  EXPECT_EQ(entry->ia_name, GetParam().name);
  EXPECT_EQ(entry->instance_data, GetParam().instance_data);
}

std::string with_data(const std::string& data) {
  return "a u2.0 threadsafe default l v.1.0 " + data + " p";
}

INSTANTIATE_TEST_SUITE_P(
    All, ConfLineFields,
    ::testing::Values(FieldCase{"Blanks", "  a \t u2.0 threadsafe  default\tl v.1.0 d p  ", "a", "d"},
                      FieldCase{"CarriageReturn", "a u2.0 threadsafe default l v.1.0 d p\r", "a", "d"},
                      FieldCase{"QuotedName", "\"a b\" u2.0 threadsafe default l v.1.0 d p", "a b", "d"},
                      FieldCase{"QuotedVersion", "a \"u2.0\" threadsafe default l v.1.0 d p", "a", "d"},
                      FieldCase{"EscapedQuote", with_data("\"x\\\"y\""), "a", "x\"y"},
                      FieldCase{"EscapedBackslash", with_data("\"x\\\\\""), "a", "x\\"},
                      FieldCase{"EscapedLetter", with_data("\"\\n\""), "a", "n"},
                      FieldCase{"PlainBackslash", with_data("x\\y"), "a", "x\\y"},
                      FieldCase{"QuoteInsidePlain", with_data("x\"y"), "a", "x\"y"},
                      FieldCase{"HashInsidePlain", with_data("x#y"), "a", "x#y"},
                      FieldCase{"HashInsideQuoted", with_data("\"# no comment\""), "a", "# no comment"},
                      FieldCase{"QuotedFieldsTouching", "a u2.0 threadsafe default l v.1.0 \"d\"\"p\"", "a", "d"},
                      FieldCase{"TrailingComment", with_data("d") + " # said why", "a", "d"},
                      FieldCase{"DottedProviderId", "a u2.0 threadsafe default l my.id.1.0 d p", "a", "d"},
                      FieldCase{"WordsThatGoOn", "a u2.0 threadsafely defaults l v.1.0 d p", "a", "d"},
                      FieldCase{"LongestName", std::string(255, 'n') + kRest, std::string(255, 'n'), ""},
                      FieldCase{"HighBytes", "\xc3\xa9 u2.0 threadsafe default l v.1.0 d p", "\xc3\xa9", "d"}),
    [](const auto& test) { return test.param.promise; });

class ConfLineNothing : public ::testing::TestWithParam<std::string> {};

TEST_P(ConfLineNothing, IsNoEntryAndNoMistake) {
  EXPECT_TRUE(std::holds_alternative<ConfNothing>(parse_conf_line(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(All, ConfLineNothing, ::testing::Values("", " ", "\t \t", "\r", "#", "# all of it", "  #x y"));

struct MistakeCase {
  const char* promise;
  std::string line;
  std::size_t column;
  const char* reason;

  friend std::ostream& operator<<(std::ostream& out, const MistakeCase& test) { return out << test.line; }
};

class ConfLineMistakes : public ::testing::TestWithParam<MistakeCase> {};

TEST_P(ConfLineMistakes, SayWhereAndWhy) {
  const ConfLine line = parse_conf_line(GetParam().line);
  const auto* mistake = std::get_if<ConfMistake>(&line);
  ASSERT_NE(mistake, nullptr);
  EXPECT_EQ(mistake->column, GetParam().column);
  EXPECT_THAT(mistake->reason, HasSubstr(GetParam().reason));
}

const char* const kApi = "u or k, then major.minor";
const char* const kVersion = "id.major.minor";

INSTANTIATE_TEST_SUITE_P(
    All, ConfLineMistakes,
    ::testing::Values(
        MistakeCase{"OneField", "a", 2, "after 1 of 8 fields; next would come: API version"},
        MistakeCase{"TwoFields", "a u2.0", 7, "next would come: thread safety"},
        MistakeCase{"ThreeFields", "a u2.0 threadsafe", 18, "next would come: default or"},
        MistakeCase{"FourFields", "a u2.0 threadsafe default", 26, "next would come: library"},
        MistakeCase{"FiveFields", "a u2.0 threadsafe default l", 28, "come: provider version"},
        MistakeCase{"SixFields", "a u2.0 threadsafe default l v.1.0", 34, "come: instance data"},
        MistakeCase{"SevenFields", "a u2.0 threadsafe default l v.1.0 d", 36,
                    "after 7 of 8 fields; next would come: platform data"},
        MistakeCase{"CommentedAway", "a u2.0 threadsafe default l v.1.0 d #p", 39, "7 of 8"},
        MistakeCase{"NineFields", "a u2.0 threadsafe default l v.1.0 d p x", 39, "a ninth field"},
        MistakeCase{"OpenQuote", "a u2.0 threadsafe default l v.1.0 \"d p", 35, "never closed"},
        MistakeCase{"QuoteThenEnd", "\"", 1, "never closed"},
        MistakeCase{"EscapedClosingQuote", "a \"b\\\"", 3, "never closed"},
        MistakeCase{"BackslashAtEnd", "a \"b\\", 3, "never closed"},
        MistakeCase{"Nul", std::string("a u2\0", 5), 5, "NUL"},
        MistakeCase{"NulInComment", std::string("#\0", 2), 2, "NUL"},
        MistakeCase{"EmptyName", "\"\"" + kRest, 1, "IA name is empty"},
        MistakeCase{"LongName", std::string(256, 'n') + kRest, 1, "256 bytes; at most 255"},
        MistakeCase{"NoLetter", "a 2.0 threadsafe default l v.1.0 d p", 3, kApi},
        MistakeCase{"WrongLetter", "a x2.0 threadsafe default l v.1.0 d p", 3, kApi},
        MistakeCase{"NoMajor", "a u.0 threadsafe default l v.1.0 d p", 4, kApi},
        MistakeCase{"NegativeMajor", "a u-2.0 threadsafe default l v.1.0 d p", 4, kApi},
        MistakeCase{"NoDot", "a u2 threadsafe default l v.1.0 d p", 5, kApi},
        MistakeCase{"NoMinor", "a u2. threadsafe default l v.1.0 d p", 6, kApi},
        MistakeCase{"MinorGoesOn", "a u2.0x threadsafe default l v.1.0 d p", 7, kApi},
        MistakeCase{"HugeMajor", "a u99999999999.0 threadsafe default l v.1.0 d p", 4, kApi},
        MistakeCase{"EmptyVersion", "a \"\" threadsafe default l v.1.0 d p", 3, kApi},
        MistakeCase{"ThreadSafety", "a u2.0 safe default l v.1.0 d p", 8, "must be threadsafe or nonthreadsafe"},
        MistakeCase{"Default", "a u2.0 threadsafe main l v.1.0 d p", 19, "must be default or nondefault"},
        MistakeCase{"EmptyLibrary", "a u2.0 threadsafe default \"\" v.1.0 d p", 27, "library path is empty"},
        MistakeCase{"VersionOnePart", "a u2.0 threadsafe default l v d p", 29, kVersion},
        MistakeCase{"VersionTwoParts", "a u2.0 threadsafe default l v.1 d p", 29, kVersion},
        MistakeCase{"VersionNoId", "a u2.0 threadsafe default l .1.0 d p", 29, kVersion},
        MistakeCase{"VersionLetters", "a u2.0 threadsafe default l v.x.0 d p", 29, kVersion},
        MistakeCase{"VersionTail", "a u2.0 threadsafe default l v.1.0x d p", 29, kVersion},
        MistakeCase{"VersionEmptyMinor", "a u2.0 threadsafe default l v.1. d p", 29, kVersion},
        MistakeCase{"Binary", "\x7f\x45LF\x02\x01\x01", 8, "1 of 8 fields"}),
    [](const auto& test) { return test.param.promise; });

TEST(ConfLine, TakesAnyBytes) {
  // Every string over an alphabet of the bytes that mean something, up to six of them.
  const std::string alphabet("a \"\\#.\0", 7);
  std::vector<std::string> lines{""};
  std::size_t count = 0;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string line = lines[at];
    EXPECT_LT(parse_conf_line(line).index(), std::variant_size_v<ConfLine>);
    ++count;
    if (line.size() == 5) continue;
    for (const char byte : alphabet) lines.push_back(line + byte);
  }
  EXPECT_EQ(count, 19608u);  // the sum of 7^n for n = 0 ... 5
}

TEST(ConfLine, MistakesPointInsideTheLineOrJustBehindIt) {
  const std::string good = "a u2.0 threadsafe default l v.1.0 \"d\\\"\" p";
  for (std::size_t size = 0; size < good.size(); ++size) {
    const std::string line = good.substr(0, size);
    const ConfLine parsed = parse_conf_line(line);
    if (const auto* mistake = std::get_if<ConfMistake>(&parsed)) {
      EXPECT_GE(mistake->column, 1u) << line;
      EXPECT_LE(mistake->column, size + 1) << line;
    }
  }
}

}  // namespace
}  // namespace softdat::registry
