// SPDX-License-Identifier: BSD-2-Clause
#include "tests/bench/self_pair.h"

#include <cstdio>
#include <cstdlib>

namespace softdat::bench {
namespace {

constexpr DAT_TIMEOUT kPatience = 60'000'000;  // us; callgrind is slow
constexpr DAT_CONN_QUAL kQual = 0xBE7C4;

void require(DAT_RETURN result, const char* call) {
  if (result == DAT_SUCCESS) return;
  std::fprintf(stderr, "%s answered %#x\n", call, static_cast<unsigned>(result));
  std::abort();
}

DAT_EVD_HANDLE create_evd(DAT_IA_HANDLE ia, int flags) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  require(dat_evd_create(ia, 2 * SelfPair::kDepth, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(flags), &evd),
          "dat_evd_create");
  return evd;
}

DAT_EVENT await(DAT_EVD_HANDLE evd) {
  DAT_EVENT event;
  DAT_COUNT more = 0;
  require(dat_evd_wait(evd, kPatience, 1, &event, &more), "dat_evd_wait");
  return event;
}

}  // namespace

alignas(4096) std::array<std::uint8_t, 2 * SelfPair::kHalf> SelfPair::buffer_;

SelfPair::SelfPair() {
  char name[] = "sim0";
  require(dat_ia_open(name, 8, &async_evd_, &ia_), "dat_ia_open");
  require(dat_pz_create(ia_, &pz_), "dat_pz_create");
  request_evd_ = create_evd(ia_, DAT_EVD_DTO_FLAG);
  receive_evd_ = create_evd(ia_, DAT_EVD_DTO_FLAG);
  connection_evd_ = create_evd(ia_, DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG);
  register_memory();
  connect();
}

SelfPair::~SelfPair() {
  dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG);
}

void SelfPair::register_memory() {
  DAT_REGION_DESCRIPTION region{};
  region.for_va = buffer_.data();
  require(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, region, buffer_.size(), pz_,
                         static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_ALL_FLAG), DAT_VA_TYPE_VA, &lmr_, &lmr_context_,
                         &rmr_context_, nullptr, nullptr),
          "dat_lmr_create");
}

void SelfPair::register_again(int times) {
  for (int i = 0; i < times; ++i) register_memory();
}

void SelfPair::register_and_free() {
  DAT_REGION_DESCRIPTION region{};
  region.for_va = buffer_.data();
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT context = 0;
  require(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, region, 4096, pz_,
                         static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG),
                         DAT_VA_TYPE_VA, &lmr, &context, nullptr, nullptr, nullptr),
          "dat_lmr_create");
  require(dat_lmr_free(lmr), "dat_lmr_free");
}

void SelfPair::connect() {
  DAT_EP_ATTR attributes{};
  attributes.service_type = DAT_SERVICE_TYPE_RC;
  attributes.max_recv_dtos = kDepth;
  attributes.max_request_dtos = kDepth;
  attributes.max_recv_iov = 1;
  attributes.max_request_iov = 1;
  attributes.max_rdma_read_in = 16;
  attributes.max_rdma_read_out = 16;
  attributes.max_rdma_read_iov = 1;
  attributes.max_rdma_write_iov = 1;
  for (DAT_EP_HANDLE* ep : {&active_, &passive_}) {
    require(dat_ep_create(ia_, pz_, receive_evd_, request_evd_, connection_evd_, &attributes, ep), "dat_ep_create");
  }
  DAT_IA_ATTR adapter;
  require(dat_ia_query(ia_, nullptr, DAT_IA_FIELD_IA_ADDRESS_PTR, &adapter, 0, nullptr), "dat_ia_query");
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  require(dat_psp_create(ia_, kQual, connection_evd_, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create");
  require(dat_ep_connect(active_, adapter.ia_address_ptr, kQual, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG),
          "dat_ep_connect");
  const DAT_EVENT request = await(connection_evd_);
  require(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, passive_, 0, nullptr), "dat_cr_accept");
  for (int i = 0; i < 2; ++i) {
    if (await(connection_evd_).event_number != DAT_CONNECTION_EVENT_ESTABLISHED) require(DAT_ABORT, "the connection");
  }
  require(dat_psp_free(psp), "dat_psp_free");
}

DAT_LMR_TRIPLET SelfPair::half(int index, std::uint32_t size) const {
  DAT_LMR_TRIPLET segment{};
  segment.virtual_address = reinterpret_cast<std::uintptr_t>(buffer_.data()) + (index == 0 ? 0 : kHalf);
  segment.segment_length = size;
  segment.lmr_context = lmr_context_;
  return segment;
}

DAT_RMR_TRIPLET SelfPair::remote_half(std::uint32_t size) const {
  DAT_RMR_TRIPLET remote{};
  remote.virtual_address = reinterpret_cast<std::uintptr_t>(buffer_.data()) + kHalf;
  remote.segment_length = size;
  remote.rmr_context = rmr_context_;
  return remote;
}

DAT_RETURN SelfPair::post_send(std::uint32_t size) {
  DAT_LMR_TRIPLET segment = half(0, size);
  return dat_ep_post_send(active_, 1, &segment, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN SelfPair::post_receive(std::uint32_t size) {
  DAT_LMR_TRIPLET segment = half(1, size);
  return dat_ep_post_recv(passive_, 1, &segment, DAT_DTO_COOKIE{}, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN SelfPair::post_write(std::uint32_t size) {
  DAT_LMR_TRIPLET segment = half(0, size);
  const DAT_RMR_TRIPLET remote = remote_half(size);
  return dat_ep_post_rdma_write(active_, 1, &segment, DAT_DTO_COOKIE{}, &remote, DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN SelfPair::post_read(std::uint32_t size) {
  DAT_LMR_TRIPLET segment = half(0, size);
  const DAT_RMR_TRIPLET remote = remote_half(size);
  return dat_ep_post_rdma_read(active_, 1, &segment, DAT_DTO_COOKIE{}, &remote, DAT_COMPLETION_DEFAULT_FLAG);
}

void SelfPair::take(DAT_EVD_HANDLE evd, int count) {
  while (count > 0) {
    const DAT_RETURN result = dat_evd_dequeue(evd, &event_);
    if (DAT_GET_TYPE(result) == DAT_QUEUE_EMPTY) continue;
    require(result, "dat_evd_dequeue");
    if (event_.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) require(DAT_ABORT, "a completion");
    --count;
  }
}

}  // namespace softdat::bench
