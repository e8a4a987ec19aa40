// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include "tools/softdat/capture/endpoint.h"
#include "tools/softdat/capture/keys.h"
#include "tools/softdat/capture/recording.h"
#include "tools/softdat/capture/replayed_program.h"
#include "tools/softdat/capture/script.h"
#include "tools/softdat/output.h"
#include "tools/softdat/run/environment.h"

namespace softdat::tools::capture {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kShownBytes = 8;

std::string hex(std::span<const std::byte> bytes, std::size_t at) {
  std::string text;
  for (std::size_t i = at; i < std::min(at + kShownBytes, bytes.size()); ++i) {
    text += fmt::format("{}{:02x}", i == at ? "" : " ", std::to_integer<unsigned>(bytes[i]));
  }
  return text.empty() ? "nothing" : text;
}

class Player {
 public:
  Player(const ReplayPlan& plan, const Connection& connection, const Script& script);
  void play();

 private:
  void watch();
  void begin();
  void put(const std::vector<Fill>& fills);
  void take_private_data(const Bytes& live);
  void do_ours(const Step& step);
  void take_theirs(const Step& step);
  void check_writes();
  bool check_write(const Step& step, std::string* words) const;
  void finish();
  void expect_same(const Message* message, const Bytes& expected, const Bytes& live, const std::string& what) const;

  const ReplayPlan& plan_;
  const Connection& connection_;
  const Script& script_;
  const std::uint64_t service_;
  perf::Adapter adapter_;
  std::map<std::uint32_t, std::unique_ptr<RegionAt>> regions_;
  Keys keys_;
  std::unique_ptr<ReplayedProgram> program_;
  Endpoint endpoint_;
  std::optional<Clock::time_point> ended_at_;  // the program
  std::vector<const Step*> writes_;            // of the program's, not compared yet
};

// Regions first: the program may reach them as soon as it is connected.
Player::Player(const ReplayPlan& plan, const Connection& connection, const Script& script)
    : plan_(plan),
      connection_(connection),
      script_(script),
      service_(plan.service != 0 ? plan.service : connection.service),
      adapter_("sim0"),
      keys_(script),
      endpoint_(adapter_, script.receives, script.longest, plan.patience_s, [this] { watch(); }) {
  for (const auto& [stag, region] : script.regions) {
    regions_[stag] = std::make_unique<RegionAt>(adapter_, region);
    keys_.set_own(stag, regions_[stag]->key());
  }
}

// Messages that the program sent before its end still arrive.
void Player::watch() {
  if (!program_ || !program_->has_ended()) return;
  if (!ended_at_) ended_at_ = Clock::now();
  if (Clock::now() - *ended_at_ < std::chrono::seconds(2)) return;
  throw Difference(fmt::format("the program ended with status {} before that", program_->status()));
}

void Player::put(const std::vector<Fill>& fills) {
  for (const Fill& fill : fills) {
    const auto to = regions_.at(fill.stag)->bytes(fill.address, fill.bytes.size());
    std::copy(fill.bytes.begin(), fill.bytes.end(), to.begin());
  }
}

void Player::expect_same(const Message* message, const Bytes& expected, const Bytes& live,
                         const std::string& what) const {
  const auto at = keys_.find_difference(message, expected, live);
  if (!at) return;
  const std::string sizes =
      expected.size() == live.size() ? "" : fmt::format(" ({} bytes expected, {} got)", expected.size(), live.size());
  throw Difference(fmt::format("{} differs at byte {}{}: expected {}, got {}", what, *at, sizes,
                               hex(keys_.with_own(expected), *at), hex(live, *at)));
}

void Player::take_private_data(const Bytes& live) {
  keys_.learn(nullptr, live);
  expect_same(nullptr, script_.private_data, live, "the private data of the program");
}

// A responder must listen before the program runs; an initiator tries again until the program listens.
void Player::begin() {
  const Bytes own = keys_.with_own(script_.own_private_data);
  put(script_.first_fills);
  if (!script_.is_initiator) {
    endpoint_.listen(service_);
    program_ = std::make_unique<ReplayedProgram>(plan_);
    take_private_data(endpoint_.await_request());
    return endpoint_.answer(own, connection_.is_rejected);
  }
  program_ = std::make_unique<ReplayedProgram>(plan_);
  const std::string address = plan_.environment.address.empty() ? "127.0.0.1" : plan_.environment.address;
  const auto answer = endpoint_.connect(address, service_, own);
  if (answer.has_value() == connection_.is_rejected) {
    throw Difference(connection_.is_rejected
                         ? "the program accepts the connection, which it rejected when it was recorded"
                         : "the program rejects the connection, which it accepted when it was recorded");
  }
  if (answer) take_private_data(*answer);
}

void Player::do_ours(const Step& step) {
  const Message& message = *step.message;
  put(step.fills);
  const std::string name = name_of(message);
  if (is_send(message.opcode)) {
    return endpoint_.send(keys_.with_own(message.bytes),
                          fmt::format("{}, a send of {} bytes to the program,", name, message.bytes.size()));
  }
  const std::uint32_t key = keys_.live_key(message.stag);
  const std::uint64_t address = keys_.live_address(message.stag, message.address);
  if (message.opcode == Opcode::kWrite) {
    return endpoint_.write(message.bytes, key, address,
                           fmt::format("{}, a write of {} bytes to the program,", name, message.bytes.size()));
  }
  const bool is_read = message.opcode == Opcode::kReadRequest;
  const std::string what = fmt::format("{}, {} of {} bytes of the program's,", name,
                                       is_read ? "a read" : "an atomic operation", message.length);
  const Bytes live =
      is_read ? endpoint_.read(message.length, key, address, what) : endpoint_.change(message, key, address, what);
  if (message.is_answered) expect_same(&message, message.bytes, live, what);
}

void Player::take_theirs(const Step& step) {
  const Message& message = *step.message;
  if (message.opcode == Opcode::kWrite) writes_.push_back(&step);
  if (!is_send(message.opcode)) return;
  const std::string what =
      fmt::format("{}, a send of {} bytes from the program,", name_of(message), message.bytes.size());
  const Bytes live = endpoint_.receive(what);
  keys_.learn(&message, live);
  expect_same(&message, message.bytes, live, what);
  // Writes before a send are complete when the send has arrived.
  check_writes();
}

// A write has no completion at its target, so the bytes are compared. False, with `words` if not null: bytes differ, or
// have not arrived yet.
bool Player::check_write(const Step& step, std::string* words) const {
  const Message& message = *step.message;
  const RegionAt& region = *regions_.at(message.stag);
  for (const Range& range : step.lasting) {
    const auto expected = std::span(message.bytes).subspan(range.at, range.length);
    const auto live = region.bytes(message.address + range.at, range.length);
    const auto at = keys_.find_difference(&message, expected, live);
    if (!at) continue;
    if (words != nullptr) {
      *words = fmt::format("{}, a write of {} bytes from the program, differs at byte {}: expected {}, got {}",
                           name_of(message), message.bytes.size(), range.at + *at, hex(expected, *at), hex(live, *at));
    }
    return false;
  }
  return true;
}

void Player::check_writes() {
  for (const Step* const step : writes_) {
    std::string words;
    if (!check_write(*step, &words)) throw Difference(words);
  }
  writes_.clear();
}

// Ends the connection if softdat's side ended it in the recording, and otherwise waits for the program to do so.
void Player::finish() {
  using End = Connection::End;
  const bool is_ours = connection_.end == End::kNone || (connection_.end == End::kByInitiator) == script_.is_initiator;
  if (is_ours && connection_.end != End::kBroken) {
    const auto end = Clock::now() + std::chrono::duration<double>(plan_.patience_s);
    const auto are_there = [&] {
      return std::all_of(writes_.begin(), writes_.end(), [&](const Step* step) { return check_write(*step, nullptr); });
    };
    while (!are_there() && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    check_writes();
    endpoint_.disconnect();
  } else {
    const bool is_orderly = endpoint_.await_disconnect();
    check_writes();
    if (!is_orderly && connection_.end != End::kBroken)
      throw Difference("the connection breaks, which ended in order when it was recorded");
  }
  if (endpoint_.has_more()) throw Difference("the program sends a message more than was recorded");
}

void Player::play() {
  begin();
  if (!connection_.is_rejected) {
    for (const Step& step : script_.steps) step.is_ours ? do_ours(step) : take_theirs(step);
    finish();
  }
  if (!program_->await_end(plan_.patience_s)) {
    print_warning("the program goes on after its connection; it is stopped");
    program_->stop();
    static_cast<void>(program_->await_end(plan_.patience_s));
    return;
  }
  if (program_->status() != 0) throw Difference(fmt::format("the program ended with status {}", program_->status()));
  program_->let_go();
}

const Connection& choose(const std::vector<Connection>& connections, const ReplayPlan& plan) {
  if (connections.empty()) throw Failure(fmt::format("\"{}\" has no connection", plan.file));
  if (plan.connection > connections.size()) {
    throw Failure(
        fmt::format("\"{}\" has no connection {}; allowed: 1 to {}", plan.file, plan.connection, connections.size()));
  }
  const Connection& chosen = connections[plan.connection - 1];
  const std::string name = fmt::format("connection {} of \"{}\" (packet {})", plan.connection, plan.file, chosen.frame);
  if (!chosen.is_answered) throw Failure(name + " was not answered; choose another one with --connection");
  if (!chosen.is_seen_whole) {
    throw Failure(name +
                  " was there before its capture began, so its private data are not known; choose another one with "
                  "--connection, or capture from the start with softdat run --capture");
  }
  return chosen;
}

// Our own adapter is the program's peer. It has no words of its own to tell beside ours.
void set_environment(const ReplayPlan& plan) {
  for (const auto& [name, value] : run::make_environment(plan.environment).set) {
    if (name.starts_with("SOFTDAT_") && name != "SOFTDAT_LOG") ::setenv(name.c_str(), value.c_str(), 1);
  }
}

}  // namespace

int replay(const ReplayPlan& plan) try {
  const std::vector<Connection> connections = read_recording(plan.file);
  const Connection& connection = choose(connections, plan);
  const Script script = make_script(connection, plan.side == "a");
  set_environment(plan);
  try {
    Player(plan, connection, script).play();
  } catch (const Difference& difference) {
    print_error(difference.what());
    return kExitFailure;
  }
  const std::size_t count = connection.messages.size();
  print_out(fmt::format("the program did as recorded: {} {}\n", count, count == 1 ? "message" : "messages"));
  return 0;
} catch (const std::bad_alloc&) {
  throw Failure(fmt::format("there is no memory to replay \"{}\"; capture a shorter run", plan.file));
}

}  // namespace softdat::tools::capture
