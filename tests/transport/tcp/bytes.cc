// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/tcp/bytes.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/byte_order.h"
#include "transport/tcp/crc32c.h"
#include "transport/tcp/fpdu.h"

namespace softdat::transport::tcp {

Bytes hex(std::string_view text) {
  Bytes bytes;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
    } else if (text[i] == '\'') {
      for (++i; text[i] != '\''; ++i) bytes.push_back(static_cast<std::byte>(text[i]));
      ++i;
    } else {
      const std::string pair(text.substr(i, 2));
      bytes.push_back(static_cast<std::byte>(std::strtoul(pair.c_str(), nullptr, 16)));
      i += 2;
    }
  }
  return bytes;
}

std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  char pair[4];
  for (const std::byte byte : bytes) {
    std::snprintf(pair, sizeof pair, "%02x ", std::to_integer<unsigned>(byte));
    text += pair;
  }
  if (!text.empty()) text.pop_back();
  return text;
}

Bytes operator+(const Bytes& a, const Bytes& b) {
  Bytes sum = a;
  sum.insert(sum.end(), b.begin(), b.end());
  return sum;
}

Bytes make_fpdu(const Segment& segment, const Bytes& rest, bool has_crc) {
  Bytes head(kUntaggedHeadSize);
  head.resize(encode_segment(segment, head.data()));
  const Bytes ulpdu = head + rest;
  Bytes fpdu(fpdu_size(ulpdu.size()));
  base::store_be(fpdu.data(), static_cast<std::uint16_t>(ulpdu.size()));
  std::copy(ulpdu.begin(), ulpdu.end(), fpdu.begin() + 2);
  const std::uint32_t crc = has_crc ? crc32c(0, std::span(fpdu).first(fpdu.size() - 4)) : 0;
  for (std::size_t i = 0; i < 4; ++i) fpdu[fpdu.size() - 4 + i] = static_cast<std::byte>(crc >> (8 * i));
  return fpdu;
}

}  // namespace softdat::transport::tcp
