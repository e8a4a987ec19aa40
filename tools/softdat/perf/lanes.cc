// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/lanes.h"

#include <dat2/dat_ib_extensions.h>
#include <fmt/format.h>

#include <algorithm>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/event_names.h"

namespace softdat::tools::perf {
namespace {

constexpr DAT_COUNT kConnectionEvents = 1024;

int completion_flags(const Adapter& adapter) {
  constexpr int kExtended = int{DAT_EVD_DTO_FLAG} | int{DAT_IB_EVD_EXTENSION_FLAG};
  return adapter.has_extension() ? kExtended : int{DAT_EVD_DTO_FLAG};
}

DAT_COUNT completions(const Setup& setup) {
  return static_cast<DAT_COUNT>(setup.active * setup.depth);
}

}  // namespace

// With one segment for each request: softdat perf posts no lists.
DAT_EP_HANDLE create_endpoint(const Adapter& adapter, DAT_COUNT depth, EventQueue& receives, EventQueue& requests,
                              EventQueue& connections) {
  constexpr DAT_COUNT kReads = 16;
  DAT_EP_ATTR attributes{};
  attributes.service_type = DAT_SERVICE_TYPE_RC;
  attributes.max_recv_dtos = depth;
  attributes.max_request_dtos = depth;
  attributes.max_recv_iov = 1;
  attributes.max_request_iov = 1;
  attributes.max_rdma_read_in = std::min(kReads, adapter.attributes().max_rdma_read_per_ep_in);
  attributes.max_rdma_read_out = std::min(kReads, adapter.attributes().max_rdma_read_per_ep_out);
  attributes.max_rdma_read_iov = 1;
  attributes.max_rdma_write_iov = 1;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  require(dat_ep_create(adapter.ia(), adapter.pz(), receives.handle(), requests.handle(), connections.handle(),
                        &attributes, &ep),
          "dat_ep_create");
  return ep;
}

Lanes::Lanes(const Adapter& adapter, const Setup& setup)
    : setup_(setup),
      places_(adapter, setup),
      requests_(adapter, completions(setup), completion_flags(adapter)),
      receives_(adapter, completions(setup), completion_flags(adapter)),
      connections_(adapter, kConnectionEvents, DAT_EVD_CONNECTION_FLAG) {
  create_endpoints(adapter);
  for (std::uint32_t i = 1; i < setup_.event_queues; ++i) {
    idle_queues_.emplace_back(adapter, 1, completion_flags(adapter));
  }
}

void Lanes::create_endpoints(const Adapter& adapter) {
  for (std::uint32_t i = 0; i < setup_.endpoints; ++i) {
    endpoints_.push_back(
        create_endpoint(adapter, static_cast<DAT_COUNT>(setup_.depth), receives_, requests_, connections_));
  }
}

// One after the other, so that endpoint i of one side meets endpoint i of the other.
void Lanes::connect(DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, const LivenessCheck& check) {
  for (DAT_EP_HANDLE ep : endpoints_) {
    require(
        dat_ep_connect(ep, address, qual, kConnectPatience, 0, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
        "dat_ep_connect");
    await_established(check);
  }
}

void Lanes::accept(EventQueue& connection_requests, const LivenessCheck& check) {
  for (DAT_EP_HANDLE ep : endpoints_) {
    DAT_EVENT event;
    connection_requests.take(Waiting::kBlock, check, event);
    require(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, nullptr), "dat_cr_accept");
    await_established(check);
  }
}

void Lanes::await_established(const LivenessCheck& check) {
  DAT_EVENT event;
  connections_.take(Waiting::kBlock, check, event);
  if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) {
    throw Failure(fmt::format("a connection failed: {}", event_text(event.event_number)));
  }
}

// With --verify, no place may be written again before it was looked at.
std::uint32_t Lanes::largest_window() const {
  const std::uint64_t most = setup_.verify ? places_.count_of_lane() / 2 : setup_.depth;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, setup_.depth));
}

std::uint32_t Lanes::largest_receives() const {
  // A write may land before the receive that it takes is there: with a window under way and these receives posted, no
  // place is written anew before it was looked at.
  const std::uint64_t most = setup_.verify ? places_.count_of_lane() / 2 : setup_.depth;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, setup_.depth));
}

void Lanes::post_receive(std::uint64_t number, std::uint64_t size) {
  const std::uint32_t lane = places_.lane_of(number);
  DAT_LMR_TRIPLET segment = places_.memory().local(places_.incoming_offset(number), size);
  DAT_DTO_COOKIE cookie;
  // The cookie has the endpoint in its upper half, and below how many requests this completion stands for.
  cookie.as_64 = std::uint64_t{lane} << 32 | 1;
  require(dat_ep_post_recv(endpoints_[lane], 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_recv");
}

void Lanes::post(Operation operation, std::uint64_t number, std::uint64_t size, std::uint32_t credits) {
  Post request = prepare(operation, number, size, credits);
  post(request);
}

Post Lanes::prepare(Operation operation, std::uint64_t number, std::uint64_t size, std::uint32_t credits) const {
  const std::uint32_t lane = places_.lane_of(number);
  const bool in = fetches(operation);
  Post request{
      .operation = operation,
      .ep = endpoints_[lane],
      .segment = places_.memory().local(in ? places_.incoming_offset(number) : places_.outgoing_offset(number), size),
      .remote = remote_,
      .cookie = {},
      .flags = credits == 0 ? DAT_COMPLETION_SUPPRESS_FLAG : DAT_COMPLETION_DEFAULT_FLAG,
      .number = number};
  request.cookie.as_64 = std::uint64_t{lane} << 32 | credits;
  request.remote.virtual_address += in ? places_.outgoing_offset(number) : places_.incoming_offset(number);
  request.remote.segment_length = static_cast<DAT_SEG_LENGTH>(size);
  return request;
}

void Lanes::post(Post& request) const {
  auto& [operation, ep, segment, remote, cookie, flags, number] = request;
  switch (operation) {
    case Operation::kSend:
      return require(dat_ep_post_send(ep, 1, &segment, cookie, flags), "dat_ep_post_send");
    case Operation::kWrite:
      return require(dat_ep_post_rdma_write(ep, 1, &segment, cookie, &remote, flags), "dat_ep_post_rdma_write");
    case Operation::kRead:
      return require(dat_ep_post_rdma_read(ep, 1, &segment, cookie, &remote, flags), "dat_ep_post_rdma_read");
    case Operation::kWriteImmediate:
      return require(
          dat_ib_post_rdma_write_immed(ep, 1, &segment, cookie, &remote, static_cast<DAT_UINT32>(number), flags),
          "dat_ib_post_rdma_write_immed");
    case Operation::kFetchAdd:
    case Operation::kCompareSwap:
      return post_atomic(request);
  }
}

// The words count up by one from 0, so the n-th operation on one finds n.
[[gnu::noinline]] void Lanes::post_atomic(const Post& request) const {
  const std::uint32_t lane = places_.lane_of(request.number);
  DAT_LMR_TRIPLET segment = places_.memory().local(places_.incoming_offset(request.number), sizeof(std::uint64_t));
  DAT_RMR_TRIPLET remote = remote_;
  remote.virtual_address += places_.word_offset(lane);
  remote.segment_length = sizeof(std::uint64_t);
  if (request.operation == Operation::kFetchAdd) {
    return require(dat_ib_post_fetch_and_add(request.ep, 1, &segment, request.cookie, &remote, request.flags),
                   "dat_ib_post_fetch_and_add");
  }
  const std::uint64_t found = places_.turn_of(request.number);
  require(dat_ib_post_cmp_and_swap(request.ep, found, found + 1, &segment, request.cookie, &remote, request.flags),
          "dat_ib_post_cmp_and_swap");
}

}  // namespace softdat::tools::perf
