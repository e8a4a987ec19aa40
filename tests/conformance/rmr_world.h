// SPDX-License-Identifier: BSD-2-Clause
// Two connected peers; the server binds windows, the client comes through them.
#pragma once

#include <gtest/gtest.h>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {

inline constexpr int kReadAndWrite = DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;

class RmrWorld : public testing::Test {
 protected:
  // Where read() puts what it has read.
  static constexpr std::size_t kReadOffset = 32768;

  void SetUp() override {
    if (const Lack lack = lack_of_windows(); !lack.empty()) GTEST_SKIP() << lack;
  }

  explicit RmrWorld(const PeerOptions& server_options = {}) : pair_(server_options, PeerOptions{}) {}

  DAT_RMR_HANDLE make_rmr() {
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    require(dat_rmr_create(server_.pz, &rmr), "dat_rmr_create");
    return rmr;
  }

  // dat_rmr_bind on the server's endpoint, to its memory unless said otherwise.
  DAT_RETURN bind(DAT_RMR_HANDLE rmr, const DAT_LMR_TRIPLET& triplet, int privileges, DAT_RMR_CONTEXT* context,
                  int flags = 0, std::uint64_t cookie = 9, DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL) {
    return bind_rmr(rmr, lmr == DAT_HANDLE_NULL ? server_.memory->lmr() : lmr, &triplet,
                    static_cast<DAT_MEM_PRIV_FLAGS>(privileges), server_.ep, make_cookie(cookie),
                    static_cast<DAT_COMPLETION_FLAGS>(flags), context);
  }

  // Binds and waits until it is done.
  DAT_RMR_CONTEXT bound(DAT_RMR_HANDLE rmr, std::size_t offset, std::size_t length, int privileges = kReadAndWrite) {
    DAT_RMR_CONTEXT context = 0;
    require(bind(rmr, server_.memory->local(offset, length), privileges, &context), "dat_rmr_bind");
    EXPECT_EQ(next_bind(server_).status, DAT_RMR_BIND_SUCCESS);
    return context;
  }

  void unbind(DAT_RMR_HANDLE rmr) {
    DAT_RMR_CONTEXT context = 0;
    require(bind(rmr, server_.memory->local(0, 0), DAT_MEM_PRIV_NONE_FLAG, &context), "dat_rmr_bind");
    EXPECT_EQ(next_bind(server_).status, DAT_RMR_BIND_SUCCESS);
  }

  static DAT_RMR_BIND_COMPLETION_EVENT_DATA next_bind(Peer& peer) {
    return next_event(peer.request_evd, DAT_RMR_BIND_COMPLETION_EVENT).event_data.rmr_completion_event_data;
  }

  // The client's transfer of some bytes at that place of the server's memory.
  DAT_DTO_COMPLETION_STATUS write(DAT_RMR_CONTEXT context, std::size_t offset, std::size_t length = 16) {
    require(client_.post_write(0, length, make_remote(server_.memory->data() + offset, length, context)), "write");
    return next_completion(client_.request_evd).status;
  }
  DAT_DTO_COMPLETION_STATUS read(DAT_RMR_CONTEXT context, std::size_t offset, std::size_t length = 16) {
    require(client_.post_read(kReadOffset, length, make_remote(server_.memory->data() + offset, length, context)),
            "read");
    return next_completion(client_.request_evd).status;
  }

  static DAT_RMR_PARAM query(DAT_RMR_HANDLE rmr) {
    DAT_RMR_PARAM param{};
    require(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param), "dat_rmr_query");
    return param;
  }

  void expect_broken() {
    EXPECT_EQ(next_event(client_.connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_EQ(next_event(server_.connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
  }

  ConnectedPair pair_;
  Peer& server_ = pair_.server;
  Peer& client_ = pair_.client;
};

}  // namespace softdat::conformance
