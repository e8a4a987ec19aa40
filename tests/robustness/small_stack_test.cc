// SPDX-License-Identifier: BSD-2-Clause
// How much stack each call of the API takes. Programs with many threads give each a small one. A call on the data path
// has 4 KiB; every other has what a thread of 16 KiB (PTHREAD_STACK_MIN) leaves it. Measured on a painted stack.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "tests/conformance/peer.h"

// Sanitizers put guards around everything on the stack.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SOFTDAT_TEST_MEASURES_STACKS 0
#else
#define SOFTDAT_TEST_MEASURES_STACKS 1
#endif

namespace softdat::conformance {
namespace {

constexpr std::size_t kDataPath = std::size_t{4} << 10;
constexpr std::size_t kRest = std::size_t{12} << 10;  // of 16 KiB, less what the C library has at the top of each stack

// A stack that shows how far down it has been used.
class PaintedStack {
 public:
  PaintedStack() {
    void* const got = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) throw SetupFailure("no memory");
    bytes_ = static_cast<unsigned char*>(got);
    std::memset(bytes_, kPaint, kSize);
  }
  ~PaintedStack() { ::munmap(bytes_, kSize); }
  PaintedStack(const PaintedStack&) = delete;
  PaintedStack& operator=(const PaintedStack&) = delete;

  // Runs `act` in a thread on it.
  void run(const std::function<void()>& act) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, bytes_, kSize);
    auto* const argument = const_cast<std::function<void()>*>(&act);
    const int error = pthread_create(&thread, &attributes, enter, argument);
    pthread_attr_destroy(&attributes);
    if (error != 0) throw SetupFailure("no thread");
    pthread_join(thread, nullptr);
  }
  std::size_t used() const {
    return static_cast<std::size_t>(bytes_ + kSize -
                                    std::find_if(bytes_, bytes_ + kSize, [](auto byte) { return byte != kPaint; }));
  }

 private:
  static constexpr std::size_t kSize = std::size_t{256} << 10;
  static constexpr unsigned char kPaint = 0xa5;
  static void* enter(void* act) {
    (*static_cast<std::function<void()>*>(act))();
    return nullptr;
  }

  unsigned char* bytes_ = nullptr;
};

std::size_t stack_of(const std::function<void()>& act) {
  PaintedStack stack;
  stack.run(act);
  return stack.used();
}

class SmallStack : public testing::Test {
 protected:
  void SetUp() override {
    if (!SOFTDAT_TEST_MEASURES_STACKS) GTEST_SKIP() << "sanitizers take stack of their own";
    nothing_ = stack_of([] {});
  }

  // The least of two rounds: the first one may have to find symbols.
  void expect_within(std::size_t budget, const char* call, const std::function<void()>& act) {
    const std::size_t used = stack_of(act) - nothing_;
    std::printf("%6zu bytes  %s\n", used, call);
    EXPECT_LE(used, budget) << call;
  }
  void expect_on_data_path(const char* call, const std::function<void()>& act) {
    act();
    expect_within(kDataPath, call, act);
  }

  std::size_t nothing_ = 0;  // what a thread takes that does nothing
};

TEST_F(SmallStack, CallsOfTheDataPath) {
  ConnectedPair pair;
  Peer& client = pair.client;
  Peer& server = pair.server;
  DAT_EVENT event;
  DAT_COUNT more = 0;
  const auto settle = [&] {
    static_cast<void>(drain(client.request_evd));
    static_cast<void>(drain(server.recv_evd));
    static_cast<void>(drain(server.request_evd));
    static_cast<void>(drain(client.recv_evd));
  };
  const DAT_RMR_TRIPLET remote = server.memory->remote(8192, 4096);
  expect_on_data_path("dat_ep_post_recv", [&] { require(server.post_recv(0, 4096), "recv"); });
  expect_on_data_path("dat_ep_post_send", [&] { require(client.post_send(0, 4096), "send"); });
  settle();
  expect_on_data_path("dat_ep_post_rdma_write", [&] { require(client.post_write(0, 4096, remote), "write"); });
  expect_on_data_path("dat_ep_post_rdma_read", [&] { require(client.post_read(0, 4096, remote), "read"); });
  expect_on_data_path("dat_ep_post_rdma_read of less than its buffer",
                      [&] { require(client.post_read(0, 4096, server.memory->remote(8192, 1000)), "read"); });
  expect_on_data_path("dat_evd_dequeue", [&] { static_cast<void>(dat_evd_dequeue(client.request_evd, &event)); });
  settle();
  expect_on_data_path("dat_evd_wait of an event that is there", [&] {
    require(server.post_recv(0, 64), "recv");
    require(client.post_send(0, 64), "send");
    require(dat_evd_wait(server.recv_evd, kPatience, 1, &event, &more), "dat_evd_wait");
  });
  expect_on_data_path("dat_evd_wait that sleeps",
                      [&] { static_cast<void>(dat_evd_wait(server.recv_evd, kShortWait, 1, &event, &more)); });
  expect_on_data_path("dat_ep_get_status",
                      [&] { require(dat_ep_get_status(client.ep, nullptr, nullptr, nullptr), "status"); });
}

// A thread that polls meets what others do to its peers: their requests, their ends, their deaths.
TEST_F(SmallStack, APollThatMeetsConnectionsAndTheirEnds) {
  Peer server(kServerName);
  std::atomic<bool> is_over{false};
  std::thread others([&] {
    for (int i = 0; i < 20; ++i) {
      Peer own_server(kServerName);
      Peer client("sim3");
      establish(own_server, client);
      expect_conversation(own_server, client);
    }
    is_over.store(true);
  });
  expect_within(kDataPath, "dat_evd_dequeue beside connections that come and go", [&] {
    DAT_EVENT event;
    while (!is_over.load()) static_cast<void>(dat_evd_dequeue(server.recv_evd, &event));
  });
  others.join();
}

TEST_F(SmallStack, CallsThatMakeAndFree) {
  { const Adapter loaded; }  // the loader's own share is not ours
  std::unique_ptr<Peer> server, client;
  DAT_EVENT event;
  expect_within(kRest, "opening an adapter and making one of everything",
                [&] { server = std::make_unique<Peer>(kServerName); });
  expect_within(kRest, "the same on another adapter", [&] { client = std::make_unique<Peer>(kClientName); });
  expect_within(kRest, "dat_lmr_create and dat_lmr_free",
                [&] { const Memory memory(server->adapter.handle(), server->pz, 1 << 20); });
  DAT_CONN_QUAL qualifier = 0;
  expect_within(kRest, "dat_psp_create", [&] { qualifier = server->listen(); });
  expect_within(kRest, "dat_ep_connect", [&] { require(client->connect(*server, qualifier), "dat_ep_connect"); });
  expect_within(kRest, "dat_cr_accept",
                [&] { require(dat_cr_accept(server->next_request(), server->ep, 0, nullptr), "dat_cr_accept"); });
  expect_within(kRest, "dat_evd_wait for a connection", [&] {
    event = next_event(client->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    event = next_event(server->connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
  });
  expect_within(kRest, "dat_ep_disconnect", [&] {
    require(dat_ep_disconnect(client->ep, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
    event = next_event(server->connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  });
  expect_within(kRest, "dat_psp_free", [&] { server->stop_listening(); });
  expect_within(kRest, "dat_ia_close", [&] { client.reset(); });
  expect_within(kRest, "dat_ia_close of the other one", [&] { server.reset(); });
}

}  // namespace
}  // namespace softdat::conformance
