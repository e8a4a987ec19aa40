// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/server.h"

#include <fmt/format.h>

#include <chrono>

#include "tools/softdat/address.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/churn.h"
#include "tools/softdat/perf/machine.h"
#include "tools/softdat/perf/ping_pong.h"
#include "tools/softdat/perf/streams.h"

namespace softdat::tools::perf {
namespace {

constexpr DAT_COUNT kMostRequests = 4096;

}  // namespace

Server::Server(const Job& job)
    : adapter_(job.ia),
      control_(adapter_),
      requests_(adapter_, kMostRequests, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG) {
  const DAT_RETURN listening =
      dat_psp_create(adapter_.ia(), job.qual, requests_.handle(), DAT_PSP_CONSUMER_FLAG, &psp_);
  if (DAT_GET_TYPE(listening) == DAT_CONN_QUAL_IN_USE) {
    throw Failure(fmt::format("--port \"{}\" is taken on \"{}\"; choose another", job.qual, job.ia));
  }
  require(listening, "dat_psp_create");
}

// Control texts alternate: each side answers before it is told more (Client::connect_lanes, begin and end).
void Server::serve(const std::function<void(const std::string& address)>& on_listening) {
  on_listening(address_text(adapter_.address()));
  accept();
  accept_lanes();
  for (;;) {
    const std::string text = control_.receive();
    if (text == kBye) break;
    control_.send(encode(serve_case(decode_case(text, setup_))));
  }
  control_.await_disconnect();
}

void Server::accept() {
  DAT_EVENT event;
  // However long it takes until the user starts the other side.
  requests_.take(
      Waiting::kBlock, [] {}, event);
  control_.accept(event.event_data.cr_arrival_event_data.cr_handle);
}

// Each thread of the client says hello, and the first one says how many there are.
void Server::accept_lanes() {
  const Hello first = decode_hello(control_.receive());
  setup_ = first.setup;
  const double bytes = memory_bytes();
  const double files = open_files();
  double buffers = 0;
  accept_thread(first);
  while (lanes_.size() < setup_.threads) accept_thread(decode_hello(control_.receive()));
  for (const auto& lanes : lanes_) buffers += static_cast<double>(lanes->places().memory().size());
  const double endpoints = setup_.endpoints * setup_.threads;
  memory_.bytes_per_endpoint = (memory_bytes() - bytes - buffers) / endpoints;
  memory_.files_per_endpoint = (open_files() - files) / endpoints;
}

void Server::accept_thread(const Hello& hello) {
  Lanes& lanes = *lanes_.emplace_back(std::make_unique<Lanes>(adapter_, setup_));
  lanes.set_remote(hello.memory);
  control_.send(encode(Report{}));
  lanes.accept(requests_, control_.checker());
  (void)control_.receive();
  control_.send(encode(Hello{setup_, lanes.places().memory().remote()}));
}

Report Server::serve_case(const Case& what) {
  Report report = memory_;
  switch (what.measure) {
    case Measure::kLatency:
    case Measure::kCompletion:
      serve_latency(what);
      break;
    case Measure::kBandwidth:
    case Measure::kRate:
    case Measure::kBidirectional:
      serve_stream(what, report);
      break;
    case Measure::kConnect:
      serve_connect(what);
      break;
    case Measure::kIdle:
      serve_idle(report);
      break;
    case Measure::kRegister:
    case Measure::kMemory:
    case Measure::kOpen:
    case Measure::kPoll:
      say_ready();
      be_target();
      break;
  }
  return report;
}

void Server::say_ready() {
  control_.send(encode(Report{}));
}

void Server::be_target() {
  (void)control_.receive(setup_.target);
}

void Server::serve_latency(const Case& what) {
  const bool is_ping_pong = what.measure == Measure::kLatency && has_ping_pong(what.operation);
  PingPong ping_pong(*lanes_.front(), what, control_.checker());
  Checker(*lanes_.front()).write_all_outgoing(what.size);
  for (std::uint32_t lane = 0; lane < setup_.active; ++lane) lanes_.front()->places().word(lane) = 0;
  if (is_ping_pong) ping_pong.prepare();
  say_ready();
  if (is_ping_pong) ping_pong.follow();
  be_target();
}

// The bytes are looked at when the client has told the end: then its writes have completed.
void Server::serve_stream(const Case& what, Report& report) {
  using Clock = std::chrono::steady_clock;
  const bool both = what.measure == Measure::kBidirectional;
  Streams streams(lanes_, what, {.sends = both, .receives = true}, control_.checker());
  streams.prepare();
  say_ready();
  const auto start = Clock::now();
  streams.run();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (both) report.messages_per_s = static_cast<double>(what.iterations * lanes_.size()) / seconds;
  be_target();
  if (!fetches(what.operation)) streams.look_at_last();
}

void Server::serve_connect(const Case& what) {
  Churn churn(adapter_, requests_, static_cast<DAT_COUNT>(setup_.depth), setup_.waiting, control_.checker());
  say_ready();
  churn.accept(what.iterations);
  be_target();
}

void Server::serve_idle(Report& report) {
  say_ready();
  const ProcessorUse before = processor_use();
  (void)control_.receive(Target::kWait);
  const ProcessorUse after = processor_use();
  report.cpu_seconds = after.seconds - before.seconds;
  report.context_switches = after.context_switches - before.context_switches;
}

}  // namespace softdat::tools::perf
