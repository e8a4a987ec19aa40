// SPDX-License-Identifier: BSD-2-Clause
// UpwardQueue: the upcalls of a NIC (News), in order. A turn fills it. It is emptied after the baton has been left, so
// no sink is called with a lock or the baton held.
//
// Queuing an upcall never fails when out of memory, because its place was reserved with promise(): one place for each
// upcall that comes once (say), or one for all upcalls of a kind (say_again, say_once).
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
#include "simnic/lock_places.h"

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
  // Reserves places. Any thread. Throws std::bad_alloc without any effect.
  void promise(std::size_t places);
  // Gives back reserved places that are not needed (any more).
  void release(std::size_t places);

  // All of these from any thread. `owner` is the object whose upcall it is, for forget().
  // Uses up a reserved place.
  void say(const void* owner, News news);
  // Without a reserved place. False when out of memory; `news` is unchanged then.
  [[nodiscard]] bool try_say(const void* owner, News& news);
  // These use a place that stays reserved for all upcalls of the kind. If one waits already, say_again() has it
  // delivered once more, and say_once() does nothing.
  void say_again(const void* owner, News news) { say_in_standing_place(owner, std::move(news), 1); }
  void say_once(const void* owner, News news) { say_in_standing_place(owner, std::move(news), 0); }

  // Calls sinks until the queue is empty. Returns at once if another thread, or a caller further up this thread's
  // stack, is delivering. True if it called any sink.
  bool deliver();

  // Drops the upcalls of `owner`, and waits for one that is being delivered, unless this thread is within it. REQUIRES:
  // not the baton, because the destructor of a dropped request may take it.
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

  base::Mutex<locks::kUpwardQueue> mutex_;
  // Guarded by mutex_.
  boost::circular_buffer<Item> items_{16};
  std::size_t promised_ = 0;        // places for what is not said yet, and the standing ones
  std::size_t others_ = 0;          // items without a standing place
  const void* speaking_ = nullptr;  // the owner whose sink is being called; written by the speaker alone
  std::thread::id speaker_;         // by this thread
  bool is_delivering_ = false;
  std::condition_variable_any fell_silent_;
  std::size_t awaiting_silence_ = 0;  // threads in forget()
  // Written under mutex_, read without: spares the pollers the lock.
  std::atomic<bool> has_news_{false};
};

}  // namespace softdat::simnic
