// SPDX-License-Identifier: BSD-2-Clause
// The block in the MPA private data (docs/WIRE.md). Its check would stop nearly every mutation, so the input is tried
// with its last four bytes replaced by the right check too.
#include <vector>

#include "base/byte_order.h"
#include "tests/fuzz/fuzz.h"
#include "transport/tcp/crc32c.h"
#include "transport/tcp/private_block.h"

namespace softdat::fuzz {
namespace {

using namespace softdat::transport::tcp;

void check_one(std::span<const std::byte> bytes) {
  const auto block = decode_private_data(bytes);
  if (!block) return;
  expect(block->offer.private_data.size() + kPrivateBlockSize == bytes.size(), "all bytes are accounted for");
  if (block->offer.private_data.size() > softdat::transport::kMaxPrivateData) return;  // we never send so much
  const auto again = decode_private_data(encode_private_data(*block));
  expect(again.has_value(), "what was decoded encodes");
  expect(again->offer.service_id == block->offer.service_id && again->offer.features == block->offer.features &&
             again->offer.private_data == block->offer.private_data && again->verdict == block->verdict,
         "decode(encode(x)) is x");
}

}  // namespace

void run_input(Input bytes) {
  check_one(bytes);
  if (bytes.size() < kPrivateBlockSize || bytes.size() > 0xffff) return;
  std::vector<std::byte> mended(bytes.begin(), bytes.end());
  const auto before = std::span(mended).first(bytes.size() - 4);
  softdat::base::store_be(mended.data() + bytes.size() - 4, crc32c(0, before));
  check_one(mended);
}

}  // namespace softdat::fuzz
