// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/figures.h"
#include "tools/softdat/perf/churn.h"
#include "tools/softdat/perf/machine.h"
#include "tools/softdat/perf/ping_pong.h"
#include "tools/softdat/perf/registrations.h"
#include "tools/softdat/perf/streams.h"
#include "tools/softdat/perf/ticks.h"

namespace softdat::tools::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMostSamples = 4'000'000;
constexpr std::uint64_t kMostMessages = 200'000'000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool takes_samples(const Case& what) {
  return what.measure == Measure::kLatency || what.measure == Measure::kCompletion;
}

// A few, to learn how long one takes.
std::uint64_t first_guess(const Case& what) {
  if (takes_samples(what) || what.measure == Measure::kConnect) return 32;
  return std::max<std::uint64_t>(2 * what.window, 64);
}

std::uint64_t count_for(double seconds, double each, const Case& what) {
  const std::uint64_t most = takes_samples(what) ? kMostSamples : kMostMessages;
  const double count = std::ceil(seconds / std::max(each, 1e-9));
  return static_cast<std::uint64_t>(std::clamp(count, 16.0, static_cast<double>(most)));
}

// In order, one a line.
std::string text_of(const Samples& samples, double unit_us) {
  std::string text;
  for (const std::uint32_t sample : samples) text += fmt::format("{:.3f}\n", sample * unit_us);
  return text;
}

}  // namespace

Client::Client(const Job& job) : job_(job), adapter_(job.ia), control_(adapter_) {
  resolve(job.host);
  auto* const address = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address_);
  control_.connect(address, job.qual);
  connect_lanes();
}

void Client::resolve(const std::string& host) {
  if (host.empty()) {
    const bool is_ipv6 = adapter_.address()->sa_family == AF_INET6;
    std::memcpy(&address_, adapter_.address(), is_ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    return;
  }
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string bare = has_brackets ? host.substr(1, host.size() - 2) : host;
  // A name that has addresses of both families means the adapter's; a number means what it is.
  in6_addr number;
  addrinfo hints{};
  hints.ai_family = adapter_.address()->sa_family;
  if (bare.find(':') != std::string::npos) hints.ai_family = AF_INET6;
  if (::inet_pton(AF_INET, bare.c_str(), &number) == 1) hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(bare.c_str(), nullptr, &hints, &found); error != 0) {
    throw Failure(fmt::format("the host \"{}\": {}", host, ::gai_strerror(error)));
  }
  std::memcpy(&address_, found->ai_addr, std::min<std::size_t>(found->ai_addrlen, sizeof address_));
  ::freeaddrinfo(found);
}

void Client::connect_lanes() {
  const double bytes = memory_bytes();
  const double files = open_files();
  double buffers = 0;
  for (std::uint32_t i = 0; i < job_.setup.threads; ++i) {
    connect_thread();
    buffers += static_cast<double>(lanes_.back()->places().memory().size());
  }
  // Leaves the cost of the endpoints, without the memory of the messages.
  const double endpoints = job_.setup.endpoints * job_.setup.threads;
  bytes_per_endpoint_ = (memory_bytes() - bytes - buffers) / endpoints;
  files_per_endpoint_ = (open_files() - files) / endpoints;
}

// Both sides make their endpoints, the client tells the setup first. The hello that comes back has the server's memory.
void Client::connect_thread() {
  Lanes& lanes = *lanes_.emplace_back(std::make_unique<Lanes>(adapter_, job_.setup));
  control_.send(encode(Hello{job_.setup, lanes.places().memory().remote()}));
  (void)control_.receive();
  lanes.connect(reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address_), job_.qual, control_.checker());
  control_.send(encode(Report{}));
  lanes.set_remote(decode_hello(control_.receive()).memory);
}

void Client::finish() {
  control_.send(kBye);
  control_.disconnect();
}

Result Client::measure(const Case& what) {
  if (has_traffic(what.measure)) {
    Result result;
    result.what = what;
    result.unavailable = adapter_.refusal(what.operation);
    return result.unavailable.empty() ? measure_long_enough(what) : result;
  }
  return what.measure == Measure::kConnect ? measure_long_enough(what) : measure_once(what);
}

Result Client::measure_long_enough(const Case& what) {
  constexpr int kTries = 6;
  Case trial = what;
  trial.iterations = std::min(first_guess(what), what.iterations == 0 ? kMostMessages : what.iterations);
  Result result = measure_once(trial);
  if (what.iterations != 0) return measure_once(what);
  // The trial says how long a round takes. What disturbs a trial makes the next measurement too short, so that one is
  // looked at as well.
  double share = 0.1;
  for (int i = 0; i < kTries && (i == 0 || result.seconds < what.duration_s / 2); ++i, share = 1) {
    const double each = result.seconds * job_.setup.threads / static_cast<double>(result.iterations);
    trial.iterations = std::max(first_guess(what), count_for(share * what.duration_s, each, what));
    result = measure_once(trial);
    if (result.iterations < trial.iterations) break;  // there cannot be more
  }
  // So few rounds are then all there are, which no longer duration would change.
  result.what.iterations = result.iterations < trial.iterations ? result.iterations : what.iterations;
  return result;
}

// The server is told the case and answers when it is ready; after the rounds it is told the end.
Result Client::measure_once(const Case& what) {
  Result result;
  result.what = what;
  result.iterations = what.iterations;
  run(what, result);
  return result;
}

void Client::run(const Case& what, Result& result) {
  switch (what.measure) {
    case Measure::kLatency:
    case Measure::kCompletion:
      return measure_latency(what, result);
    case Measure::kBandwidth:
    case Measure::kRate:
    case Measure::kBidirectional:
      return measure_stream(what, result);
    case Measure::kRegister:
      return measure_registrations(what, result);
    case Measure::kConnect:
      return measure_connect(what, result);
    case Measure::kMemory:
      return tell_memory(what, result);
    case Measure::kIdle:
      return measure_idle(what, result);
    case Measure::kOpen:
      return measure_open(what, result);
    case Measure::kPoll:
      return measure_poll(what, result);
  }
}

void Client::measure_latency(const Case& what, Result& result) {
  const bool is_ping_pong = what.measure == Measure::kLatency && has_ping_pong(what.operation);
  PingPong ping_pong(*lanes_.front(), what, control_.checker());
  if (is_ping_pong) ping_pong.prepare();
  Samples samples;
  samples.reserve(what.iterations);
  for (std::uint32_t lane = 0; lane < job_.setup.active; ++lane) lanes_.front()->places().word(lane) = 0;
  begin(what);
  const auto start = Clock::now();
  if (is_ping_pong) {
    ping_pong.lead(samples);
  } else {
    complete_singly(*lanes_.front(), what, control_.checker(), samples);
  }
  result.seconds = seconds_since(start);
  (void)end();
  // A ping-pong is timed by the round trip, and a latency is half of it.
  const double unit_us = Ticks::instance().unit_us() / (is_ping_pong ? 2 : 1);
  if (!job_.samples.empty()) write_file(job_.samples, text_of(samples, unit_us));
  summarize(samples, unit_us, result);
}

void Client::measure_stream(const Case& what, Result& result) {
  const bool both = what.measure == Measure::kBidirectional;
  Streams streams(lanes_, what, {.sends = true, .receives = both}, control_.checker());
  streams.prepare();
  begin(what);
  const auto start = Clock::now();
  streams.run();
  result.seconds = seconds_since(start);
  const Report report = end();
  result.iterations = what.iterations * lanes_.size();
  // Both directions add up; one way the report has 0.
  result.messages_per_s = static_cast<double>(result.iterations) / result.seconds + report.messages_per_s;
  result.megabytes_per_s = result.messages_per_s * static_cast<double>(what.size) * 1e-6;
}

void Client::measure_registrations(const Case& what, Result& result) {
  Registrations registrations(adapter_, *lanes_.front(), what, control_.checker());
  begin(what);
  const auto start = Clock::now();
  registrations.run();
  result.seconds = seconds_since(start);
  (void)end();
  result.iterations = registrations.count();
  result.messages_per_s = static_cast<double>(result.iterations) / result.seconds;
  result.megabytes_per_s = result.messages_per_s * static_cast<double>(what.size) * 1e-6;
}

void Client::measure_connect(const Case& what, Result& result) {
  EventQueue queue(adapter_, static_cast<DAT_COUNT>(4 * what.window), DAT_EVD_CONNECTION_FLAG);
  Churn churn(adapter_, queue, static_cast<DAT_COUNT>(job_.setup.depth), job_.setup.waiting, control_.checker());
  begin(what);
  const auto start = Clock::now();
  churn.connect(reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address_), job_.qual, what.iterations, what.window);
  result.seconds = seconds_since(start);
  (void)end();
  result.figures[kConnectionRate] = static_cast<double>(what.iterations) / result.seconds;
}

void Client::measure_idle(const Case& what, Result& result) {
  begin(what);
  const ProcessorUse before = processor_use();
  // Sleeps outside the library: an idle program polls nothing.
  const auto start = Clock::now();
  const double whole = std::floor(what.duration_s);
  const timespec rest{static_cast<time_t>(whole), static_cast<long>((what.duration_s - whole) * 1e9)};
  ::nanosleep(&rest, nullptr);
  const ProcessorUse after = processor_use();
  result.seconds = seconds_since(start);
  const Report report = end();
  const double used = after.seconds - before.seconds + report.cpu_seconds;
  const double switches = after.context_switches - before.context_switches + report.context_switches;
  result.figures["cpu_percent"] = 100 * used / result.seconds;
  result.figures["context_switches_per_s"] = switches / result.seconds;
}

void Client::measure_open(const Case&, Result& result) {
  constexpr int kMore = 20;
  result.figures["first_open_us"] = adapter_.open_us();
  double sum = 0;
  for (int i = 0; i < kMore; ++i) sum += Adapter(job_.ia).open_us();
  result.figures["later_open_us"] = sum / kMore;
  result.iterations = kMore + 1;
}

void Client::measure_poll(const Case& what, Result& result) {
  result.iterations = what.iterations != 0 ? what.iterations : 1'000'000;
  DAT_EVENT event;
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < result.iterations; ++i) {
    if (lanes_.front()->receives().try_take(event)) throw Failure("an event came that nobody sent");
  }
  result.seconds = seconds_since(start);
  result.figures["empty_poll_ns"] = result.seconds * 1e9 / static_cast<double>(result.iterations);
}

void Client::tell_memory(const Case& what, Result& result) {
  begin(what);
  const Report report = end();
  // Both sides have one end of each connection.
  result.figures["bytes_per_endpoint"] = (bytes_per_endpoint_ + report.bytes_per_endpoint) / 2;
  result.figures["files_per_endpoint"] = (files_per_endpoint_ + report.files_per_endpoint) / 2;
}

void Client::begin(const Case& what) {
  control_.send(encode(what));
  (void)decode_report(control_.receive());
}

Report Client::end() {
  control_.send(encode(Report{}));
  return decode_report(control_.receive());
}

}  // namespace softdat::tools::perf
