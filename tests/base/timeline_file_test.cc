// SPDX-License-Identifier: BSD-2-Clause
#include "base/timeline_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "tests/flush.h"

namespace softdat::base {
namespace {

using trace::Argument;
using trace::Event;
using trace::Name;

class TimelineFiles : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/softdat-timeline-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string bytes() const {
    std::ifstream file(directory_ + "/000000.perfetto-trace", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // How often the file has an instant of that name on the track.
  std::size_t count(const TimelineFile& timeline, Name name, std::uint32_t track) const {
    const trace::Encoder encoder(timeline.number() + 1);
    std::string wanted;
    trace::put_number(wanted, trace::field::kType, static_cast<std::uint64_t>(trace::Type::kInstant));
    trace::put_number(wanted, trace::field::kTrack, encoder.uuid(track));
    trace::put_number(wanted, trace::field::kName, static_cast<std::uint64_t>(name));
    std::size_t found = 0;
    const std::string all = bytes();
    for (std::size_t at = all.find(wanted); at != std::string::npos; at = all.find(wanted, at + 1)) ++found;
    return found;
  }

  // The sum of the counts of lost events: the annotation is the last field of these events.
  std::uint64_t lost() const {
    std::string wanted;
    trace::put_number(wanted, trace::field::kAnnotationName, static_cast<std::uint64_t>(Argument::kCount));
    trace::put_number(wanted, trace::field::kAnnotationNumber, 0);
    wanted.pop_back();
    const std::string all = bytes();
    std::uint64_t sum = 0;
    for (std::size_t at = all.find(wanted); at != std::string::npos; at = all.find(wanted, at + 1)) {
      unsigned shift = 0;
      for (std::size_t i = at + wanted.size(); i < all.size(); ++i, shift += 7) {
        const auto byte = static_cast<unsigned char>(all[i]);
        sum += std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) break;
      }
    }
    return sum;
  }

  std::string directory_;
};

TEST_F(TimelineFiles, EveryEventIsWrittenOrCounted) {
  constexpr std::uint64_t kEvents = 20000;
  TimelineFile timeline({.directory = directory_, .ring_size = 16 * sizeof(Event)});
  const std::uint32_t track = timeline.add_track("one");
  for (std::uint64_t i = 0; i < kEvents; ++i) timeline.add({.time = i + 1, .track = track, .name = Name::kWire});
  flush(timeline);
  flush(timeline);  // the first may count what is lost behind its last event
  EXPECT_EQ(count(timeline, Name::kWire, track) + lost(), kEvents);
}

// The writer is slower than this loop sooner or later, and then events are lost.
TEST_F(TimelineFiles, AFullBufferLosesEventsThatAreCounted) {
  TimelineFile timeline({.directory = directory_, .ring_size = 16 * sizeof(Event)});
  const std::uint32_t track = timeline.add_track("one");
  std::uint64_t added = 0;
  while (lost() == 0) {
    for (int i = 0; i < 10000; ++i) timeline.add({.time = ++added, .track = track, .name = Name::kWire});
    flush(timeline);
    flush(timeline);
  }
  EXPECT_EQ(count(timeline, Name::kWire, track) + lost(), added);
}

TEST_F(TimelineFiles, AFullDiskLosesEventsThatAreCountedLater) {
  TimelineFile timeline({.directory = directory_});
  const std::uint32_t track = timeline.add_track("one");
  timeline.add({.time = 1, .track = track, .name = Name::kWire});
  flush(timeline);
  const std::string before = bytes();
  ASSERT_NE(std::signal(SIGXFSZ, SIG_IGN), SIG_ERR);
  rlimit usual = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  // A few bytes fit: they are taken back.
  const rlimit full = {.rlim_cur = before.size() + 10, .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  for (int i = 0; i < 7; ++i) timeline.add({.time = 2, .track = track, .name = Name::kPlace});
  flush(timeline);
  EXPECT_EQ(bytes(), before);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  timeline.add({.time = 3, .track = track, .name = Name::kDequeue});
  flush(timeline);
  EXPECT_EQ(count(timeline, Name::kWire, track), 1u);
  EXPECT_EQ(count(timeline, Name::kPlace, track), 0u);
  EXPECT_EQ(count(timeline, Name::kDequeue, track), 1u);
  EXPECT_EQ(lost(), 7u);
}

TEST_F(TimelineFiles, EachProcessHasAFileOfItsOwn) {
  const TimelineFile first({.directory = directory_}), second({.directory = directory_});
  EXPECT_EQ(first.number(), 0u);
  EXPECT_EQ(second.number(), 1u);
}

TEST_F(TimelineFiles, ADirectoryThatIsNotThereIsAnError) {
  EXPECT_THROW(TimelineFile({.directory = directory_ + "/none"}), std::system_error);
}

}  // namespace
}  // namespace softdat::base
