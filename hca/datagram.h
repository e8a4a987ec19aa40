// SPDX-License-Identifier: BSD-2-Clause
// Datagrams: what a device may offer beside reliable connections (a Device that does is a
// DatagramDevice too). Queue pairs learn of each other by an exchange, connect() on one side and a
// listener's request on the other, which leaves both with the other's address handle. Datagrams then
// go to any number of peers, whole or not at all, and nobody hears of those that get lost: above all
// those that find no receive posted, or one too short.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "hca/device.h"

namespace softdat::hca {

// Every receive of a datagram begins with so many bytes about where it came from, laid out as the
// global route header of InfiniBand; what was sent stands behind them.
inline constexpr std::uint32_t kDatagramPrefix = 40;

// Where a peer's queue pairs can be reached. May be used by every datagram queue pair of its device
// and outlives the one that got it; dies before the device. Any thread.
class AddressHandle {
 public:
  virtual ~AddressHandle() = default;
  virtual Address address() const = 0;
  virtual std::uint32_t qp_number() const = 0;  // of the queue pair that took part in the exchange
};

struct DatagramEvent {
  ConnectionEventType type;               // kEstablished, or why there is no exchange
  bool is_passive = false;                // the peer asked
  std::shared_ptr<AddressHandle> peer{};  // of kEstablished
  Bytes private_data{};                   // of the peer
};

// Hears of every exchange once. Same thread rule as QueuePairSink.
class DatagramSink {
 public:
  virtual void on_datagram_event(const DatagramEvent& event) = 0;

 protected:
  ~DatagramSink() = default;
};

struct DatagramRequest {
  std::uint64_t wr_id = 0;
  std::uint32_t flags = 0;  // kSignaled, kQuiet, kSolicited
  const AddressHandle* peer = nullptr;
  std::uint32_t qp_number = 0;  // of the peer's queue pair
  std::span<const Segment> local{};
};

// A queue pair whose connect() may be called again and again, each time for one exchange, and which
// may be accepted with as often. kConnected from its first exchange until disconnect(). What it is
// not made for (post_send) is kUnsupported.
class DatagramQueuePair : public QueuePair {
 public:
  virtual std::uint32_t number() const = 0;

  // Valid in every state; flushed at once in kError. Succeeds as soon as the bytes have been taken.
  // Errors as QueuePair::post_send; kInvalidArgument also for more bytes than max_datagram().
  virtual Outcome post_datagram(const DatagramRequest& request) = 0;
};

class DatagramDevice {
 public:
  // Errors as Device::create_qp; limits of reads are ignored. config.sink hears of kDisconnected.
  virtual Result<std::unique_ptr<DatagramQueuePair>> create_datagram_qp(const QueuePairConfig& config,
                                                                        DatagramSink& sink) = 0;
  virtual std::uint32_t max_datagram() const = 0;

 protected:
  ~DatagramDevice() = default;
};

// A ConnectionRequest that can be of either kind.
class DatagramRequester {
 public:
  virtual bool is_datagram() const = 0;

 protected:
  ~DatagramRequester() = default;
};

// Whether the request is for an exchange, to be accepted with a DatagramQueuePair and nothing else.
inline bool asks_for_datagrams(const ConnectionRequest& request) {
  const auto* requester = dynamic_cast<const DatagramRequester*>(&request);
  return requester != nullptr && requester->is_datagram();
}

}  // namespace softdat::hca
