// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tools/softdat/capture/load_number.h"
#include "tools/softdat/dat_call.h"

namespace softdat::tools::capture {
namespace {

// The most bytes of all regions together: there is memory for each of them here, and for what is known of it.
constexpr std::uint64_t kMostReached = std::uint64_t{1} << 30;
// Addresses below cannot be mapped; they are offsets into regions that count from 0.
constexpr std::uint64_t kLeastAddress = 0x10000;
// So far below what is reached an address may be told.
constexpr std::uint64_t kReach = std::uint64_t{1} << 32;

// The memory of the played side, as far as the recording shows it.
class Memory {
 public:
  explicit Memory(const RecordedRegion& region)
      : begin_(region.begin), values_(region.length()), states_(values_.size()) {}

  // Bytes that the program writes are known from then on.
  void write(const Message& message) {
    for (std::size_t i = 0; i < message.bytes.size(); ++i) set(message.address + i, message.bytes[i]);
  }
  // The bytes that are not known to be there already. Afterwards they are.
  std::vector<Fill> expose(const Message& message) {
    std::vector<Fill> fills;
    for (std::size_t i = 0; i < message.bytes.size(); ++i) {
      const std::uint64_t address = message.address + i;
      if (is_known(address) && values_[address - begin_] == message.bytes[i]) continue;
      set(address, message.bytes[i]);
      if (fills.empty() || fills.back().address + fills.back().bytes.size() != address) {
        fills.push_back({.stag = message.stag, .address = address});
      }
      fills.back().bytes.push_back(message.bytes[i]);
    }
    return fills;
  }
  // Carries out the atomic as the adapter would; the recording has the value before it.
  void change(const Message& message) {
    std::uint64_t before = 0;
    if (message.bytes.size() != sizeof before) return;
    std::memcpy(&before, message.bytes.data(), sizeof before);
    const std::uint64_t swapped = before == message.compare ? message.operand : before;
    const std::uint64_t after = message.is_swap ? swapped : before + message.operand;
    for (std::size_t i = 0; i < sizeof after; ++i) {
      set(message.address + i, static_cast<std::byte>(after >> (8 * i) & 0xff));
    }
  }

 private:
  bool is_known(std::uint64_t address) const { return states_[address - begin_] != 0; }
  void set(std::uint64_t address, std::byte value) {
    values_[address - begin_] = value;
    states_[address - begin_] = 1;
  }

  const std::uint64_t begin_;
  std::vector<std::byte> values_;
  std::vector<std::uint8_t> states_;  // 1: known
};

class Maker {
 public:
  Maker(const Connection& connection, bool is_initiator) : connection_(connection) {
    script_.is_initiator = is_initiator;
    script_.own_private_data = is_initiator ? connection.request : connection.reply;
    script_.private_data = is_initiator ? connection.reply : connection.request;
  }
  Script make();

 private:
  bool is_ours(const Message& message) const { return message.is_from_initiator == script_.is_initiator; }
  void check(const Message& message) const;
  void find_regions();
  void add_steps();
  void add_fills(const Message& message, std::map<std::uint32_t, Memory>& memories);
  void mark_lasting();
  void find_told();
  std::optional<Place> find_key(std::uint32_t key, const Message& use) const;
  void find_address(ToldKey& told, std::uint64_t least) const;
  const Bytes& bytes_of(const Place& place) const;

  const Connection& connection_;
  Script script_{};
  std::optional<std::size_t> last_ours_{};  // of the steps so far
};

void Maker::check(const Message& message) const {
  if (!is_request(message.opcode) || message.opcode == Opcode::kSendInvalidate ||
      message.opcode == Opcode::kSendSolicitedInvalidate) {
    throw Failure(fmt::format("{} is {}, which is not replayed", name_of(message),
                              is_send(message.opcode) ? "a send with invalidate" : "immediate data"));
  }
  if (message.is_cut) {
    throw Failure(fmt::format(
        "the payload of {} was cut when it was captured; capture anew without --snap or --snaplen", name_of(message)));
  }
}

// The memory that the program reaches by each key, as far as the recording shows: its least and greatest address.
void Maker::find_regions() {
  std::uint64_t reached = 0;
  for (const Message& message : connection_.messages) {
    check(message);
    if (is_ours(message) || is_send(message.opcode)) continue;
    const std::uint64_t length = message.opcode == Opcode::kWrite ? message.bytes.size() : message.length;
    if (length == 0) continue;
    RecordedRegion& region = script_.regions[message.stag];
    if (message.address + length < message.address)
      throw Failure(fmt::format("{} goes beyond all memory", name_of(message)));
    if (region.end != 0) reached -= region.length();
    region.begin = std::min(region.begin, message.address < kLeastAddress ? 0 : message.address);
    region.end = std::max(region.end, message.address + length);
    if (region.length() > kMostReached - reached) {
      throw Failure(fmt::format("the program reaches {} bytes by key 0x{:x} and {} by others; at most {} are replayed",
                                region.length(), message.stag, reached, kMostReached));
    }
    reached += region.length();
  }
}

// What an answer shows must be there when the program asks, which softdat does not see. So it is put there before the
// last thing that softdat does before.
void Maker::add_fills(const Message& message, std::map<std::uint32_t, Memory>& memories) {
  const auto memory = memories.find(message.stag);
  if (memory == memories.end()) return;
  std::vector<Fill>& fills = last_ours_ ? script_.steps[*last_ours_].fills : script_.first_fills;
  for (Fill& fill : memory->second.expose(message)) fills.push_back(std::move(fill));
}

void Maker::add_steps() {
  std::map<std::uint32_t, Memory> memories;
  for (const auto& [stag, region] : script_.regions) memories.emplace(stag, region);
  for (const Message& message : connection_.messages) {
    const bool is_mine = is_ours(message);
    if (!is_mine && message.is_answered) add_fills(message, memories);
    if (!is_mine && !message.bytes.empty() && message.opcode == Opcode::kWrite)
      memories.at(message.stag).write(message);
    if (!is_mine && message.opcode == Opcode::kAtomicRequest) memories.at(message.stag).change(message);
    if (!is_mine && is_send(message.opcode)) {
      ++script_.receives;
      script_.longest = std::max(script_.longest, message.bytes.size());
    }
    if (is_mine) last_ours_ = script_.steps.size();
    script_.steps.push_back({.message = &message, .is_ours = is_mine});
  }
}

// Backwards: what something later writes is not compared.
void Maker::mark_lasting() {
  std::map<std::uint32_t, std::vector<bool>> later;
  for (const auto& [stag, region] : script_.regions) later[stag].resize(region.length());
  for (auto step = script_.steps.rbegin(); step != script_.steps.rend(); ++step) {
    for (const Fill& fill : step->fills) {
      const std::uint64_t at = fill.address - script_.regions[fill.stag].begin;
      for (std::size_t i = 0; i < fill.bytes.size(); ++i) later[fill.stag][at + i] = true;
    }
    const Message& message = *step->message;
    const bool is_atomic = message.opcode == Opcode::kAtomicRequest;
    if (step->is_ours || (message.opcode != Opcode::kWrite && !is_atomic) || !later.contains(message.stag)) continue;
    std::vector<bool>& written = later[message.stag];
    const std::uint64_t at = message.address - script_.regions[message.stag].begin;
    for (std::size_t i = 0; i < (is_atomic ? sizeof(std::uint64_t) : message.bytes.size()); ++i) {
      const bool is_lasting = !written[at + i] && !is_atomic;
      written[at + i] = true;
      if (!is_lasting) continue;
      auto& ranges = step->lasting;
      if (ranges.empty() || ranges.back().at + ranges.back().length != i) ranges.push_back({.at = i});
      ++ranges.back().length;
    }
  }
}

const Bytes& Maker::bytes_of(const Place& place) const {
  return place.message == nullptr ? script_.private_data : place.message->bytes;
}

// The first place where the program tells the key before it is used.
std::optional<Place> Maker::find_key(std::uint32_t key, const Message& use) const {
  std::vector<const Message*> sources{nullptr};
  for (const Step& step : script_.steps) {
    if (step.message == &use) break;
    if (!step.is_ours && is_send(step.message->opcode)) sources.push_back(step.message);
  }
  for (const Message* const source : sources) {
    const Bytes& bytes = bytes_of({.message = source});
    for (std::size_t at = 0; at + sizeof key <= bytes.size(); ++at) {
      for (const bool is_big_endian : {true, false}) {
        if (load<std::uint32_t>(bytes, at, is_big_endian) == key) {
          return Place{.message = source, .at = at, .is_big_endian = is_big_endian};
        }
      }
    }
  }
  return std::nullopt;
}

// Takes the largest address at or below the one that is used: programs tell the beginning of a buffer.
void Maker::find_address(ToldKey& told, std::uint64_t least) const {
  if (least < kLeastAddress) return;
  const Bytes& bytes = bytes_of(told.key);
  for (std::size_t at = 0; at + sizeof least <= bytes.size(); ++at) {
    if (at + sizeof least > told.key.at && at < told.key.at + sizeof(std::uint32_t)) continue;
    for (const bool is_big_endian : {true, false}) {
      const std::uint64_t value = *load<std::uint64_t>(bytes, at, is_big_endian);
      const bool fits = value >= kLeastAddress && value <= least && least - value < kReach;
      if (!fits || (told.address && value <= told.recorded_address)) continue;
      told.address = Place{.message = told.key.message, .at = at, .is_big_endian = is_big_endian};
      told.recorded_address = value;
    }
  }
}

// softdat's own reads and writes need keys of this run. Each must have been told before its first use.
void Maker::find_told() {
  std::map<std::uint32_t, std::uint64_t> least;
  for (const Message& message : connection_.messages) {
    if (!is_ours(message) || is_send(message.opcode)) continue;
    const auto [known, is_new] = least.emplace(message.stag, message.address);
    known->second = std::min(known->second, message.address);
    if (!is_new) continue;
    const auto place = find_key(message.stag, message);
    if (!place) {
      throw Failure(
          fmt::format("{} uses key 0x{:x}, which the program's side tells in no private data and no send before; "
                      "softdat cannot learn the key of this run",
                      name_of(message), message.stag));
    }
    script_.told[message.stag].key = *place;
  }
  for (const auto& [stag, address] : least) {
    ToldKey& told = script_.told[stag];
    find_address(told, address);
    if (told.address || address < kLeastAddress) continue;
    throw Failure(
        fmt::format("the program's side tells key 0x{:x} without an address at or below 0x{:x}; softdat cannot "
                    "learn the address of this run",
                    stag, address));
  }
}

Script Maker::make() {
  find_regions();
  add_steps();
  mark_lasting();
  find_told();
  return std::move(script_);
}

}  // namespace

std::string name_of(const Message& message) {
  return fmt::format("message {} (packet {})", message.number, message.frame);
}

Script make_script(const Connection& connection, bool is_initiator) {
  return Maker(connection, is_initiator).make();
}

}  // namespace softdat::tools::capture
