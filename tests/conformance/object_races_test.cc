// SPDX-License-Identifier: BSD-2-Clause
// For each kind of object: one thread makes and frees it, others use and free it at the same time by whatever handle
// they see. Every call succeeds or is refused for a reason that it may have, each object is freed once, and what is
// left can be closed. Connection requests are raced in connection_races_test.cc.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "tests/conformance/lacks.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/shared_server.h"

namespace softdat::conformance {
namespace {

constexpr DAT_TIMEOUT kMoment = 50;  // us

class ObjectRaces : public testing::Test {
 protected:
  using Call = std::function<DAT_RETURN(DAT_HANDLE)>;

  void race(const std::function<DAT_HANDLE()>& make, const Call& free, const std::vector<Call>& uses) {
    constexpr int kRounds = 150;
    constexpr int kUsers = 3;
    constexpr int kMostRefusals = 100;
    std::vector<std::thread> users;
    for (int i = 0; i < kUsers; ++i) users.emplace_back([&, i] { use(i, free, uses); });
    for (int round = 0; round < kRounds && !HasFailure(); ++round) {
      const DAT_HANDLE handle = make();
      shared_.store(handle);
      int refusals = 0;
      for (bool is_gone = false; !is_gone;) {
        // On a busy machine users lose the processor in the middle of a call, and one of them always has the object.
        if (++refusals == kMostRefusals) must_stand_back_.store(true);
        std::this_thread::yield();
        const DAT_RETURN result = free(handle);
        is_gone = result == DAT_SUCCESS || type_of(result) == DAT_INVALID_HANDLE;
        if (result == DAT_SUCCESS) frees_.fetch_add(1);
        if (!is_gone) {
          EXPECT_THAT(result, fails_with(DAT_INVALID_STATE));
        }
      }
      must_stand_back_.store(false);
    }
    is_over_.store(true);
    for (std::thread& user : users) user.join();
    EXPECT_EQ(frees_.load(), kRounds);
  }

  // "is no live EVD, or another thread frees it": what two threads free at once is not in use.
  void free_twice(const std::function<DAT_HANDLE()>& make, const Call& free) {
    constexpr int kRounds = 1000;
    std::atomic<DAT_HANDLE> handle{DAT_HANDLE_NULL};
    std::atomic<DAT_RETURN> second{0};
    std::atomic<bool> is_over{false};
    std::thread other([&] {
      while (!is_over.load()) {
        const DAT_HANDLE mine = handle.load();
        if (mine == DAT_HANDLE_NULL) continue;
        second.store(free(mine));
        handle.store(DAT_HANDLE_NULL);
      }
    });
    for (int round = 0; round < kRounds && !HasFailure(); ++round) {
      const DAT_HANDLE mine = make();
      handle.store(mine);
      const DAT_RETURN first = free(mine);
      while (handle.load() != DAT_HANDLE_NULL) std::this_thread::yield();
      const bool is_first = first == DAT_SUCCESS;
      EXPECT_THAT(is_first ? first : second.load(), succeeds());
      EXPECT_THAT(is_first ? second.load() : first, fails_with(DAT_INVALID_HANDLE));
    }
    is_over.store(true);
    other.join();
  }

  DAT_EP_HANDLE make_ep() {
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    require(dat_ep_create(peer_.adapter.handle(), peer_.pz, peer_.recv_evd, peer_.request_evd, peer_.connect_evd,
                          nullptr, &ep),
            "dat_ep_create");
    return ep;
  }

  Peer peer_{kServerName};
  std::vector<unsigned char> bytes_ = std::vector<unsigned char>(4096);

 private:
  void use(int number, const Call& free, const std::vector<Call>& uses) {
    for (std::size_t turn = static_cast<std::size_t>(number); !is_over_.load(); ++turn) {
      if (must_stand_back_.load()) {
        std::this_thread::yield();
        continue;
      }
      const DAT_HANDLE handle = shared_.load();
      if (turn % 8 == 7 && number == 0) {
        if (free(handle) == DAT_SUCCESS) frees_.fetch_add(1);
        continue;
      }
      const DAT_RETURN result = uses[turn % uses.size()](handle);
      EXPECT_THAT(result, testing::AnyOf(succeeds(), is_empty_queue(), is_not_supported(), fails_with(DAT_QUEUE_EMPTY),
                                         fails_with(DAT_INVALID_HANDLE), fails_with(DAT_INVALID_STATE),
                                         fails_with(DAT_TIMEOUT_EXPIRED), fails_with(DAT_ABORT),
                                         fails_with(DAT_QUEUE_FULL), fails_with(DAT_INSUFFICIENT_RESOURCES),
                                         fails_with(DAT_INVALID_PARAMETER), fails_with(DAT_CONN_QUAL_IN_USE)))
          << "use " << turn % uses.size();
    }
  }

  std::atomic<DAT_HANDLE> shared_{DAT_HANDLE_NULL};
  std::atomic<bool> is_over_{false};
  std::atomic<bool> must_stand_back_{false};  // users make no calls meanwhile
  std::atomic<int> frees_{0};
};

// Makes something of the handle and frees it again.
template <typename Make, typename Free>
DAT_RETURN make_and_free(const Make& make, const Free& free) {
  DAT_HANDLE made = DAT_HANDLE_NULL;
  const DAT_RETURN result = make(&made);
  if (result == DAT_SUCCESS) {
    // What it was made of may have gone and taken it along, and its handle may be another object's by now.
    EXPECT_THAT(free(made), testing::AnyOf(succeeds(), fails_with(DAT_INVALID_HANDLE), fails_with(DAT_INVALID_STATE)));
  }
  return result;
}

TEST_F(ObjectRaces, Dispatchers) {
  const DAT_CNO_HANDLE cno = peer_.adapter.make_cno();
  const DAT_EVENT software = make_software_event(1);
  race([&] { return peer_.adapter.make_evd(DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, 8); }, dat_evd_free,
       {[](DAT_HANDLE h) {
          DAT_EVENT event;
          return dat_evd_dequeue(h, &event);
        },
        [](DAT_HANDLE h) {
          DAT_EVENT event;
          DAT_COUNT more;
          return dat_evd_wait(h, kMoment, 1, &event, &more);
        },
        [&](DAT_HANDLE h) { return dat_evd_post_se(h, &software); }, [](DAT_HANDLE h) { return dat_evd_resize(h, 32); },
        [](DAT_HANDLE h) { return dat_evd_disable(h); }, [&](DAT_HANDLE h) { return dat_evd_modify_cno(h, cno); },
        [](DAT_HANDLE h) { return dat_evd_enable(h); }, [](DAT_HANDLE h) { return dat_evd_set_unwaitable(h); },
        [](DAT_HANDLE h) { return dat_evd_clear_unwaitable(h); },
        [](DAT_HANDLE h) {
          DAT_EVD_PARAM param;
          return dat_evd_query(h, DAT_EVD_FIELD_ALL, &param);
        },
        [](DAT_HANDLE h) { return dat_evd_modify_cno(h, DAT_HANDLE_NULL); }});
  EXPECT_THAT(dat_cno_free(cno), succeeds());
}

std::vector<std::function<DAT_RETURN(DAT_HANDLE)>> uses_of_cno(DAT_EVD_HANDLE evd) {
  return {[](DAT_HANDLE h) {
            DAT_EVD_HANDLE triggered;
            return dat_cno_wait(h, kMoment, &triggered);
          },
          [evd](DAT_HANDLE h) { return dat_evd_modify_cno(evd, h); },
          [evd](DAT_HANDLE) {
            const DAT_EVENT event = make_software_event(1);
            return dat_evd_post_se(evd, &event);
          },
          [](DAT_HANDLE h) {
            return dat_cno_modify_agent(h, {nullptr, [](DAT_PVOID, DAT_EVD_HANDLE) {}});
          },
          [evd](DAT_HANDLE) { return dat_evd_modify_cno(evd, DAT_HANDLE_NULL); },
          [evd](DAT_HANDLE) {
            DAT_EVENT event;
            return dat_evd_dequeue(evd, &event);
          },
          [](DAT_HANDLE h) {
            DAT_CNO_PARAM param;
            return dat_cno_query(h, DAT_CNO_FIELD_ALL, &param);
          }};
}

DAT_RETURN detach_and_free(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno) {
  require(dat_evd_modify_cno(evd, DAT_HANDLE_NULL), "dat_evd_modify_cno");
  return dat_cno_free(cno);
}

TEST_F(ObjectRaces, NotificationObjects) {
  const DAT_EVD_HANDLE evd = peer_.adapter.make_software_evd(64);
  race([&] { return peer_.adapter.make_cno(); }, [evd](DAT_HANDLE h) { return detach_and_free(evd, h); },
       uses_of_cno(evd));
}

#if SOFTDAT_DAT_MAJOR == 2
TEST_F(ObjectRaces, NotificationObjectsWithDescriptors) {
  const DAT_EVD_HANDLE evd = peer_.adapter.make_software_evd(64);
  auto uses = uses_of_cno(evd);
  const auto trigger = [](DAT_HANDLE h) {
    DAT_EVD_HANDLE triggered;
    return dat_cno_trigger(h, &triggered);
  };
  uses.insert(uses.end(), {trigger, trigger});
  race(
      [&] {
        DAT_FD descriptor = -1;
        DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
        require(dat_cno_fd_create(peer_.adapter.handle(), &descriptor, &cno), "dat_cno_fd_create");
        return cno;
      },
      [evd](DAT_HANDLE h) { return detach_and_free(evd, h); }, uses);
}
#endif

TEST_F(ObjectRaces, Endpoints) {
  DAT_EP_PARAM same{};
  require(dat_ep_query(peer_.ep, DAT_EP_FIELD_ALL, &same), "dat_ep_query");
  const DAT_CONN_QUAL nobody = unused_qualifier();
  const DAT_IA_ADDRESS_PTR address = peer_.adapter.address();
  race([&] { return make_ep(); }, dat_ep_free,
       {[](DAT_HANDLE h) {
          DAT_EP_PARAM param;
          return dat_ep_query(h, DAT_EP_FIELD_ALL, &param);
        },
        [](DAT_HANDLE h) { return dat_ep_get_status(h, nullptr, nullptr, nullptr); },
        [](DAT_HANDLE h) { return dat_ep_post_recv(h, 0, nullptr, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG); },
        [&](DAT_HANDLE h) {
          return dat_ep_connect(h, address, nobody, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                                DAT_CONNECT_DEFAULT_FLAG);
        },
        [](DAT_HANDLE h) { return dat_ep_post_send(h, 0, nullptr, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG); },
        [&](DAT_HANDLE h) { return dat_ep_modify(h, DAT_EP_FIELD_PZ_HANDLE, &same); },
        [](DAT_HANDLE h) { return dat_ep_disconnect(h, DAT_CLOSE_ABRUPT_FLAG); },
        [](DAT_HANDLE h) { return dat_ep_set_watermark(h, 4, DAT_WATERMARK_INFINITE); },
        [](DAT_HANDLE h) { return dat_ep_recv_query(h, nullptr, nullptr); },
        [](DAT_HANDLE h) { return dat_ep_reset(h); },
        [&](DAT_HANDLE) {
          while (take_event(peer_.recv_evd) || take_event(peer_.connect_evd) || take_event(peer_.request_evd)) {
          }
          return DAT_RETURN{DAT_SUCCESS};
        }});
}

TEST_F(ObjectRaces, MemoryRegions) {
  std::atomic<DAT_LMR_CONTEXT> context{0};
  const auto segment = [&] { return make_local(bytes_.data(), 64, context.load()); };
  race(
      [&] {
        DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
        DAT_LMR_CONTEXT made = 0;
        DAT_REGION_DESCRIPTION region{};
        region.for_va = bytes_.data();
        require(create_lmr(peer_.adapter.handle(), DAT_MEM_TYPE_VIRTUAL, region, bytes_.size(), peer_.pz,
                           DAT_MEM_PRIV_ALL_FLAG, &lmr, &made, nullptr, nullptr, nullptr),
                "dat_lmr_create");
        context.store(made);
        return lmr;
      },
      dat_lmr_free,
      {[](DAT_HANDLE h) {
         DAT_LMR_PARAM param;
         return dat_lmr_query(h, DAT_LMR_FIELD_ALL, &param);
       },
       [&](DAT_HANDLE h) {
         return make_and_free(
             [&](DAT_LMR_HANDLE* lmr) {
               DAT_REGION_DESCRIPTION region{};
               region.for_lmr_handle = h;
               return create_lmr(peer_.adapter.handle(), DAT_MEM_TYPE_LMR, region, 0, peer_.pz,
                                 DAT_MEM_PRIV_LOCAL_READ_FLAG, lmr, nullptr, nullptr, nullptr, nullptr);
             },
             dat_lmr_free);
       },
       [&](DAT_HANDLE) {
         const DAT_LMR_TRIPLET one = segment();
         return dat_lmr_sync_rdma_read(peer_.adapter.handle(), &one, 1);
       },
       [&](DAT_HANDLE) {
         DAT_LMR_TRIPLET one = segment();
         const DAT_RETURN result = dat_ep_post_recv(peer_.ep, 1, &one, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG);
         return type_of(result) == DAT_PRIVILEGES_VIOLATION ? DAT_RETURN{DAT_SUCCESS} : result;
       }});
}

TEST_F(ObjectRaces, MemoryWindows) {
  if (const Lack lack = lack_of_windows(); !lack.empty()) GTEST_SKIP() << lack;
  race(
      [&] {
        DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
        require(dat_rmr_create(peer_.pz, &rmr), "dat_rmr_create");
        return rmr;
      },
      dat_rmr_free,
      {[](DAT_HANDLE h) {
         DAT_RMR_PARAM param;
         return dat_rmr_query(h, DAT_RMR_FIELD_ALL, &param);
       },
       [&](DAT_HANDLE h) {
         DAT_RMR_CONTEXT context;
         const DAT_LMR_TRIPLET piece = peer_.memory->local(0, 64);
         return bind_rmr(h, peer_.memory->lmr(), &piece, DAT_MEM_PRIV_REMOTE_READ_FLAG, peer_.ep, make_cookie(0),
                         DAT_COMPLETION_DEFAULT_FLAG, &context);
       },
       [](DAT_HANDLE h) { return dat_set_consumer_context(h, {}); }});
}

TEST_F(ObjectRaces, ProtectionZones) {
  race([&] { return peer_.adapter.make_pz(); }, dat_pz_free,
       {[](DAT_HANDLE h) {
          DAT_PZ_PARAM param;
          return dat_pz_query(h, DAT_PZ_FIELD_ALL, &param);
        },
        [](DAT_HANDLE h) {
          return make_and_free([h](DAT_RMR_HANDLE* rmr) { return dat_rmr_create(h, rmr); }, dat_rmr_free);
        },
        [&](DAT_HANDLE h) {
          return make_and_free(
              [&](DAT_LMR_HANDLE* lmr) {
                DAT_REGION_DESCRIPTION region{};
                region.for_va = bytes_.data();
                return create_lmr(peer_.adapter.handle(), DAT_MEM_TYPE_VIRTUAL, region, 64, h, DAT_MEM_PRIV_ALL_FLAG,
                                  lmr, nullptr, nullptr, nullptr, nullptr);
              },
              dat_lmr_free);
        },
        [&](DAT_HANDLE h) {
          return make_and_free(
              [&](DAT_EP_HANDLE* ep) {
                return dat_ep_create(peer_.adapter.handle(), h, peer_.recv_evd, peer_.request_evd, peer_.connect_evd,
                                     nullptr, ep);
              },
              dat_ep_free);
        }});
}

TEST_F(ObjectRaces, SharedReceiveQueues) {
  const DAT_EP_ATTR attributes = default_attributes();
  race(
      [&] {
        DAT_SRQ_ATTR asked = srq_attributes(8, 1, DAT_SRQ_LW_DEFAULT);
        DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
        require(dat_srq_create(peer_.adapter.handle(), peer_.pz, &asked, &srq), "dat_srq_create");
        return srq;
      },
      dat_srq_free,
      {[](DAT_HANDLE h) {
         DAT_SRQ_PARAM param;
         return dat_srq_query(h, DAT_SRQ_FIELD_ALL, &param);
       },
       [&](DAT_HANDLE h) {
         DAT_LMR_TRIPLET segment = peer_.memory->local(0, 64);
         return dat_srq_post_recv(h, 1, &segment, make_cookie(0));
       },
       [](DAT_HANDLE h) { return dat_srq_resize(h, 16); }, [](DAT_HANDLE h) { return dat_srq_set_lw(h, 2); },
       [&](DAT_HANDLE h) {
         return make_and_free(
             [&](DAT_EP_HANDLE* ep) {
               return dat_ep_create_with_srq(peer_.adapter.handle(), peer_.pz, peer_.recv_evd, peer_.request_evd,
                                             peer_.connect_evd, h, &attributes, ep);
             },
             dat_ep_free);
       }});
}

TEST_F(ObjectRaces, DispatcherThatTwoFree) {
  free_twice([&] { return peer_.adapter.make_evd(DAT_EVD_SOFTWARE_FLAG); },
             [](DAT_HANDLE evd) { return dat_evd_free(evd); });
}

TEST_F(ObjectRaces, ProtectionZoneThatTwoFree) {
  free_twice([&] { return peer_.adapter.make_pz(); }, [](DAT_HANDLE pz) { return dat_pz_free(pz); });
}

TEST_F(ObjectRaces, SharedReceiveQueueThatTwoFree) {
  const auto make = [&] {
    DAT_SRQ_ATTR attributes = srq_attributes(8, 1, DAT_SRQ_LW_DEFAULT);
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    require(dat_srq_create(peer_.adapter.handle(), peer_.pz, &attributes, &srq), "dat_srq_create");
    return srq;
  };
  free_twice(make, [](DAT_HANDLE srq) { return dat_srq_free(srq); });
}

TEST_F(ObjectRaces, ServicePoints) {
  std::atomic<DAT_CONN_QUAL> qualifier{0};
  Peer client(kClientName);
  race(
      [&] {
        qualifier.store(unused_qualifier());
        return peer_.adapter.make_psp(qualifier.load(), peer_.cr_evd);
      },
      dat_psp_free,
      {[](DAT_HANDLE h) {
         DAT_PSP_PARAM param;
         return dat_psp_query(h, DAT_PSP_FIELD_ALL, &param);
       },
       [&](DAT_HANDLE) { return client.connect(peer_, qualifier.load()); },
       [&](DAT_HANDLE) {
         if (const auto request = take_event(peer_.cr_evd))
           return reject_cr(request->event_data.cr_arrival_event_data.cr_handle);
         return DAT_RETURN{DAT_SUCCESS};
       },
       [&](DAT_HANDLE) { return dat_ep_reset(client.ep); },
       [](DAT_HANDLE h) { return dat_set_consumer_context(h, {}); }});
}

TEST_F(ObjectRaces, ReservedServicePoints) {
  const DAT_EP_HANDLE ep = make_ep();
  race(
      [&] {
        DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
        // The endpoint is reserved until the last one has gone, perhaps by another thread.
        EXPECT_TRUE(eventually([&] {
          const DAT_CONN_QUAL qualifier = unused_qualifier();
          return dat_rsp_create(peer_.adapter.handle(), qualifier, ep, peer_.cr_evd, &rsp) == DAT_SUCCESS;
        }));
        return rsp;
      },
      dat_rsp_free,
      {[](DAT_HANDLE h) {
         DAT_RSP_PARAM param;
         return dat_rsp_query(h, DAT_RSP_FIELD_ALL, &param);
       },
       [&](DAT_HANDLE) { return dat_ep_get_status(ep, nullptr, nullptr, nullptr); },
       [&](DAT_HANDLE) { return dat_ep_post_recv(ep, 0, nullptr, make_cookie(0), DAT_COMPLETION_DEFAULT_FLAG); },
       [](DAT_HANDLE h) { return dat_set_consumer_context(h, {}); }});
  EXPECT_THAT(dat_ep_free(ep), succeeds());
}

#if SOFTDAT_DAT_MAJOR == 2
TEST_F(ObjectRaces, CommonServicePoints) {
  DAT_COMM tcp{AF_INET, SOCK_STREAM, IPPROTO_TCP};
  race(
      [&] {
        // Port 0: any that is free.
        DAT_CSP_HANDLE csp = DAT_HANDLE_NULL;
        require(dat_csp_create(peer_.adapter.handle(), &tcp, peer_.adapter.address(), peer_.cr_evd, &csp),
                "dat_csp_create");
        return csp;
      },
      dat_csp_free,
      {[](DAT_HANDLE h) {
         DAT_CSP_PARAM param;
         return dat_csp_query(h, DAT_CSP_FIELD_ALL, &param);
       },
       [](DAT_HANDLE h) { return dat_set_consumer_context(h, {}); }});
}
#endif

TEST_F(ObjectRaces, AdaptersOpenings) {
  race(
      [] {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
        require(dat_ia_open(const_cast<char*>(kClientName), 8, &async, &ia), "dat_ia_open");
        return ia;
      },
      [](DAT_HANDLE h) { return dat_ia_close(h, DAT_CLOSE_ABRUPT_FLAG); },
      {[](DAT_HANDLE h) {
         DAT_IA_ATTR attributes;
         return dat_ia_query(h, nullptr, DAT_IA_FIELD_ALL, &attributes, 0, nullptr);
       },
       [](DAT_HANDLE h) { return make_and_free([h](DAT_PZ_HANDLE* pz) { return dat_pz_create(h, pz); }, dat_pz_free); },
       [](DAT_HANDLE h) {
         return make_and_free(
             [h](DAT_EVD_HANDLE* evd) { return dat_evd_create(h, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, evd); },
             dat_evd_free);
       },
       [](DAT_HANDLE h) {
         return make_and_free(
             [h](DAT_CNO_HANDLE* cno) {
               return dat_cno_create(h, {nullptr, nullptr}, cno);
             },
             dat_cno_free);
       },
       [](DAT_HANDLE h) { return dat_set_consumer_context(h, {}); }});
}

}  // namespace
}  // namespace softdat::conformance
