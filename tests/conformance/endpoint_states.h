// SPDX-License-Identifier: BSD-2-Clause
// An endpoint in whichever of its nine states a test asks for.
#pragma once

#include <array>
#include <memory>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/remote_peer.h"

namespace softdat::conformance {

inline constexpr std::array kAllStates = {DAT_EP_STATE_UNCONNECTED,
                                          DAT_EP_STATE_RESERVED,
                                          DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
                                          DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
                                          DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
                                          DAT_EP_STATE_COMPLETION_PENDING,
                                          DAT_EP_STATE_CONNECTED,
                                          DAT_EP_STATE_DISCONNECT_PENDING,
                                          DAT_EP_STATE_DISCONNECTED};

const char* name_of(DAT_EP_STATE state);

// Some states last only while a peer is waited for, which not every transport does.
Lack lack_of_state(DAT_EP_STATE state);

// The subtype that names a state in an INVALID_STATE answer.
DAT_RETURN_SUBTYPE subtype_of(DAT_EP_STATE state);

// Builds the state and whatever it needs, and keeps it until the end. Throws SetupFailure.
class EndpointInState {
 public:
  explicit EndpointInState(DAT_EP_STATE state);
  ~EndpointInState();

  DAT_EP_HANDLE ep() const { return ep_; }
  // Whose endpoint it is; and the other side, as far as there is one in this process.
  Peer& owner() { return owner_; }
  Peer& other() { return other_; }
  // The state that dat_ep_query tells.
  DAT_EP_STATE now() const;
  // Of a passive or tentative endpoint.
  DAT_CR_HANDLE request() const { return request_; }
  DAT_RSP_HANDLE reserved_point() const { return rsp_; }

 private:
  void reserve();
  void ask_reserved();
  void be_offered();
  void ask();
  void accept_from_sleeper();
  void drain_slowly();

  // The owner goes first: who asked it then has an answer, for which a device may wait before it lets go.
  Peer other_{kClientName};
  Peer owner_{kServerName};
  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
  DAT_CONN_QUAL qualifier_ = unused_qualifier();
  DAT_RSP_HANDLE rsp_ = DAT_HANDLE_NULL;
  DAT_CR_HANDLE request_ = DAT_HANDLE_NULL;
  std::unique_ptr<RemotePeer> sleeper_;
};

}  // namespace softdat::conformance
