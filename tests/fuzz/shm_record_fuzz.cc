// SPDX-License-Identifier: BSD-2-Clause
// What a peer of the same host writes into a ring: record words, message heads, offers, refusals and Terminates.
#include <algorithm>
#include <cstring>

#include "tests/fuzz/fuzz.h"
#include "transport/shm/record.h"

namespace softdat::fuzz {
namespace {

using namespace softdat::transport;
using namespace softdat::transport::shm;

void check_head(std::span<const std::byte> bytes) {
  Message message{};
  const auto notes = decode_head(bytes, message);
  if (!notes) return;
  expect(notes->bytes <= bytes.size(), "a head lies within its record");
  const MessageHead head = encode_head(message, notes->acks);
  expect(head.bytes() == notes->bytes, "a head encodes to as many bytes as it came in");
  Message again{};
  expect(decode_head(std::as_bytes(std::span(head.words).first(head.count)), again).has_value(),
         "what was decoded encodes");
  expect(again.opcode == message.opcode && again.length == message.length, "decode(encode(x)) is x");
}

}  // namespace

void run_input(Input bytes) {
  check_head(bytes);
  if (const auto offer = decode_offer(bytes)) {
    const auto again = decode_offer(encode_offer(*offer));
    expect(again && again->service_id == offer->service_id && again->private_data == offer->private_data,
           "an offer survives");
  }
  if (const auto notice = decode_refusal(bytes)) {
    const auto again = decode_refusal(encode_refusal(*notice));
    expect(again && again->reason == notice->reason && again->private_data == notice->private_data,
           "a refusal survives");
  }
  if (const auto code = decode_terminate(bytes)) {
    expect(decode_terminate(encode_terminate(*code)) == code, "a code survives");
  }
  if (bytes.size() >= kWordBytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    expect(pack(unpack(word)) == word, "a record's word survives");
  }
}

}  // namespace softdat::fuzz
