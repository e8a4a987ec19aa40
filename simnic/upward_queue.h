// SPDX-License-Identifier: BSD-2-Clause
// UpwardQueue: what the NIC has to say to its consumer, in order. Filled during a turn, emptied
// after the baton has been left, so that no sink is ever called with anything of ours held.
//
// News must not fail for want of memory, so whoever may have some has a place promised beforehand:
// one for each word that is said once (say), or one for all of a kind (say_again, say_once).
#pragma once

#include <atomic>
#include <boost/circular_buffer.hpp>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include "hca/completion_queue.h"
#include "hca/connection.h"
#include "hca/datagram.h"
#include "hca/device.h"
#include "hca/shared_receive_queue.h"

namespace softdat::simnic {

class DirectPath;

struct CompletionNews {
  hca::CompletionSink* sink;
};
struct OverflowNews {
  hca::CompletionSink* sink;
};
struct ConnectionNews {
  hca::QueuePairSink* sink;
  hca::ConnectionEvent event;
  DirectPath* path = nullptr;  // the queue pair's: when the consumer hears of an end, the peer has ended; null: none
};
struct RequestNews {
  hca::ListenerSink* sink;
  std::unique_ptr<hca::ConnectionRequest> request;
};
struct DatagramNews {
  hca::DatagramSink* sink;
  hca::DatagramEvent event;
};
struct RecvLimitNews {
  hca::QueuePairSink* sink;
};
struct LowReceivesNews {
  hca::SharedReceiveQueueSink* sink;
};
struct FailureNews {
  hca::DeviceSink* sink;
};
using News = std::variant<CompletionNews, OverflowNews, ConnectionNews, DatagramNews, RequestNews, RecvLimitNews,
                          LowReceivesNews, FailureNews>;

class UpwardQueue {
 public:
  // Any thread. Throws std::bad_alloc, and nothing is promised then.
  void promise(std::size_t places);
  // What was promised will not be needed (any more).
  void release(std::size_t places);

  // Any thread, all of them; `owner` is the object that speaks, for forget().
  // Takes a promised place for good.
  void say(const void* owner, News news);
  // Without a promise. False without memory; `news` is what it was then.
  [[nodiscard]] bool try_say(const void* owner, News& news);
  // Each in a place of its kind that stays promised. What waits to be said is said once more, or is not repeated.
  void say_again(const void* owner, News news) { say_in_standing_place(owner, std::move(news), 1); }
  void say_once(const void* owner, News news) { say_in_standing_place(owner, std::move(news), 0); }

  // Calls sinks until nothing is left; returns at once when another thread (or a caller further up
  // this thread's stack) is doing so. True when it called any.
  bool deliver();

  // After it no call on behalf of `owner` runs or comes, but for the one from within which this
  // very thread calls. Never with the baton: what is dropped may need it.
  void forget(const void* owner);

  bool has_news() const { return has_news_.load(std::memory_order_seq_cst); }

 private:
  struct Item {
    const void* owner = nullptr;
    News news;
    bool has_standing_place = false;
    std::uint32_t times = 1;
  };
  Item* find_waiting_locked(const void* owner, const News& news);
  // What waits already is said `more` times more.
  void say_in_standing_place(const void* owner, News news, std::uint32_t more);
  void make_room_locked(std::size_t places);

  std::mutex mutex_;
  // Guarded by mutex_.
  boost::circular_buffer<Item> items_{16};
  std::size_t promised_ = 0;        // places for what is not said yet, and the standing ones
  std::size_t others_ = 0;          // items without a standing place
  const void* speaking_ = nullptr;  // the owner whose sink is being called; written by the speaker alone
  std::thread::id speaker_;         // by this thread
  bool is_delivering_ = false;
  std::condition_variable fell_silent_;
  // Written under mutex_, read without: spares the pollers the lock.
  std::atomic<bool> has_news_{false};
};

}  // namespace softdat::simnic
