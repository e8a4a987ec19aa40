// SPDX-License-Identifier: BSD-2-Clause
// SRQ: receive buffers that any of several endpoints may take.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "hca/device.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/handle_table.h"
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

// DAT's SRQ states that there are: a queue never fails, so it is always operational.
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

  // dat_srq_create. A watermark above 0 is armed, and so told at once. INVALID_PARAMETER for
  // attributes that are negative, contradictory, or beyond the device; MODEL_NOT_SUPPORTED by a
  // device that has no such queues.
  static Status create(InterfaceAdapter& ia, ProtectionZone& pz, const SharedReceiveQueueAttributes& wanted,
                       Handle& srq);
  // dat_srq_free. INVALID_STATE while an EP uses it.
  static Status free(Pin<SharedReceiveQueue> srq);

  Status post_recv(std::span<const Segment> local, std::uint64_t cookie);  // dat_srq_post_recv
  // dat_srq_resize. INVALID_STATE below what is outstanding and below the low watermark.
  Status resize(std::int32_t max_recv_dtos);
  // dat_srq_set_lw. INVALID_PARAMETER above max_recv_dtos.
  Status set_low_watermark(std::int32_t low_watermark);
  SharedReceiveQueueParameters query() const;  // dat_srq_query

  // --- For endpoints ---
  hca::Device& device() const { return *device_; }
  hca::SharedReceiveQueue& queue() const { return *queue_; }
  std::int32_t max_recv_iov() const { return max_recv_iov_; }
  // The queue in use for as long as the result or a copy of it lives; null when it is being freed.
  std::shared_ptr<SharedReceiveQueue> use();

 private:
  SharedReceiveQueue(InterfaceAdapter& ia, ProtectionZone& pz, std::int32_t max_recv_iov);
  Status set_up(std::int32_t max_recv_dtos);

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

  // Guarded by mutex_, which is held while the device is called: watermark and size are checked
  // against each other.
  mutable std::mutex mutex_;
  std::int32_t low_watermark_ = 0;
};

}  // namespace softdat::object
