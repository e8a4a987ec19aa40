// SPDX-License-Identifier: BSD-2-Clause
#include "base/timeline_file.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/clock.h"

namespace softdat::base {
namespace {

constexpr std::size_t kMostTracks = std::size_t{1} << 20;  // the encoder's numbers end there
// Events that are encoded before they are written.
constexpr std::size_t kBatch = 4096;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

std::string process_name() {
  const char* const copy = std::getenv("SOFTDAT_RUN_COPY");
  const std::string name = program_invocation_short_name;
  return copy == nullptr || *copy == '\0' ? name : name + " [" + copy + "]";
}

}  // namespace

TimelineFile::TimelineFile(TimelineOptions options)
    : options_(std::move(options)),
      room_(std::max<std::size_t>(options_.ring_size / sizeof(trace::Event), 2)),
      ring_(new trace::Event[room_]),
      file_(options_.directory, "perfetto-trace", "the timeline loses events"),
      encoder_(std::make_unique<trace::Encoder>(file_.number() + 1)) {
  writer_.start("softdat-timeline");
}

TimelineFile::~TimelineFile() {
  writer_.stop();
}

std::uint32_t TimelineFile::add(Track track) {
  const std::lock_guard lock(writer_.mutex());
  if (tracks_.size() + 1 < kMostTracks) tracks_.push_back(std::move(track));
  return static_cast<std::uint32_t>(tracks_.size());
}

std::uint32_t TimelineFile::add_thread() {
  char name[16] = "";
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  return add({.thread = static_cast<std::uint32_t>(::syscall(SYS_gettid)), .name = name});
}

std::uint32_t TimelineFile::add_track(std::string name) {
  return add({.name = std::move(name)});
}

void TimelineFile::add(const trace::Event& event) {
  bool was_empty = false, is_half_full = false;
  {
    const std::lock_guard lock(writer_.mutex());
    if (writer_.is_of_parent_locked()) return;
    // A full ring loses the event; a producer never waits for the disk.
    if (head_ - tail_ == room_) {
      ++lost_;
      return;
    }
    was_empty = head_ == tail_;
    ring_[head_++ % room_] = event;
    is_half_full = head_ - tail_ >= room_ / 2;
  }
  // Without the lock, so that the woken thread does not wait for it.
  if (was_empty) writer_.wake();
  if (is_half_full) writer_.hurry();
}

void TimelineFile::count_lost(std::uint64_t events) {
  const std::lock_guard lock(writer_.mutex());
  lost_ += events;
}

PieceWriter::Source::Level TimelineFile::level_locked() const {
  if (head_ - tail_ >= room_ / 2) return Level::kHalf;
  return head_ != tail_ ? Level::kSome : Level::kEmpty;
}

// Producers do not touch what lies between tail_ and head_ as they were.
void TimelineFile::drain(bool) {
  std::uint64_t end = 0, next = 0;
  {
    const std::lock_guard lock(writer_.mutex());
    end = head_;
    next = tail_;
  }
  while (next < end) {
    const std::size_t at = next % room_;
    const std::size_t count = std::min({kBatch, room_ - at, static_cast<std::size_t>(end - next)});
    // Without the lock, because it writes to the file. Only this thread moves tail_, so the events stay.
    const std::size_t lost = encode({ring_.get() + at, count});
    next += count;
    const std::lock_guard lock(writer_.mutex());
    tail_ = next;
    lost_ += lost;
  }
  encode({});
}

// Returns how many events the file did not take.
std::size_t TimelineFile::encode(std::span<const trace::Event> events) {
  buffer_.clear();
  const bool begins = !is_begun_;
  if (begins) {
    encoder_->begin(buffer_, now_ns());
    encoder_->add_process(buffer_, static_cast<std::uint32_t>(::getpid()), process_name());
  }
  const std::size_t known = tracks_written_;
  const std::uint64_t told = lost_told_;
  encode_tracks(buffer_);
  for (const trace::Event& event : events) encoder_->add(buffer_, event);
  tell_lost(buffer_);
  if (file_.write(std::as_bytes(std::span(buffer_)))) {
    is_begun_ = true;
    return 0;
  }
  // The clock must go on from what the file has.
  tracks_written_ = known;
  lost_told_ = told;
  is_begun_ = false;
  if (!begins) tracks_written_ = 0;
  return events.size();
}

// Before the events that name them; a reader needs the descriptor first.
void TimelineFile::encode_tracks(std::string& to) {
  const std::lock_guard lock(writer_.mutex());
  for (; tracks_written_ < tracks_.size(); ++tracks_written_) {
    const Track& track = tracks_[tracks_written_];
    const auto number = static_cast<std::uint32_t>(tracks_written_ + 1);
    if (track.thread == 0) {
      encoder_->add_track(to, number, track.name);
    } else {
      encoder_->add_thread(to, number, static_cast<std::uint32_t>(::getpid()), track.thread, track.name);
    }
  }
}

// The losses since they were told last, as an event of their own.
void TimelineFile::tell_lost(std::string& to) {
  std::uint64_t lost = 0;
  {
    const std::lock_guard lock(writer_.mutex());
    lost = lost_;
  }
  if (lost == lost_told_) return;
  encoder_->add(to, {.time = now_ns(),
                     .value = lost - lost_told_,
                     .track = 0,
                     .name = trace::Name::kLost,
                     .argument = trace::Argument::kCount});
  lost_told_ = lost;
}

}  // namespace softdat::base
