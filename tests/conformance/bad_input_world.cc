// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/bad_input_world.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <random>

namespace softdat::conformance {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kRandomHandles = 50;
constexpr unsigned kSeed = 20240716;

DAT_HANDLE handle_at(std::uintptr_t address) {
  return reinterpret_cast<DAT_HANDLE>(address);
}

std::uintptr_t address_of(DAT_HANDLE handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

DAT_SRQ_HANDLE make_srq(Peer& peer) {
  DAT_SRQ_ATTR attributes{};
  attributes.max_recv_dtos = 8;
  attributes.max_recv_iov = 2;
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  require(dat_srq_create(peer.adapter.handle(), peer.pz, &attributes, &srq), "dat_srq_create");
  return srq;
}

}  // namespace

World::World() {
  require(client_.connect(server_, server_.listen()), "dat_ep_connect");
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  require(dat_rmr_create(server_.pz, &rmr), "dat_rmr_create");
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  DAT_EP_HANDLE reserved = DAT_HANDLE_NULL;
  require(dat_ep_create(server_.adapter.handle(), server_.pz, server_.recv_evd, server_.request_evd,
                        server_.connect_evd, nullptr, &reserved),
          "dat_ep_create");
  require(dat_rsp_create(server_.adapter.handle(), unused_qualifier(), reserved, server_.cr_evd, &rsp),
          "dat_rsp_create");
  living_ = {{DAT_HANDLE_TYPE_CR, server_.next_request()},
             {DAT_HANDLE_TYPE_EP, server_.ep},
             {DAT_HANDLE_TYPE_EVD, server_.adapter.make_evd(DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG |
                                                            DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG)},
             {DAT_HANDLE_TYPE_IA, server_.adapter.handle()},
             {DAT_HANDLE_TYPE_LMR, server_.memory->lmr()},
             {DAT_HANDLE_TYPE_PSP, server_.psp},
             {DAT_HANDLE_TYPE_PZ, server_.pz},
             {DAT_HANDLE_TYPE_RMR, rmr},
             {DAT_HANDLE_TYPE_RSP, rsp},
             {DAT_HANDLE_TYPE_CNO, server_.adapter.make_cno()},
             {DAT_HANDLE_TYPE_SRQ, make_srq(server_)}};
  std::memset(&out, 0, sizeof out);
  segment = server_.memory->local(0, 64);
  region.for_va = server_.memory->data();
  srq_attributes.max_recv_dtos = 8;
  srq_attributes.max_recv_iov = 1;
  forbidden_page_ = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // The first word of a cell leads to the provider; a copy of it elsewhere must not.
  no_cell_.resize(512);
  std::memcpy(no_cell_.data(), server_.ep, 64);
  make_dead();
}

World::~World() {
  munmap(forbidden_page_, kPage);
}

void World::make_dead() {
  Peer server(kServerName);
  Peer client(kClientName);
  require(client.connect(server, server.listen()), "dat_ep_connect");
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  require(dat_rmr_create(server.pz, &rmr), "dat_rmr_create");
  dead_ = {{DAT_HANDLE_TYPE_CR, server.next_request()},
           {DAT_HANDLE_TYPE_EP, server.ep},
           {DAT_HANDLE_TYPE_EVD, server.request_evd},
           {DAT_HANDLE_TYPE_IA, server.adapter.handle()},
           {DAT_HANDLE_TYPE_LMR, server.memory->lmr()},
           {DAT_HANDLE_TYPE_PSP, server.psp},
           {DAT_HANDLE_TYPE_PZ, server.pz},
           {DAT_HANDLE_TYPE_RMR, rmr},
           {DAT_HANDLE_TYPE_CNO, server.adapter.make_cno()},
           {DAT_HANDLE_TYPE_SRQ, make_srq(server)}};
  require(reject_cr(dead_.at(DAT_HANDLE_TYPE_CR)), "dat_cr_reject");
}

DAT_HANDLE World::living(DAT_HANDLE_TYPE type) const {
  const auto found = living_.find(type);
  return found == living_.end() ? DAT_HANDLE_NULL : found->second;
}

std::vector<BadHandle> World::bad_handles(DAT_HANDLE_TYPE type, bool null_is_allowed) const {
  std::vector<BadHandle> bad;
  if (!null_is_allowed) bad.push_back({"null", DAT_HANDLE_NULL});
  // The first few integers are adapters of DAT 2.0.
  const std::uintptr_t first_integer = type == DAT_HANDLE_TYPE_IA ? 1000 : 1;
  for (const std::uintptr_t value : {first_integer, first_integer + 1, first_integer + 15, std::uintptr_t{65535}})
    bad.push_back({"integer " + std::to_string(value), handle_at(value)});
  for (const auto& [kind, handle] : living_) {
    if (kind != type) bad.push_back({"living object of kind " + std::to_string(kind), handle});
    if (address_of(handle) > 65535 && kind == type) {
      for (const std::uintptr_t shift : {1, 2, 3, 4, 8, 16})
        bad.push_back({"own kind, moved by " + std::to_string(shift), handle_at(address_of(handle) + shift)});
    }
  }
  for (const auto& [kind, handle] : dead_) bad.push_back({"freed object of kind " + std::to_string(kind), handle});
  bad.push_back({"copied cell", handle_at(reinterpret_cast<std::uintptr_t>(no_cell_.data()))});
  bad.push_back({"stack", handle_at(reinterpret_cast<std::uintptr_t>(&bad) & ~std::uintptr_t{63})});
  bad.push_back({"code", handle_at(reinterpret_cast<std::uintptr_t>(&dat_evd_free))});
  bad.push_back({"forbidden page", forbidden_page_});
  bad.push_back({"kernel", handle_at(0xffff800000000000u)});
  bad.push_back({"not canonical", handle_at(0x8000000000000000u)});
  bad.push_back({"all ones", handle_at(~std::uintptr_t{0})});
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < kRandomHandles; ++i) {
    const std::uintptr_t mask = i % 2 == 0 ? ~std::uintptr_t{0} : 0x00007ffffffffff8u;
    bad.push_back({"random " + std::to_string(i), handle_at((random() | 0x10000u) & mask)});
  }
  return bad;
}

void World::expect_unharmed() {
  expect_conversation(connected_.server, connected_.client);
  for (const auto& [kind, handle] : living_) {
    DAT_HANDLE_TYPE type = static_cast<DAT_HANDLE_TYPE>(-1);
    EXPECT_THAT(dat_get_handle_type(handle, &type), succeeds()) << kind;
    EXPECT_EQ(type, kind);
  }
  EXPECT_EQ(server_.state(), DAT_EP_STATE_UNCONNECTED);
  EXPECT_EQ(client_.state(), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
  for (Peer* peer : {&server_, &client_}) {
    EXPECT_TRUE(is_quiet(peer->connect_evd));
    EXPECT_TRUE(is_quiet(peer->recv_evd));
    EXPECT_TRUE(is_quiet(peer->request_evd));
    EXPECT_TRUE(is_quiet(peer->cr_evd));
  }
}

}  // namespace softdat::conformance
