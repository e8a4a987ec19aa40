// SPDX-License-Identifier: BSD-2-Clause
// UpcallQueue: the upcalls of a NIC (Upcall), in order. A turn fills it. It is emptied after the baton has been left,
// so no sink is called with a lock or the baton held.
//
// Queuing an upcall never fails when out of memory, because its place was reserved with reserve(): one place for each
// upcall that comes once (post), or one for all upcalls of a kind (post_counted, post_coalesced).
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

struct CompletionUpcall {
  hca::CompletionSink* sink;
};
struct OverflowUpcall {
  hca::CompletionSink* sink;
};
struct ConnectionUpcall {
  hca::QueuePairSink* sink;
  hca::ConnectionEvent event;
  DirectPath* path = nullptr;  // the queue pair's: when the consumer hears of an end, the peer has ended; null: none
};
struct RequestUpcall {
  hca::ListenerSink* sink;
  std::unique_ptr<hca::ConnectionRequest> request;
};
struct DatagramUpcall {
  hca::DatagramSink* sink;
  hca::DatagramEvent event;
};
struct RecvLimitUpcall {
  hca::QueuePairSink* sink;
};
struct LowReceivesUpcall {
  hca::SharedReceiveQueueSink* sink;
};
struct FailureUpcall {
  hca::DeviceSink* sink;
};
using Upcall = std::variant<CompletionUpcall, OverflowUpcall, ConnectionUpcall, DatagramUpcall, RequestUpcall,
                            RecvLimitUpcall, LowReceivesUpcall, FailureUpcall>;

class UpcallQueue {
 public:
  // Reserves places. Any thread. Throws std::bad_alloc without any effect.
  void reserve(std::size_t places);
  // Gives back reserved places that are not needed (any more).
  void release(std::size_t places);

  // All of these from any thread. `owner` is the object whose upcall it is, for forget().
  // Uses up a reserved place.
  void post(const void* owner, Upcall upcall);
  // Without a reserved place. False when out of memory; `upcall` is unchanged then.
  [[nodiscard]] bool try_post(const void* owner, Upcall& upcall);
  // These use a place that stays reserved for all upcalls of the kind. If one waits already, post_counted() has it
  // delivered once more, and post_coalesced() does nothing.
  void post_counted(const void* owner, Upcall upcall) { post_in_standing_place(owner, std::move(upcall), 1); }
  void post_coalesced(const void* owner, Upcall upcall) { post_in_standing_place(owner, std::move(upcall), 0); }

  // Calls sinks until the queue is empty. Returns at once if another thread, or a caller further up this thread's
  // stack, is delivering. True if it called any sink.
  bool deliver();

  // Drops the upcalls of `owner`, and waits for one that is being delivered, unless this thread is within it. REQUIRES:
  // not the baton, because the destructor of a dropped request may take it.
  void forget(const void* owner);

  // An upcall of `owner` waits. Not one that is being delivered.
  bool holds_any_of(const void* owner) const;
  bool has_news() const { return has_news_.load(std::memory_order_seq_cst); }

 private:
  struct Item {
    const void* owner = nullptr;
    Upcall upcall;
    bool has_standing_place = false;
    std::uint32_t times = 1;
  };
  Item* find_waiting_locked(const void* owner, const Upcall& upcall);
  // An upcall of the kind that waits already is delivered `more` times more.
  void post_in_standing_place(const void* owner, Upcall upcall, std::uint32_t more);
  void make_room_locked(std::size_t places);

  mutable base::Mutex<locks::kUpcallQueue> mutex_;
  // Guarded by mutex_.
  boost::circular_buffer<Item> items_{16};
  std::size_t reserved_ = 0;        // places for what is not posted yet, and the standing ones
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
