// SPDX-License-Identifier: BSD-2-Clause
#include "base/timeline_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/own_threads.h"

namespace softdat::base {
namespace {

constexpr std::uint32_t kMostProcesses = 1u << 20;
constexpr std::size_t kMostTracks = std::size_t{1} << 20;  // the encoder's numbers end there
// So long events gather, unless the ring is half full before.
constexpr Duration kGatherTime = std::chrono::milliseconds(5);
// After so many turns without events the thread sleeps until there are some.
constexpr unsigned kIdleTurns = 20;
constexpr std::chrono::seconds kPatience{3};
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
      ring_(new trace::Event[room_]) {
  open_file();
  encoder_ = std::make_unique<trace::Encoder>(number_ + 1);
  thread_ = start_own_thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "softdat-timeline");
}

TimelineFile::~TimelineFile() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  news_.notify();
  half_.notify();
  thread_.join();
}

void TimelineFile::open_file() {
  for (; number_ < kMostProcesses; ++number_) {
    char name[40];
    std::snprintf(name, sizeof name, "/%06u.perfetto-trace", number_);
    path_ = options_.directory + name;
    file_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file_) return;
    if (errno != EEXIST) break;
  }
  throw std::system_error(errno, std::generic_category(), path_);
}

std::uint32_t TimelineFile::add(Track track) {
  const std::lock_guard lock(mutex_);
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
    const std::lock_guard lock(mutex_);
    if (is_of_parent_) return;
    if (head_ - tail_ == room_) {
      ++lost_;
      return;
    }
    was_empty = head_ == tail_;
    ring_[head_++ % room_] = event;
    is_half_full = head_ - tail_ >= room_ / 2;
  }
  if (was_empty) news_.notify();
  if (is_half_full) half_.notify();
}

void TimelineFile::count_lost(std::uint64_t events) {
  const std::lock_guard lock(mutex_);
  lost_ += events;
}

void TimelineFile::leave_to_parent() {
  new (&mutex_) std::mutex;  // another thread of the parent may have held it
  is_of_parent_ = true;
}

bool TimelineFile::is_there(std::size_t events) {
  const std::lock_guard lock(mutex_);
  return is_ending_ || flushes_asked_ != flushes_done_ || head_ - tail_ >= events;
}

// While events come, nobody has to wake this thread: the one that did would often lose its processor to it.
void TimelineFile::await_events() {
  idle_turns_ = is_there(1) ? 0 : idle_turns_ + 1;
  if (idle_turns_ > kIdleTurns) {
    const auto news = news_.prepare();
    if (is_there(1)) {
      news_.cancel();
    } else {
      news_.wait(news, kNever);
    }
    idle_turns_ = 0;
  }
  const auto half = half_.prepare();
  if (is_there(room_ / 2)) {
    half_.cancel();
  } else {
    half_.wait(half, deadline_after(Clock::now(), kGatherTime));
  }
}

void TimelineFile::run() {
  for (bool is_over = false; !is_over;) {
    await_events();
    std::uint64_t asked = 0;
    {
      const std::lock_guard lock(mutex_);
      asked = flushes_asked_;
      is_over = is_ending_;
    }
    try {
      drain();
    } catch (const std::bad_alloc&) {
      // The next turn may have memory.
    }
    {
      const std::lock_guard lock(mutex_);
      flushes_done_ = asked;
    }
    flushed_.notify();
  }
}

void TimelineFile::flush() {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (is_of_parent_) return;
    number = ++flushes_asked_;
  }
  news_.notify();
  half_.notify();
  const Time deadline = deadline_after(Clock::now(), kPatience);
  while (Clock::now() < deadline) {
    const auto ticket = flushed_.prepare();
    {
      const std::lock_guard lock(mutex_);
      if (flushes_done_ >= number) {
        flushed_.cancel();
        return;
      }
    }
    flushed_.wait(ticket, deadline);
  }
}

// Producers do not touch what lies between tail_ and head_ as they were.
void TimelineFile::drain() {
  std::uint64_t end = 0, next = 0;
  {
    const std::lock_guard lock(mutex_);
    end = head_;
    next = tail_;
  }
  while (next < end) {
    const std::size_t at = next % room_;
    const std::size_t count = std::min({kBatch, room_ - at, static_cast<std::size_t>(end - next)});
    const std::size_t lost = encode({ring_.get() + at, count});
    next += count;
    const std::lock_guard lock(mutex_);
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
  if (write(buffer_)) {
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

void TimelineFile::encode_tracks(std::string& to) {
  const std::lock_guard lock(mutex_);
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

void TimelineFile::tell_lost(std::string& to) {
  std::uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
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

// Whole packets only: a part of them is taken back.
bool TimelineFile::write(const std::string& packets) {
  std::size_t done = 0;
  while (done < packets.size()) {
    const ssize_t wrote =
        ::pwrite(file_.get(), packets.data() + done, packets.size() - done, static_cast<off_t>(written_ + done));
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      const int error = wrote == 0 ? ENOSPC : errno;
      if (!std::exchange(is_trouble_told_, true)) {
        log(LogLevel::kWarning, "the timeline loses events: %s: %s", path_.c_str(), std::strerror(error));
      }
      static_cast<void>(!::ftruncate(file_.get(), static_cast<off_t>(written_)));
      return false;
    }
  }
  written_ += packets.size();
  return true;
}

}  // namespace softdat::base
