// SPDX-License-Identifier: BSD-2-Clause
// What an EP says of failures. docs/decisions/0020-words-instead-of-codes.md.
#include "libdat/object/endpoint_words.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <new>

#include "base/call.h"
#include "base/place.h"
#include "base/probe.h"
#include "base/words.h"
#include "libdat/object/failure_text.h"
#include "libdat/object/handle_words.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/refusal.h"

namespace softdat::object {
namespace {

using hca::Actor;
using hca::CompletionStatus;
using hca::Failure;
using hca::Rule;

// The event that the consumer gets.
const char* event_name(Rule rule) {
  switch (rule) {
    case Rule::kNobodyListens:
    case Rule::kServiceBusy:
      return "DAT_CONNECTION_EVENT_NON_PEER_REJECTED";
    case Rule::kUnreachable:
      return "DAT_CONNECTION_EVENT_UNREACHABLE";
    case Rule::kRejected:
      return "DAT_CONNECTION_EVENT_PEER_REJECTED";
    case Rule::kTimedOut:
      return "DAT_CONNECTION_EVENT_TIMED_OUT";
    case Rule::kAcceptFailed:
      return "DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR";
    default:
      return "DAT_CONNECTION_EVENT_BROKEN";
  }
}

const char* page_of(Rule rule) {
  switch (rule) {
    case Rule::kCompletionsLost:
      return "dat_evd_create(3)";
    case Rule::kAcceptFailed:
      return "dat_cr_accept(3)";
    case Rule::kRejected:
      return "dat_cr_reject(3)";
    default:
      return "dat_ep_connect(3)";
  }
}

// "RDMA write of 64 bytes to [0x1000, 0x1040) ...".
std::string request_text(const Failure& failure) {
  std::string text = operation_text(failure.operation);
  if (failure.operation == hca::CompletionOpcode::kBind || failure.is_local) return text;
  if (failure.operation == hca::CompletionOpcode::kSend)
    return text + " of " + std::to_string(failure.length) + " bytes";
  char key[32];
  std::snprintf(key, sizeof key, "0x%x", failure.key);
  return text + " of " + range_text(failure.address, failure.length) + ", with rmr_context " + key;
}

// Why, as this side knows or the peer has said.
std::string reason_text(const Failure& failure) {
  return failure.peer_words.empty() ? rule_text(failure) : "the peer, " + failure.peer_words;
}

std::string head_text(const Failure& failure) {
  const std::string status = name_of(dto_status(failure.status));
  switch (failure.actor) {
    case Actor::kOurRequest:
      if (failure.rule == Rule::kReceiveLacking) {
        return request_text(failure) + base::by_text("posted", failure.posted) + ", waits " +
               std::to_string(failure.room) + " ms: " + rule_text(failure);
      }
      if (failure.rule == Rule::kFlushed) {
        return rule_text(failure) + "; the oldest is of kind " + operation_text(failure.operation) +
               base::by_text("posted", failure.posted);
      }
      return request_text(failure) + base::by_text("posted", failure.posted) + ", fails with " + status + ": " +
             reason_text(failure);
    case Actor::kPeersRequest:
      if (failure.rule == Rule::kReceiveLacking) {
        return "a send of the peer's waits " + std::to_string(failure.room) + " ms: " + rule_text(failure);
      }
      return std::string("the connection breaks by the peer's ") + operation_text(failure.operation) + ": " +
             rule_text(failure);
    case Actor::kOurReceive:
      return std::string("receive") + base::by_text("posted", failure.posted) + ", fails with " + status + ": " +
             rule_text(failure);
    case Actor::kConnection:
      break;
  }
  return std::string("the connection ends with ") + event_name(failure.rule) + ": " + reason_text(failure);
}

// "DAT_COMPLETION_SUPPRESS_FLAG, 0x400".
std::string flags_text(std::uint32_t flags) {
  struct Flag {
    std::uint32_t bit;
    const char* name;
  };
  constexpr Flag kFlags[] = {{kSuppressFlag, "DAT_COMPLETION_SUPPRESS_FLAG"},
                             {kSolicitedWaitFlag, "DAT_COMPLETION_SOLICITED_WAIT_FLAG"},
                             {kUnsignalledFlag, "DAT_COMPLETION_UNSIGNALLED_FLAG"},
                             {kBarrierFenceFlag, "DAT_COMPLETION_BARRIER_FENCE_FLAG"},
                             {kThresholdFlag, "DAT_COMPLETION_EVD_THRESHOLD_FLAG"}};
  std::string text;
  for (const auto& [bit, name] : kFlags) {
    if ((flags & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
    flags &= ~bit;
  }
  char rest[16];
  std::snprintf(rest, sizeof rest, "0x%x", flags);
  return flags == 0 ? text : text + (text.empty() ? "" : ", ") + rest;
}

std::string carrier_text(const Failure& failure) {
  if (failure.carrier == nullptr) return "";
  return std::string(", over ") + failure.carrier + " with " + base::text_of(failure.remote);
}

// Where a server may listen that the endpoint did not look for; empty if nothing tells.
std::string other_place_text(const Failure& failure, const hca::Address& own) {
  if (failure.rule != Rule::kNobodyListens || failure.carrier == nullptr) return "";
  const std::string_view carrier(failure.carrier);
  if (carrier == "loop") return " A transport of loop (SOFTDAT_TRANSPORT) leads a program to itself alone.";
  std::string text;
  const std::string here = base::text_of(own.with_port(0));
  if (base::is_loopback(failure.remote) && base::text_of(failure.remote.with_port(0)) != here)
    text = " This program's own adapter is at " + here + ".";
  if (carrier != "shm") return text;
  return text + " A transport of shm alone (SOFTDAT_TRANSPORT) finds processes of this user and host that use it, too.";
}

bool begins_connection(std::string_view function) {
  constexpr std::string_view kFunctions[] = {"dat_ep_connect", "dat_ep_dup_connect", "dat_ep_common_connect",
                                             "dat_rsp_create", "dat_cr_accept"};
  return std::find(std::begin(kFunctions), std::end(kFunctions), function) != std::end(kFunctions);
}

// What to do first, where an endpoint has the wrong state for a call.
const char* state_remedy(std::string_view function, EndpointState now) {
  if (begins_connection(function)) {
    if (now == EndpointState::kDisconnected) return "; reset it before it is connected again (dat_ep_reset)";
    return "; an endpoint has one connection at a time: create another endpoint (dat_ep_create)";
  }
  if (function == "dat_ep_reset") {
    return "; disconnect it first (dat_ep_disconnect), and wait for DAT_CONNECTION_EVENT_DISCONNECTED";
  }
  if (function == "dat_ep_disconnect") return "; it has no connection that can be ended so";
  const bool is_post = function.starts_with("dat_ep_post") || function.starts_with("dat_ib_post") ||
                       function.starts_with("dat_rmr_bind");
  return is_post ? "; connect it first, and wait for DAT_CONNECTION_EVENT_ESTABLISHED" : "";
}

}  // namespace

std::string EndpointWords::name() const {
  char text[32];
  std::snprintf(text, sizeof text, "endpoint %p", ep_.handle());
  return text + base::by_text("made", maker_);
}

std::string EndpointWords::subject() const {
  return base::place_text(maker_).empty() ? name() : name() + ',';
}

// With the device's locks held.
std::string EndpointWords::tell(const Failure& failure) {
  std::string line = head_text(failure) + " (" + name() + carrier_text(failure) + ").";
  if (const char* const remedy = remedy_text(failure); *remedy != '\0') line += std::string(" ") + remedy;
  line += other_place_text(failure, ep_.ia().device().attributes().address);
  const bool has_operation = failure.actor != Actor::kConnection;
  line += std::string(" See ") + (has_operation ? page_of(failure.operation) : page_of(failure.rule)) + '.';
  base::say(line);
  keep(std::move(line));
  // These words go to the peer.
  return base::process_text() + ", says: " + rule_text(failure);
}

void EndpointWords::keep(std::string sentence) {
  SOFTDAT_PROBE(error, ep_.handle(), sentence.c_str());
  constexpr std::size_t kKeptFailures = 4;
  const std::lock_guard lock(mutex_);
  if (last_failures_.size() == kKeptFailures) last_failures_.erase(last_failures_.begin());
  last_failures_.push_back({base::Clock::now(), std::move(sentence)});
}

std::string EndpointWords::last_failure() const {
  const std::lock_guard lock(mutex_);
  return last_failures_.empty() ? std::string() : last_failures_.back().sentence;
}

std::vector<EndpointWords::KeptFailure> EndpointWords::last_failures() const {
  const std::lock_guard lock(mutex_);
  return last_failures_;
}

// Receives are no mistake: a program posts the next one before it learns of the end.
void EndpointWords::tell_late_post() const try {
  const base::Call* const call = base::current_call();
  if (call == nullptr) return;
  const std::string function(call->function());
  base::say(function + base::by_text("called", call->caller()) + ", completes with " + name_of(DtoStatus::kFlushed) +
            ": " + name() + " is " + object::name_of(EndpointState::kDisconnected) +
            ". Post before the connection ends, and stop at DAT_CONNECTION_EVENT_DISCONNECTED. See " +
            (function.starts_with("dat_ib_") ? "dat_ib_extensions" : function) + "(3).");
} catch (const std::bad_alloc&) {
}

template <typename Request>
Status EndpointWords::refuse_post(const hca::QueuePair& queue_pair, const Request& request, const Status& status) try {
  const Failure failure = queue_pair.explain(request);
  std::string reason = rule_text(failure) + " (" + name() + ").";
  if (const char* const remedy = remedy_text(failure); *remedy != '\0') reason += std::string(" ") + remedy;
  if (base::Call* const call = base::current_call()) call->refuse(reason);
  keep(std::move(reason));
  return status;
} catch (const std::bad_alloc&) {
  return status;
}

template Status EndpointWords::refuse_post(const hca::QueuePair&, const hca::SendRequest&, const Status&);
template Status EndpointWords::refuse_post(const hca::QueuePair&, const hca::RecvRequest&, const Status&);
template Status EndpointWords::refuse_post(const hca::QueuePair&, const hca::BindRequest&, const Status&);

Status EndpointWords::refuse_flags(std::uint32_t flags, std::uint32_t known, StatusDetail argument,
                                   const char* attribute) const {
  return because(invalid_parameter(argument), [&] {
    std::string text = "completion_flags has " + flags_text((flags & ~known) != 0 ? flags & ~known : kUnsignalledFlag);
    if ((flags & ~known) != 0) return text + ", which this call does not take; it takes " + flags_text(known);
    return text + ", and " + attribute + " of the attributes of " + name() + ", lack it";
  });
}

Status EndpointWords::refuse_own_receive(const Object& srq) const {
  return because(invalid_state(StatusDetail::kNoSubtype), [&] {
    return subject() + " takes its receives from " + object_text(srq) + "; post them there (dat_srq_post_recv)";
  });
}

Status EndpointWords::refuse_length(std::uint64_t local, std::uint64_t remote) {
  return because(length_error(), [&] {
    return "the local segments hold " + std::to_string(local) + " bytes, and the remote range " +
           std::to_string(remote);
  });
}

// Not inline: posts, which are of one piece, would contain it.
Status EndpointWords::refuse_state() const {
  const EndpointState now = bindings_.state();
  return because(wrong_state(now), [&] {
    const base::Call* const call = base::current_call();
    const std::string text = subject() + " is " + object::name_of(now);
    if (call == nullptr) return text;
    const std::string_view function = call->function();
    if (bindings_.is_datagram() && function.starts_with("dat_ep_post")) {
      return subject() + " is for datagrams (DAT_IB_SERVICE_TYPE_UD), which dat_ib_post_send_ud sends";
    }
    return text + state_remedy(function, now);
  });
}

}  // namespace softdat::object
