// SPDX-License-Identifier: BSD-2-Clause
// SRQ: a queue of receives that several endpoints share.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "base/counter_file.h"
#include "hca/device.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"
#include "libdat/object/use_count.h"

namespace softdat::object {

class ProtectionZone;

struct SharedReceiveQueueAttributes {
  std::int32_t max_recv_dtos = 0;
  std::int32_t max_recv_iov = 0;
  std::int32_t low_watermark = 0;
};

// The only state: a queue cannot fail.
struct SharedReceiveQueueParameters {
  Handle ia;
  Handle pz;
  SharedReceiveQueueAttributes attributes;
  std::int32_t available;    // posted and not taken by an EP
  std::int32_t outstanding;  // posted and not reaped from an EVD
};

// Any thread.
class SharedReceiveQueue final : public Object, private hca::SharedReceiveQueueSink {
 public:
  static constexpr Kind kKind = Kind::kSrq;

  // dat_srq_create. A low watermark above 0 is armed, so its event comes at once. INVALID_PARAMETER: attributes that
  // are negative, contradictory or beyond the device's limits. MODEL_NOT_SUPPORTED: the device has no such queues.
  static Status create(InterfaceAdapter& ia, ProtectionZone& pz, const SharedReceiveQueueAttributes& wanted,
                       Handle& srq);
  ~SharedReceiveQueue() override;
  // dat_srq_free. INVALID_STATE while an EP uses it.
  static Status free(Pin<SharedReceiveQueue> srq);

  Status post_recv(std::span<const Segment> local, std::uint64_t cookie);  // dat_srq_post_recv
  // dat_srq_resize. INVALID_STATE if more receives are outstanding, or if the low watermark is higher.
  Status resize(std::int32_t max_recv_dtos);
  // dat_srq_set_lw. INVALID_PARAMETER above max_recv_dtos.
  Status set_low_watermark(std::int32_t low_watermark);
  SharedReceiveQueueParameters query() const;  // dat_srq_query
  // What the tools of the user see of the SRQ (counter_publisher.h).
  base::SrqRecord counters_now() const;

  // --- For endpoints ---
  hca::Device& device() const { return *device_; }
  hca::SharedReceiveQueue& queue() const { return *queue_; }
  std::int32_t max_recv_iov() const { return max_recv_iov_; }
  // The device's queue, which counts as used while the result or a copy lives. Null if the SRQ is being freed.
  std::shared_ptr<SharedReceiveQueue> use();

 private:
  SharedReceiveQueue(InterfaceAdapter& ia, ProtectionZone& pz, std::int32_t max_recv_iov);
  Status set_up(std::int32_t max_recv_dtos);
  void check_watermark_locked() const;
  [[gnu::cold]] Status refuse_post(const hca::RecvRequest& request, const Status& status) const;

  // hca::SharedReceiveQueueSink
  void on_low() override;
  // Object
  void on_closing() override { users_.close(); }
  void detach() override;

  // Fixed after set_up().
  const std::shared_ptr<hca::Device> device_;
  const std::shared_ptr<ProtectionZone> pz_;
  const std::int32_t max_recv_iov_;
  std::unique_ptr<hca::SharedReceiveQueue> queue_;

  UseCount users_;

  // Guarded by mutex_, which is held while the device is called, so that watermark and size stay consistent.
  mutable base::Mutex<locks::kSharedReceiveQueue> mutex_;
  std::int32_t low_watermark_ = 0;
};

}  // namespace softdat::object
