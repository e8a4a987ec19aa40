// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/conf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/registry/scratch_directory.h"

namespace softdat::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string entry_line(const std::string& name) {
  return name + " u2.0 nonthreadsafe default lib.so softdat.1.0 \"\" \"\"";
}

class ConfFileTest : public ::testing::Test {
 protected:
  ConfComplaint complain() {
    return [this](const std::string& message) { complaints_.push_back(message); };
  }
  ConfFile parse(std::string_view text) { return parse_conf_text(text, "f", complain()); }

  static std::vector<std::string> names(const ConfFile& file) {
    std::vector<std::string> names;
    for (const ConfEntry& entry : file.entries) names.push_back(entry.ia_name);
    return names;
  }

  std::vector<std::string> complaints_;
  ScratchDirectory directory_;
};

TEST_F(ConfFileTest, ReadsLinesInOrder) {
  const ConfFile file = parse("# head\n" + entry_line("a") + "\n\n" + entry_line("b") + "\n" + entry_line("a"));
  EXPECT_THAT(names(file), ElementsAre("a", "b", "a"));
  EXPECT_THAT(complaints_, IsEmpty());
}

TEST_F(ConfFileTest, NeedsNoFinalNewline) {
  EXPECT_THAT(names(parse(entry_line("a"))), ElementsAre("a"));
  EXPECT_THAT(names(parse(entry_line("a") + "\n")), ElementsAre("a"));
  EXPECT_THAT(complaints_, IsEmpty());
}

TEST_F(ConfFileTest, SkipsAMalformedLineAndSaysWhere) {
  const ConfFile file = parse(entry_line("a") + "\nb u2.0 maybe\n" + entry_line("c") + "\n\"");
  EXPECT_THAT(names(file), ElementsAre("a", "c"));
  ASSERT_THAT(complaints_, SizeIs(2));
  EXPECT_THAT(complaints_[0], StartsWith("f:2:13: the line ends after 3 of 8 fields"));
  EXPECT_THAT(complaints_[1], StartsWith("f:4:1: this quote is never closed"));
}

TEST_F(ConfFileTest, ReadsHugeLines) {
  const std::string data(3 << 20, 'x');
  const ConfFile file = parse("a u2.0 threadsafe default l v.1.0 " + data + " p\n" + std::string(3 << 20, '#') + "\n" +
                              std::string(1 << 20, '"') + "\n" + entry_line("b"));
  EXPECT_THAT(names(file), ElementsAre("a", "b"));
  EXPECT_EQ(file.entries[0].instance_data, data);
  EXPECT_THAT(complaints_, SizeIs(1));
}

TEST_F(ConfFileTest, CountsComplaintsWhenThereAreTooMany) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += "x\n";
  EXPECT_THAT(parse(text).entries, IsEmpty());
  ASSERT_THAT(complaints_, SizeIs(101));
  EXPECT_EQ(complaints_.back(), "f: 50 more malformed lines");
}

TEST_F(ConfFileTest, ReadsAFile) {
  const std::string path = directory_.write("dat.conf", entry_line("a") + "\nbad\n");
  ConfFile file;
  EXPECT_EQ(read_conf_file(path, file, complain()), ConfRead::kRead);
  EXPECT_THAT(names(file), ElementsAre("a"));
  EXPECT_THAT(complaints_, ElementsAre(StartsWith(path + ":2:4: ")));
}

TEST_F(ConfFileTest, AnAbsentFileIsNoComplaint) {
  ConfFile file;
  EXPECT_EQ(read_conf_file(directory_.path("none"), file, complain()), ConfRead::kAbsent);
  const std::string plain = directory_.write("plain", "");
  EXPECT_EQ(read_conf_file(plain + "/below", file, complain()), ConfRead::kAbsent);
  EXPECT_THAT(complaints_, IsEmpty());
}

TEST_F(ConfFileTest, ADirectoryIsUnreadable) {
  ConfFile file;
  EXPECT_EQ(read_conf_file(directory_.path(""), file, complain()), ConfRead::kUnreadable);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("cannot be read: Is a directory")));
}

TEST_F(ConfFileTest, AFileWithoutPermissionIsUnreadable) {
  const std::string path = directory_.write("dat.conf", entry_line("a"));
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  constexpr uid_t kNobody = 65534;
  const uid_t self = ::geteuid();
  // The superuser may read anything.
  ASSERT_TRUE(self != 0 || ::seteuid(kNobody) == 0);
  ConfFile file;
  EXPECT_EQ(read_conf_file(path, file, complain()), ConfRead::kUnreadable);
  EXPECT_THAT(complaints_, ElementsAre(path + ": cannot be read: Permission denied"));
  ASSERT_EQ(::seteuid(self), 0);
}

TEST_F(ConfFileTest, ALoopOfLinksIsUnreadable) {
  const std::string path = directory_.path("loop");
  ASSERT_EQ(::symlink("loop", path.c_str()), 0);
  ConfFile file;
  EXPECT_EQ(read_conf_file(path, file, complain()), ConfRead::kUnreadable);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("cannot be read: ")));
}

// A reader that waited for a writer would wait for ever.
TEST_F(ConfFileTest, AFifoToWhichNobodyWritesIsEmpty) {
  const std::string path = directory_.path("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  ConfFile file;
  EXPECT_EQ(read_conf_file(path, file, complain()), ConfRead::kRead);
  EXPECT_THAT(file.entries, IsEmpty());
}

TEST_F(ConfFileTest, APipeIsReadToItsEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(ends[0]);
  std::thread writer([&] {
    for (const char* name : {"a", "b"}) {
      const std::string line = entry_line(name) + "\n";
      EXPECT_EQ(::write(ends[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    }
    ::close(ends[1]);
  });
  ConfFile file;
  EXPECT_EQ(read_conf_file(path, file, complain()), ConfRead::kRead);
  writer.join();
  ::close(ends[0]);
  EXPECT_THAT(names(file), ElementsAre("a", "b"));
}

TEST_F(ConfFileTest, APipeWhoseWriterSaysNothingIsUnreadable) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ConfFile file;
  EXPECT_EQ(read_conf_file("/proc/self/fd/" + std::to_string(ends[0]), file, complain()), ConfRead::kUnreadable);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("timed out")));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(ConfFileTest, AnEndlessFileIsUnreadable) {
  ConfFile file;
  EXPECT_EQ(read_conf_file("/dev/zero", file, complain()), ConfRead::kUnreadable);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("File too large")));
}

TEST_F(ConfFileTest, TheOverrideComesBeforeThePaths) {
  const ConfSearch search{directory_.write("mine", entry_line("mine")),
                          {directory_.write("theirs", entry_line("theirs"))}};
  EXPECT_THAT(names(find_conf_file(search, complain())), ElementsAre("mine"));
}

TEST_F(ConfFileTest, AMissingOverrideDoesNotFallBack) {
  const ConfSearch search{directory_.path("none"), {directory_.write("a", entry_line("a"))}};
  EXPECT_THAT(names(find_conf_file(search, complain())), IsEmpty());
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("does not exist, though DAT_OVERRIDE names it")));
}

TEST_F(ConfFileTest, AnUnreadableOverrideDoesNotFallBack) {
  const ConfSearch search{directory_.path(""), {directory_.write("a", entry_line("a"))}};
  EXPECT_THAT(names(find_conf_file(search, complain())), IsEmpty());
  EXPECT_THAT(complaints_, SizeIs(1));
}

TEST_F(ConfFileTest, TheFirstReadablePathIsTaken) {
  const ConfSearch search{"",
                          {directory_.path("none"), directory_.path(""), directory_.write("b", entry_line("b")),
                           directory_.write("c", entry_line("c"))}};
  EXPECT_THAT(names(find_conf_file(search, complain())), ElementsAre("b"));
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("Is a directory")));
}

TEST_F(ConfFileTest, NoFileAtAllIsNoComplaint) {
  const ConfSearch search{"", {directory_.path("none"), directory_.path("nowhere")}};
  EXPECT_THAT(names(find_conf_file(search, complain())), IsEmpty());
  EXPECT_THAT(complaints_, IsEmpty());
}

}  // namespace
}  // namespace softdat::registry
