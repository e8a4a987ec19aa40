// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/snapshot.h"

#include <algorithm>
#include <cstring>

namespace softdat::tools::observe {
namespace {

using base::RecordHead;
using base::RecordKind;

template <typename Record>
bool read(std::span<const std::byte> body, Record& record) {
  if (body.size() != sizeof record) return false;
  std::memcpy(&record, body.data(), sizeof record);
  return true;
}

template <typename Record>
bool append(std::span<const std::byte> body, std::vector<Record>& records) {
  Record record;
  if (!read(body, record)) return false;
  records.push_back(record);
  return true;
}

bool take(RecordKind kind, std::span<const std::byte> body, Snapshot& snapshot) {
  switch (kind) {
    case RecordKind::kProcess: {
      base::ProcessRecord process;
      if (!read(body, process)) return false;
      snapshot.sums = process.sums;
      return true;
    }
    case RecordKind::kIa:
      return append(body, snapshot.ias);
    case RecordKind::kEp:
      return append(body, snapshot.eps);
    case RecordKind::kEvd:
      return append(body, snapshot.evds);
    case RecordKind::kSrq:
      return append(body, snapshot.srqs);
    case RecordKind::kLmr:
      return append(body, snapshot.lmrs);
    case RecordKind::kFailure:
      return append(body, snapshot.failures);
  }
  // A kind that is not known here is passed over; its length is in its head.
  return true;
}

bool is_plain(char letter) {
  return letter >= ' ' && letter <= '~';
}

}  // namespace

std::optional<Snapshot> decode(std::span<const std::byte> bytes) {
  Snapshot snapshot;
  if (bytes.size() < sizeof snapshot.head) return std::nullopt;
  std::memcpy(&snapshot.head, bytes.data(), sizeof snapshot.head);
  if (snapshot.head.bytes < sizeof snapshot.head || snapshot.head.bytes > bytes.size()) return std::nullopt;
  auto rest = bytes.subspan(sizeof snapshot.head, snapshot.head.bytes - sizeof snapshot.head);
  while (!rest.empty()) {
    RecordHead head;
    if (rest.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, rest.data(), sizeof head);
    if (head.bytes < sizeof head || head.bytes % 8 != 0 || head.bytes > rest.size()) return std::nullopt;
    const auto body = rest.subspan(sizeof head, head.bytes - sizeof head);
    if (!take(static_cast<RecordKind>(head.kind), body, snapshot)) return std::nullopt;
    rest = rest.subspan(head.bytes);
  }
  return snapshot;
}

std::string printable(std::string_view text) {
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(), [](char letter) { return !is_plain(letter); }, '?');
  return result;
}

double seconds(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) * 1e-9 : 0;
}

std::uint64_t registered_bytes(const Snapshot& snapshot) {
  std::uint64_t sum = 0;
  for (const base::LmrRecord& lmr : snapshot.lmrs) sum += lmr.bytes;
  return sum;
}

}  // namespace softdat::tools::observe
