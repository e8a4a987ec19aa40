// SPDX-License-Identifier: BSD-2-Clause
// What an EP says of its failures and refusals, to people, and the last few failures that it keeps.
// docs/decisions/0020-words-instead-of-codes.md.
//
// Owned by the EP, whose name and state it tells. Any thread. The failures have a lock of their own, the last of all:
// it is taken with those of the device held. A refusal answers the status of the call; its words are made only while
// somebody reads them.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/call.h"
#include "base/clock.h"
#include "hca/failure.h"
#include "libdat/object/endpoint_bindings.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

class EndpointWords {
 public:
  struct KeptFailure {
    base::Time when;
    std::string sentence;
  };

  // Both outlive this object. To be called by the thread of the call that makes the EP.
  EndpointWords(const Object& ep, const EndpointBindings& bindings) : ep_(ep), bindings_(bindings) {}

  // "endpoint 0x7f0010, made by main at a.c:5". Throws std::bad_alloc.
  std::string name() const;
  // The same, for a verb to follow.
  std::string subject() const;

  // Says and keeps a failure. Answers what the peer is to be told. Throws std::bad_alloc.
  std::string tell(const hca::Failure& failure);
  // The sentence of the last failure; empty: there was none. Throws std::bad_alloc.
  std::string last_failure() const;
  // The last few, oldest first. Throws std::bad_alloc.
  std::vector<KeptFailure> last_failures() const;
  // Says that a request posted now is flushed at once.
  void tell_late_post() const;

  // INVALID_STATE, with the EP's state.
  [[gnu::cold, gnu::noinline]] Status refuse_state() const;
  // Answers `status`, and keeps why the queue pair has refused `request`: a SendRequest, RecvRequest or BindRequest.
  template <typename Request>
  [[gnu::cold, gnu::noinline]] Status refuse_post(const hca::QueuePair& queue_pair, const Request& request,
                                                  const Status& status);
  // INVALID_PARAMETER with `argument`. `known`: the flags that the call takes. `attribute`: of the EP's attributes,
  // which allows UNSIGNALLED.
  [[gnu::cold]] Status refuse_flags(std::uint32_t flags, std::uint32_t known, StatusDetail argument,
                                    const char* attribute) const;
  // INVALID_STATE: receives are those of `srq`.
  [[gnu::cold]] Status refuse_own_receive(const Object& srq) const;
  // LENGTH_ERROR.
  [[gnu::cold, gnu::noinline]] static Status refuse_length(std::uint64_t local, std::uint64_t remote);

 private:
  void keep(std::string sentence);

  const Object& ep_;
  const EndpointBindings& bindings_;
  const void* const maker_ = base::calling_place();  // null unless words are wanted

  mutable base::Mutex<locks::kEndpointWords> mutex_;
  std::vector<KeptFailure> last_failures_;  // a few, oldest first; guarded by mutex_
};

}  // namespace softdat::object
