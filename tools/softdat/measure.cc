// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/measure.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace softdat::tools {
namespace {

constexpr std::array kOperations{Operation::kSend, Operation::kWrite, Operation::kRead};
constexpr int kWindow = 16;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int rounds_of(std::size_t size) {
  return size <= 4096 ? 2000 : size <= 65536 ? 400 : 60;
}
int messages_of(std::size_t size) {
  return size <= 4096 ? 8192 : size <= 65536 ? 2048 : 256;
}

// Watches the last byte until the peer's write has put `expected` there.
void watch_tail(Peer& peer, std::size_t size, std::uint8_t expected) {
  volatile std::uint8_t& tail = peer.data()[size - 1];
  for (std::size_t looks = 1; tail != expected; ++looks) {
    if (looks % 10'000'000 == 0) peer.check_connected();
  }
}

// One message each way, so that both sides begin and end a measurement together. `receives` of
// `size` are posted behind the receive that the peer's message takes, ready for what comes next.
void meet(Peer& peer, int receives = 0, std::size_t size = 0) {
  peer.post_recv(1);
  for (int i = 0; i < receives; ++i) peer.post_recv(size);
  peer.post_send(1);
  peer.finish_request();
  peer.finish_recv();
}

void ping_send(Peer& peer, std::size_t size, int rounds, bool leads) {
  for (int i = 0; i < rounds; ++i) {
    if (leads) peer.post_send(size);
    peer.finish_recv();
    if (i + 1 < rounds) peer.post_recv(size);
    if (!leads) peer.post_send(size);
    peer.finish_request();
  }
}

void ping_write(Peer& peer, std::size_t size, int rounds, bool leads) {
  for (int i = 0; i < rounds; ++i) {
    // Leader and follower mark their turns differently, so that neither takes its own outgoing byte
    // for an arrival.
    const auto mark = static_cast<std::uint8_t>(2 * (i % 100) + 1);
    const auto answer = static_cast<std::uint8_t>(mark + 1);
    if (!leads) watch_tail(peer, size, mark);
    peer.data()[size - 1] = leads ? mark : answer;
    peer.post_write(size);
    if (leads) watch_tail(peer, size, answer);
    peer.finish_request();
  }
}

void repeat_read(Peer& peer, std::size_t size, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    peer.post_read(size);
    peer.finish_request();
  }
}

double measure_latency(Peer& peer, Operation operation, std::size_t size) {
  const int rounds = rounds_of(size);
  peer.data()[size - 1] = 0;
  meet(peer, operation == Operation::kSend ? 1 : 0, size);
  const auto start = Clock::now();
  if (operation == Operation::kSend) ping_send(peer, size, rounds, true);
  if (operation == Operation::kWrite) ping_write(peer, size, rounds, true);
  if (operation == Operation::kRead) repeat_read(peer, size, rounds);
  const double per_round = seconds_since(start) * 1e6 / rounds;
  meet(peer);
  return operation == Operation::kRead ? per_round : per_round / 2;
}

void serve_latency(Peer& peer, Operation operation, std::size_t size) {
  const int rounds = rounds_of(size);
  peer.data()[size - 1] = 0;
  meet(peer, operation == Operation::kSend ? 1 : 0, size);
  if (operation == Operation::kSend) ping_send(peer, size, rounds, false);
  if (operation == Operation::kWrite) ping_write(peer, size, rounds, false);
  meet(peer);
}

void post(Peer& peer, Operation operation, std::size_t size) {
  switch (operation) {
    case Operation::kSend:
      return peer.post_send(size);
    case Operation::kWrite:
      return peer.post_write(size);
    case Operation::kRead:
      return peer.post_read(size);
  }
}

double measure_bandwidth(Peer& peer, Operation operation, std::size_t size) {
  const int messages = messages_of(size);
  meet(peer);
  const auto start = Clock::now();
  for (int i = 0; i < messages; ++i) {
    if (i >= kWindow) peer.finish_request();
    post(peer, operation, size);
  }
  for (int i = 0; i < std::min(kWindow, messages); ++i) peer.finish_request();
  const double bytes = static_cast<double>(size) * messages;
  const double rate = bytes / seconds_since(start) / 1e6;
  meet(peer);
  return rate;
}

void serve_bandwidth(Peer& peer, Operation operation, std::size_t size) {
  const int messages = operation == Operation::kSend ? messages_of(size) : 0;
  meet(peer, std::min(2 * kWindow, messages), size);
  for (int i = 0; i < messages; ++i) {
    peer.finish_recv();
    if (i + 2 * kWindow < messages) peer.post_recv(size);
  }
  meet(peer);
}

}  // namespace

std::string_view to_text(Operation operation) {
  switch (operation) {
    case Operation::kSend:
      return "send";
    case Operation::kWrite:
      return "write";
    case Operation::kRead:
      return "read";
  }
  return "?";
}

std::vector<std::size_t> measured_sizes() {
  return {8, 4096, 65536, std::size_t{1} << 20};
}

void measure_all(Peer& peer, const std::function<void(const Measurement&)>& on_result) {
  for (const Operation operation : kOperations) {
    for (const std::size_t size : measured_sizes()) {
      const double latency = measure_latency(peer, operation, size);
      const double bandwidth = measure_bandwidth(peer, operation, size);
      on_result({operation, size, latency, bandwidth});
    }
  }
}

void serve_all(Peer& peer) {
  for (const Operation operation : kOperations) {
    for (const std::size_t size : measured_sizes()) {
      serve_latency(peer, operation, size);
      serve_bandwidth(peer, operation, size);
    }
  }
}

}  // namespace softdat::tools
