// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/recorder.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "base/environment.h"
#include "base/forks.h"
#include "base/log.h"
#include "base/ordered_copy.h"
#include "simnic/lock_places.h"

namespace softdat::simnic::capture {
namespace {

namespace pcapng = base::pcapng;

std::uint64_t wall_clock_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

constinit std::atomic<Recorder*> g_recorder{nullptr};
constinit base::Mutex<locks::kRecorderCreation> g_recorder_creation;  // held while it is made
constinit bool g_is_settled = false;  // there is one, or there is none; guarded by g_recorder_creation

[[gnu::destructor]] void flush_at_exit() {
  if (Recorder* const known = g_recorder.load(std::memory_order_acquire)) known->flush();
}

// Failure is a warning and no error: the program runs without a capture.
Recorder* make_recorder() {
  const std::string_view directory = base::environment(base::Variable::kCapture);
  if (directory.empty()) return nullptr;
  RecorderOptions options{.directory = std::string(directory)};
  const std::string_view snap = base::environment(base::Variable::kCaptureSnap);
  if (const auto bytes = base::read_number(base::Variable::kCaptureSnap, snap)) options.snap_length = *bytes;
  const std::string_view ring = base::environment(base::Variable::kCaptureBuffer);
  if (const auto kib = base::read_number(base::Variable::kCaptureBuffer, ring)) {
    options.ring_size = std::size_t{*kib} << 10;
  }
  try {
    return new Recorder(std::move(options));
  } catch (const std::system_error& error) {
    base::log(base::LogLevel::kWarning, "nothing is captured: SOFTDAT_CAPTURE=%s: %s", std::string(directory).c_str(),
              error.what());
  } catch (const std::bad_alloc&) {
    base::log(base::LogLevel::kWarning, "nothing is captured: there is no memory for the buffer");
  }
  return nullptr;
}

}  // namespace

// A child has no thread, and the file is its parent's. Another thread of the parent may have held any lock.
void forget_in_child() {
  if (Recorder* const parents = g_recorder.exchange(nullptr)) {
    parents->writer_.leave_to_parent();
  }
  new (&g_recorder_creation) base::Mutex<locks::kRecorderCreation>;
  g_is_settled = false;
}

[[gnu::constructor]] static void forget_in_children() {
  base::on_fork({.in_child = forget_in_child});
}

Recorder* Recorder::of_process() {
  const std::lock_guard lock(g_recorder_creation);
  // Tried once: a directory that cannot be written is reported once.
  if (!std::exchange(g_is_settled, true)) {
    Recorder* const made = make_recorder();
    g_recorder.store(made, std::memory_order_release);
  }
  return g_recorder.load(std::memory_order_acquire);
}

Recorder::Recorder(RecorderOptions options)
    : options_(std::move(options)),
      ring_(new std::byte[options_.ring_size]),
      file_(options_.directory, "pcapng", "the capture loses packets") {
  begin();
}

Recorder::Recorder(base::UniqueFd file, RecorderOptions options)
    : options_(std::move(options)), ring_(new std::byte[options_.ring_size]), file_(std::move(file)) {
  begin();
}

void Recorder::begin() {
  std::vector<std::byte> section;
  pcapng::append_section(section, "SoftDAT");
  if (!file_.write(section)) throw std::system_error(errno, std::generic_category(), file_.path());
  writer_.start("softdat-capture");
}

Recorder::~Recorder() {
  writer_.stop();
}

std::uint32_t Recorder::add_interface(std::string_view name, std::string_view description) {
  const std::lock_guard lock(writer_.mutex());
  counts_.reserve(counts_.size() + 1);  // nothing may throw once the block is there
  // Our snap length is that of the payload, so the block names none.
  pcapng::append_interface(interfaces_, name, description, 0);
  counts_.emplace_back();
  return static_cast<std::uint32_t>(counts_.size() - 1);
}

std::size_t Recorder::used() const {
  return head_ >= tail_ ? head_ - tail_ : wrap_ - tail_ + head_;
}

// A packet lies in one piece. Null: no room.
std::byte* Recorder::reserve(std::size_t size) {
  if (head_ < tail_) {
    if (tail_ - head_ <= size) return nullptr;
  } else if (options_.ring_size - head_ < size) {
    if (tail_ <= size) return nullptr;
    wrap_ = std::exchange(head_, 0);
  }
  return ring_.get() + std::exchange(head_, head_ + size);
}

void Recorder::add(const Record& record) {
  std::size_t there = 0;
  for (const transport::Slice& slice : record.payload) there += slice.length;
  const std::size_t kept = std::min(there, record.payload_length);
  const bool has_back = kept == record.payload_length;
  pcapng::PacketHead head = record.head;
  head.original = static_cast<std::uint32_t>(record.front.size() + record.payload_length + record.back + record.hidden);
  head.captured = static_cast<std::uint32_t>(record.front.size() + kept + (has_back ? record.back : 0));
  bool was_empty = false, is_half_full = false;
  {
    const std::lock_guard lock(writer_.mutex());
    if (writer_.is_of_parent_locked()) return;
    Counts& counts = counts_[head.interface];
    ++counts.received;
    was_empty = head_ == tail_;
    std::byte* const block = reserve(pcapng::packet_size(head));
    // The ring is full. The data path never waits for the disk.
    if (block == nullptr) {
      ++counts.dropped;
      return;
    }
    std::byte* to = pcapng::write_packet(head, block);
    to = std::copy(record.front.begin(), record.front.end(), to);
    std::size_t left = kept;
    for (const transport::Slice& slice : record.payload) {
      const std::size_t part = std::min(left, slice.length);
      // The consumer's memory may go at any moment; zeros stand for bytes that could not be read.
      if (part > 0 && !base::copy_in(to, slice.data, part)) std::memset(to, 0, part);
      to += part;
      left -= part;
    }
    if (has_back) std::memset(to, 0, record.back);
    is_half_full = used() >= options_.ring_size / 2;
  }
  if (was_empty) writer_.wake();
  if (is_half_full) writer_.hurry();
}

void Recorder::count_drop(std::uint32_t interface) {
  const std::lock_guard lock(writer_.mutex());
  if (writer_.is_of_parent_locked()) return;
  ++counts_[interface].received;
  ++counts_[interface].dropped;
}

base::PieceWriter::Source::Level Recorder::level_locked() const {
  if (used() >= options_.ring_size / 2) return Level::kHalf;
  return used() > 0 ? Level::kSome : Level::kEmpty;
}

// Producers do not touch what lies between tail_ and head_ as they were.
void Recorder::drain(bool is_final) {
  // Twice, because the ring may wrap around.
  for (int part = 0; part < 2; ++part) {
    std::vector<std::byte> interfaces;
    std::span<const std::byte> blocks;
    {
      const std::lock_guard lock(writer_.mutex());
      interfaces.assign(interfaces_.begin() + static_cast<std::ptrdiff_t>(interfaces_written_), interfaces_.end());
      const std::size_t end = head_ >= tail_ ? head_ : wrap_;
      blocks = {ring_.get() + tail_, end - tail_};
    }
    // Packets of an interface that the file does not know would spoil it.
    bool is_written = file_.write(interfaces);
    if (is_written) {
      interfaces_written_ += interfaces.size();
      is_written = file_.write(blocks);
    }
    if (!is_written) count_lost(blocks);
    const std::lock_guard lock(writer_.mutex());
    tail_ += blocks.size();
    if (head_ < tail_ && tail_ == wrap_) tail_ = 0;
  }
  const auto blocks = statistics(is_final);
  static_cast<void>(file_.write(blocks));
}

// The last block of an interface in the file counts, so a new one is added only when something was dropped, and at the
// end.
std::vector<std::byte> Recorder::statistics(bool is_final) {
  std::vector<std::byte> blocks;
  const std::lock_guard lock(writer_.mutex());
  for (std::uint32_t i = 0; i < counts_.size(); ++i) {
    Counts& counts = counts_[i];
    if (!is_final && counts.told == counts.dropped) continue;
    pcapng::append_statistics(
        blocks, {.interface = i, .time_ns = wall_clock_ns(), .received = counts.received, .dropped = counts.dropped});
    counts.told = counts.dropped;
  }
  return blocks;
}

void Recorder::count_lost(std::span<const std::byte> blocks) {
  const std::lock_guard lock(writer_.mutex());
  while (const auto block = pcapng::take_block(blocks)) {
    const auto packet = pcapng::read_packet(*block);
    if (packet && packet->head.interface < counts_.size()) ++counts_[packet->head.interface].dropped;
  }
}

}  // namespace softdat::simnic::capture
