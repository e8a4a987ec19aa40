// SPDX-License-Identifier: BSD-2-Clause
// libibverbs and librdmacm as tests want them: one device without wires, whose requests complete when they are told to.
// A shared library, loaded as the real ones are; what stands here is how a test gives it its orders.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>

#define FAKE_API __attribute__((visibility("default")))

namespace softdat::fake {

// Of queues that are made from now on; 0: any.
FAKE_API void allow_entries(int most);
// Whether completion queues may grow (they may, to begin with).
FAKE_API void allow_resizing(bool is_allowed);

// Requests posted that have not completed.
FAKE_API std::size_t sends_pending(const ibv_qp* qp);
// Completes the oldest ones, successfully. Requires that there are so many.
FAKE_API void complete_sends(ibv_qp* qp, std::size_t count);
// The oldest one fails so.
FAKE_API void fail_send(ibv_qp* qp, ibv_wc_status status, std::uint32_t vendor_error);
// What the device was given last. Of one segment.
struct Given {
  ibv_send_wr work;  // its pointers are of no use any more
  ibv_sge segment;
};
FAKE_API Given last_send();
// A message comes into the oldest receive, which must be there.
FAKE_API void receive(ibv_qp* qp, std::uint32_t length);
// The same of one that brings `value`, an immediate or the key that it has voided, as the opcode and flags say.
FAKE_API void receive(ibv_qp* qp, ibv_wc_opcode opcode, unsigned flags, std::uint32_t value);
// The queue pair made last.
FAKE_API ibv_qp* last_queue_pair();

// Whether a completion has been lost for want of room.
FAKE_API bool has_overflowed(const ibv_cq* cq);

// The channels of the device end with EIO, and their descriptors stay readable.
FAKE_API void remove_device(const ibv_context* context, const ibv_comp_channel* channel);
// How often ibv_get_cq_event() was called, ever.
FAKE_API int times_asked_for_completions();

// The connection manager says so of an id.
FAKE_API void say(rdma_cm_id* id, rdma_cm_event_type type);
FAKE_API rdma_cm_id* make_id();
// TCP has the ports of the next ids that connect, so many of them.
FAKE_API void take_ports(int count);
// Of those the ones that nobody has tried.
FAKE_API int ports_taken();
// Made and not destroyed.
FAKE_API int ids_alive();
// What the last rdma_accept() granted.
FAKE_API rdma_conn_param last_answer();
// How the last request was refused: the bytes that rdma_reject() was given, or kNotByConsumer of rdma_reject_ece().
inline constexpr int kNotByConsumer = -1;
FAKE_API int last_refusal();

}  // namespace softdat::fake
