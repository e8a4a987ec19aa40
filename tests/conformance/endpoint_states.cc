// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/endpoint_states.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>

#include <cstring>
#include <string>

namespace softdat::conformance {

const char* name_of(DAT_EP_STATE state) {
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
      return "UNCONNECTED";
    case DAT_EP_STATE_RESERVED:
      return "RESERVED";
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      return "PASSIVE_CONNECTION_PENDING";
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
      return "TENTATIVE_CONNECTION_PENDING";
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
      return "ACTIVE_CONNECTION_PENDING";
    case DAT_EP_STATE_COMPLETION_PENDING:
      return "COMPLETION_PENDING";
    case DAT_EP_STATE_CONNECTED:
      return "CONNECTED";
    case DAT_EP_STATE_DISCONNECT_PENDING:
      return "DISCONNECT_PENDING";
    case DAT_EP_STATE_DISCONNECTED:
      return "DISCONNECTED";
    default:
      return "?";
  }
}

Lack lack_of_state(DAT_EP_STATE state) {
  if (state == DAT_EP_STATE_DISCONNECT_PENDING) return lack_of_waiting_sends();
  if (state == DAT_EP_STATE_COMPLETION_PENDING) {
    const Lack lack = lack_of_confirmations();
    return lack.empty() ? lack_of_other_processes() : lack;
  }
  return {};
}

DAT_RETURN_SUBTYPE subtype_of(DAT_EP_STATE state) {
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
      return DAT_INVALID_STATE_EP_UNCONNECTED;
    case DAT_EP_STATE_RESERVED:
      return DAT_INVALID_STATE_EP_RESERVED;
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      return DAT_INVALID_STATE_EP_PASSCONNPENDING;
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
      return DAT_INVALID_STATE_EP_TENTCONNPENDING;
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
      return DAT_INVALID_STATE_EP_ACTCONNPENDING;
    case DAT_EP_STATE_COMPLETION_PENDING:
      return DAT_INVALID_STATE_EP_COMPLPENDING;
    case DAT_EP_STATE_CONNECTED:
      return DAT_INVALID_STATE_EP_CONNECTED;
    case DAT_EP_STATE_DISCONNECT_PENDING:
      return DAT_INVALID_STATE_EP_DISCPENDING;
    case DAT_EP_STATE_DISCONNECTED:
      return DAT_INVALID_STATE_EP_DISCONNECTED;
    default:
      return DAT_INVALID_STATE_EP_NOTREADY;
  }
}

EndpointInState::EndpointInState(DAT_EP_STATE state) : ep_(owner_.ep) {
  switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
      break;
    case DAT_EP_STATE_RESERVED:
      reserve();
      break;
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
      ask_reserved();
      break;
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
      be_offered();
      break;
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
      ask();
      break;
    case DAT_EP_STATE_COMPLETION_PENDING:
      accept_from_sleeper();
      break;
    case DAT_EP_STATE_CONNECTED:
      establish(other_, owner_);
      break;
    case DAT_EP_STATE_DISCONNECT_PENDING:
      drain_slowly();
      break;
    case DAT_EP_STATE_DISCONNECTED:
      establish(other_, owner_);
      require(dat_ep_disconnect(ep_, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
      next_event(owner_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
      break;
    default:
      throw SetupFailure("no such state");
  }
  if (now() != state) throw SetupFailure(std::string("not in the state ") + name_of(state));
}

EndpointInState::~EndpointInState() {
  if (sleeper_) sleeper_->process().kill();
}

DAT_EP_STATE EndpointInState::now() const {
  DAT_EP_PARAM param{};
  require(dat_ep_query(ep_, DAT_EP_FIELD_ALL, &param), "dat_ep_query");
  return param.ep_state;
}

void EndpointInState::reserve() {
  require(dat_rsp_create(owner_.adapter.handle(), qualifier_, ep_, owner_.cr_evd, &rsp_), "dat_rsp_create");
}

void EndpointInState::ask_reserved() {
  reserve();
  require(other_.connect(owner_, qualifier_), "dat_ep_connect");
  request_ = owner_.next_request();
}

void EndpointInState::be_offered() {
  require(dat_psp_create(owner_.adapter.handle(), qualifier_, owner_.cr_evd, DAT_PSP_PROVIDER_FLAG, &owner_.psp),
          "dat_psp_create");
  require(other_.connect(owner_, qualifier_), "dat_ep_connect");
  request_ = owner_.next_request();
  DAT_CR_PARAM param{};
  require(dat_cr_query(request_, DAT_CR_FIELD_ALL, &param), "dat_cr_query");
  ep_ = param.local_ep_handle;
}

void EndpointInState::ask() {
  require(owner_.connect(other_, other_.listen()), "dat_ep_connect");
}

// A peer that has asked and then does not run any more cannot confirm what we answer.
void EndpointInState::accept_from_sleeper() {
  sleeper_ = std::make_unique<RemotePeer>();
  sleeper_->connect(other_);
  owner_.psp = owner_.adapter.make_psp(qualifier_, owner_.cr_evd);
  const auto* address = reinterpret_cast<const sockaddr_in*>(owner_.adapter.address());
  sleeper_->ask("connect " + std::to_string(ntohl(address->sin_addr.s_addr)) + " 0 " + std::to_string(qualifier_));
  request_ = owner_.next_request();
  sleeper_->process().stop();
  require(dat_cr_accept(request_, ep_, 0, nullptr), "dat_cr_accept");
}

// Nothing is there to receive what is posted.
void EndpointInState::drain_slowly() {
  establish(other_, owner_);
  require(owner_.post_send(0, 64, 1), "dat_ep_post_send");
  require(dat_ep_disconnect(ep_, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
}

}  // namespace softdat::conformance
