// SPDX-License-Identifier: BSD-2-Clause
// The connection on which both sides agree what to do: one endpoint of its own, one text at a time, the sides taking
// turns, the client first. So the endpoints that are measured carry nothing else.
#pragma once

#include <dat2/udat.h>

#include <string>

#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/event_queue.h"

namespace softdat::tools::perf {

class Control {
 public:
  explicit Control(const Adapter& adapter);

  // The client's side; Failure when nobody answers.
  void connect(DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual);
  // The server's side, with a request that came to its service point.
  void accept(DAT_CR_HANDLE request);

  void send(const std::string& text);
  // Waits as `target` says; Target::kSleep never calls the library meanwhile.
  std::string receive(Target target = Target::kWait);

  // Failure when the connection has ended.
  void check() const;
  LivenessCheck checker() const {
    return [this] { check(); };
  }

  void disconnect();
  // Waits until the other side has disconnected.
  void await_disconnect();

 private:
  void post_receive();
  void await_established();
  void sleep_until_text();

  Region memory_;  // incoming text, outgoing text
  EventQueue requests_;
  EventQueue receives_;
  EventQueue connections_;
  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
};

}  // namespace softdat::tools::perf
