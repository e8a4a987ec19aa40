// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/names.h"

#include <fmt/format.h>

namespace softdat::tools::observe {
namespace {

constexpr std::size_t kPostRecv = 2;
constexpr std::size_t kFirstReceived = 8;
constexpr std::size_t kBind = 12;
constexpr std::uint32_t kConnected = 9;

// In the order of their numbers; the gaps are states that SoftDAT does not have.
constexpr std::array<const char*, 13> kStates{
    "unconnected",   nullptr,          "reserved",          nullptr, "passive_pending",
    nullptr,         "active_pending", "tentative",         nullptr, "connected",
    "disconnecting", "disconnected",   "completion_pending"};

constexpr std::pair<std::uint32_t, const char*> kStreams[] = {
    {0x001, "software"}, {0x010, "request"}, {0x020, "dto"}, {0x040, "connection"}, {0x080, "rmr"}, {0x100, "async"}};

enum class Side { kRequests, kReceived };
constexpr bool is_of(std::size_t transfer, Side side) {
  if (transfer == kPostRecv) return false;
  const bool is_received = transfer >= kFirstReceived && transfer != kBind;
  return is_received == (side == Side::kReceived);
}

std::uint64_t sum_of(const base::CountedTransfers& transfers, Side side, std::uint64_t base::CountedTransfer::*what) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (is_of(i, side)) sum += transfers[i].*what;
  }
  return sum;
}

}  // namespace

std::string state_name(std::uint32_t state) {
  return state < kStates.size() && kStates[state] != nullptr ? kStates[state] : "unknown";
}

bool is_connected(std::uint32_t state) {
  return state == kConnected;
}

std::string id_text(std::uint64_t id) {
  return fmt::format("{:#x}", id);
}

std::string streams_text(std::uint32_t streams) {
  std::string text;
  for (const auto& [bit, name] : kStreams) {
    if ((streams & bit) != 0) text += (text.empty() ? "" : ",") + std::string(name);
  }
  return text;
}

std::uint64_t requests(const base::CountedTransfers& transfers) {
  return sum_of(transfers, Side::kRequests, &base::CountedTransfer::number);
}
std::uint64_t request_bytes(const base::CountedTransfers& transfers) {
  return sum_of(transfers, Side::kRequests, &base::CountedTransfer::bytes);
}
std::uint64_t received(const base::CountedTransfers& transfers) {
  return sum_of(transfers, Side::kReceived, &base::CountedTransfer::number);
}
std::uint64_t received_bytes(const base::CountedTransfers& transfers) {
  return sum_of(transfers, Side::kReceived, &base::CountedTransfer::bytes);
}

std::uint64_t failures(const base::EndpointSums& sums) {
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < base::kCountedStatuses; ++i) {
    if (i != kFlushed) sum += sums.failed_requests[i] + sums.failed_receives[i];
  }
  return sum;
}

}  // namespace softdat::tools::observe
