// SPDX-License-Identifier: BSD-2-Clause
// What an EP is made with and what dat_ep_modify changes: PZ, EVDs, attributes and watermarks. Whatever a queue pair
// cannot change in place asks for a new binding, which takes the posted receives over.
//
// Owned by the EP. Any thread. Changes hold the lock of modifications; what query() reads is changed under the lock of
// the EP too. Argument numbers in a Status are those of the DAT function.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "libdat/object/endpoint_attributes.h"
#include "libdat/object/endpoint_bindings.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/endpoint_words.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

class EventDispatcher;
class SharedReceiveQueue;

class EndpointSettings {
 public:
  // All outlive this object.
  EndpointSettings(const Object& ep, const EndpointSinks& sinks, EndpointBindings& bindings, const EndpointWords& words,
                   base::Mutex<locks::kModify>& modify_mutex, base::Mutex<locks::kEndpoint>& mutex);

  // The attributes of `config` are none that the adapter can give: INVALID_PARAMETER, MODEL_NOT_SUPPORTED.
  static Status check(const EndpointConfig& config, const hca::DeviceAttributes& device);
  // Makes the first binding. The EP has its handle, but others do not know it: no lock is taken, because the caller may
  // hold that of an EVD. INVALID_HANDLE, INSUFFICIENT_RESOURCES; end() is to be called then, too.
  Status set_up(const EndpointConfig& config);
  // Lets go of the SRQ and the connection EVD. After EndpointBindings::destroy_queue_pairs().
  void end();

  // dat_ep_modify; all of it or nothing. Under one pin of the EP; what others under theirs do not use ends at once.
  Status modify(const EndpointChange& change);
  Status set_watermarks(std::int32_t soft, std::int32_t hard);  // dat_ep_set_watermark
  // The soft watermark has been reached: says so, once for each time that it was set.
  void tell_soft_watermark();

  // Under kEndpoint.
  const EndpointAttributes& attributes_locked() const;
  const std::shared_ptr<EventDispatcher>& connect_evd_locked() const;
  // Null: connection events are not wanted.
  std::shared_ptr<EventDispatcher> connect_evd() const;
  // Null: receives are posted to the EP. Fixed between set_up() and end().
  const std::shared_ptr<SharedReceiveQueue>& srq() const { return srq_; }

 private:
  Status modify_now(const EndpointChange& change);
  Status check_modify(const EndpointChange& change, const EndpointAttributes& wanted) const;
  // Refusals of modify(), with the field and the rule in words.
  Status refuse_part(const EndpointChange& change, StatusDetail detail) const;
  Status refuse_with_receives(std::uint32_t posted, const char* obstacle) const;
  Status refuse_under_exchange() const;
  Status change_locked(const EndpointChange& change, const EndpointAttributes& wanted);
  Status rebind_locked(BindingConfig config);
  Status succeed_binding(hca::QueuePair* heritage, const char* obstacle, const BindingConfig& config,
                         std::unique_ptr<EndpointBinding>& made);
  bool needs_new_binding_locked(const BindingConfig& config) const;
  // Under kModify, or before others know the EP.
  Status set_connect_evd(EventDispatcher* evd);
  void apply_watermarks(const EndpointBinding& binding);

  const Object& ep_;
  const EndpointSinks sinks_;
  EndpointBindings& bindings_;
  const EndpointWords& words_;
  base::Mutex<locks::kModify>& modify_mutex_;
  base::Mutex<locks::kEndpoint>& mutex_;
  const std::shared_ptr<hca::Device> device_;

  std::shared_ptr<SharedReceiveQueue> srq_;
  std::atomic<bool> is_soft_watermark_armed_{false};  // set with modify_mutex_, cleared when the event is posted
  std::int32_t hard_watermark_ = kNoWatermark;        // guarded by modify_mutex_

  // Changed under modify_mutex_ and mutex_, read under either.
  EndpointAttributes attributes_;
  std::shared_ptr<EventDispatcher> connect_evd_;
};

}  // namespace softdat::object
