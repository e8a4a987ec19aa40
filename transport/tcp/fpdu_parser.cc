// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/fpdu_parser.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/byte_order.h"
#include "base/ordered_copy.h"
#include "transport/tcp/crc32c.h"
#include "transport/tcp/fault.h"
#include "transport/tcp/fpdu.h"

namespace softdat::transport::tcp {
namespace {

constexpr std::size_t kControlSize = 2;
constexpr std::size_t kLargePayload = 16384;

// RFC 5044 section 4.4: the CRC covers length, ULPDU and padding.
bool is_crc_good(std::span<const std::byte> fpdu) {
  const std::span<const std::byte> covered = fpdu.first(fpdu.size() - kCrcSize);
  return crc32c(0, covered) == base::load_le<std::uint32_t>(fpdu.data() + covered.size());
}

// How many bytes were copied, perhaps fewer than `length`. Nothing: the place faults.
std::optional<std::size_t> copy_to(const SliceList& slices, const std::byte* from, std::size_t length) {
  std::size_t done = 0;
  for (const Slice& slice : slices.slices()) {
    const std::size_t part = std::min(slice.length, length - done);
    if (!base::copy_ordered(slice.data, from + done, part)) return std::nullopt;
    done += part;
  }
  return done;
}

}  // namespace

std::span<const std::byte> FpduParser::segment_head() const {
  if (!is_in_segment_) return {};
  return std::span(head_).first(shape_.head_size());
}

bool FpduParser::blame(const TerminateCode& code) {
  SOFTDAT_DEBUG_CHECK(!fault_, "the parser stops at the first fault");
  fault_ = code;
  return false;
}

// A head that means nothing is still quoted.
bool FpduParser::blame_head(const TerminateCode& code, std::span<const std::byte> head) {
  SOFTDAT_DEBUG_CHECK(head.size() <= head_.size(), "a head that is quoted has room", head.size());
  shape_ = {.ddp_size = head.size()};
  std::memcpy(head_.data(), head.data(), head.size());
  is_in_segment_ = true;
  return blame(code);
}

bool FpduParser::step() {
  if (!is_in_segment_) return pass_whole_send() || parse_head();
  return messages_.payload_left() > 0 ? place_staged() : pass_trailer();
}

// Fast path: a short FPDU in the buffer that is a plain send. False: nothing was done, but that the CRC may have been
// checked. A long one goes on as before: the next of its kind is read to its place at once.
bool FpduParser::pass_whole_send() {
  const std::span<const std::byte> bytes = buffer_.bytes();
  if (bytes.size() < kLengthSize + kUntaggedHeadSize) return false;
  const auto length = base::load_be<std::uint16_t>(bytes.data());
  const std::size_t size = fpdu_size(length);
  if (length < kUntaggedHeadSize || length > kUntaggedHeadSize + kDirectLeast || bytes.size() < size) return false;
  const auto send = decode_whole_send(bytes.subspan(kLengthSize, length));
  if (!send) return false;
  is_front_good_ = rules_.has_crc && is_crc_good(bytes.first(size));
  if (rules_.has_crc ? !is_front_good_ : is_void(bytes.first(size))) return false;
  const auto payload = bytes.subspan(kLengthSize + kUntaggedHeadSize, length - kUntaggedHeadSize);
  if (!messages_.take_whole_send(*send, payload)) return false;
  is_front_good_ = false;
  buffer_.consume(size);
  return true;
}

bool FpduParser::parse_head() {
  const std::span<const std::byte> bytes = buffer_.bytes();
  // False without a fault means that more bytes are needed.
  if (bytes.size() < kLengthSize + kControlSize) return false;
  ulpdu_length_ = base::load_be<std::uint16_t>(bytes.data());
  if (rules_.has_crc) {
    // The CRC is checked before any byte of the FPDU is believed, its control bytes included.
    if (bytes.size() < fpdu_size(ulpdu_length_)) return false;
    const bool is_good = std::exchange(is_front_good_, false) || is_crc_good(bytes.first(fpdu_size(ulpdu_length_)));
    if (!is_good) return blame(fault::kCrc);
  }
  const std::size_t ddp_size = std::min<std::size_t>(ulpdu_length_, ddp_size_of(bytes[kLengthSize]));
  if (bytes.size() < kLengthSize + ddp_size) return false;
  const auto shape = decode_shape(ulpdu_length_, bytes.subspan(kLengthSize));
  if (!shape.ok()) return blame_head(shape.reason(), bytes.subspan(kLengthSize, ddp_size));
  if (bytes.size() < kLengthSize + shape.value().head_size()) return false;
  return begin_segment(shape.value(), bytes.subspan(kLengthSize));
}

bool FpduParser::begin_segment(const SegmentShape& shape, std::span<const std::byte> ulpdu) {
  SOFTDAT_DEBUG_CHECK(shape.head_size() <= head_.size(), "decode_shape() refuses a head that has no room",
                      shape.head_size());
  shape_ = shape;
  std::memcpy(head_.data(), ulpdu.data(), shape.head_size());
  const auto wrong = messages_.begin(decode_segment(shape, ulpdu), shape.payload);
  buffer_.consume(kLengthSize + shape.head_size());
  // Where large payload comes, more is likely to follow: read its heads, not its bytes, into here.
  if (shape.payload >= kLargePayload) read_ahead_ = kSmallReadAhead;
  is_in_segment_ = true;
  // The head is kept even if it is wrong: the Terminate quotes it (RFC 5040 section 4.8).
  return wrong ? blame(*wrong) : messages_.announce();
}

bool FpduParser::place_staged() {
  const std::size_t length = std::min(messages_.payload_left(), buffer_.size());
  if (length == 0) return false;
  // The sink looks the key up for each piece of payload, because it may be revoked between two pieces.
  SliceList slices;
  Placement placement = Placement::kPlace;
  if (!messages_.ask(length, slices, placement)) return false;
  std::optional<std::size_t> passed = length;
  if (placement == Placement::kPlace) passed = copy_to(slices, buffer_.bytes().data(), length);
  if (!passed) return messages_.report_fault(length);
  base::check(*passed > 0, "a placement covers at least one byte");
  buffer_.consume(*passed);
  messages_.advance(*passed);
  return true;
}

// The trailer is taken as a whole, because its last four bytes may be the void mark.
bool FpduParser::pass_trailer() {
  const std::size_t trailer = trailer_of(ulpdu_length_);
  if (buffer_.size() < trailer) return false;
  const bool is_void_segment = is_void(buffer_.bytes().first(trailer));
  buffer_.consume(trailer);
  const bool goes_on = messages_.end(std::span(head_).subspan(shape_.ddp_size, shape_.body_size), is_void_segment);
  is_in_segment_ = false;
  return goes_on;
}

// `tail` ends as the FPDU does.
bool FpduParser::is_void(std::span<const std::byte> tail) const {
  if (!rules_.knows_voids || rules_.has_crc) return false;
  return base::load_le<std::uint32_t>(tail.last(kCrcSize).data()) == kVoidMark;
}

bool FpduParser::wants_direct() const {
  // With CRC an FPDU must be checked whole before a byte of it is placed, so it always passes through the buffer.
  return messages_.payload_left() >= kDirectLeast && buffer_.empty() && !rules_.has_crc;
}

// At least the rest of a segment that is under way, so that a small rest takes one call.
std::size_t FpduParser::wanted_bytes() const {
  if (rules_.has_crc) return BufferPool::kBufferSize;
  const std::size_t rest = is_in_segment_ ? messages_.payload_left() + trailer_of(ulpdu_length_) : 0;
  return std::max(read_ahead_, rest + kSmallReadAhead);
}

void FpduParser::grow_read_ahead() {
  read_ahead_ = std::min(4 * read_ahead_, BufferPool::kBufferSize);
}

}  // namespace softdat::transport::tcp
