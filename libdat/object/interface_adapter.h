// SPDX-License-Identifier: BSD-2-Clause
// IA: an open adapter, the parent of all objects created with it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/counter_file.h"
#include "hca/device.h"
#include "libdat/object/adapter_counters.h"
#include "libdat/object/counter_publisher.h"
#include "libdat/object/event.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/socket_address.h"
#include "libdat/object/status.h"
#include "libdat/object/use_count.h"
#include "libdat/object/wait_agent.h"

namespace softdat::object {

class EventDispatcher;
class UpcallThread;

// Who created an object. Objects of the provider (the asynchronous EVD, CRs, tentative EPs) do not prevent a graceful
// close.
enum class Maker : std::uint8_t { kConsumer, kProvider };

struct AdapterOpening {
  std::string name;
  std::shared_ptr<hca::Device> device;   // from backends/open_device.h
  const void* provider_table = nullptr;  // first word of every handle made under this IA
  std::int32_t async_qlen = 0;           // of the asynchronous EVD to create
  EventDispatcher* async_evd = nullptr;  // an existing one of the same device instead
  bool async_is_elsewhere = false;       // DAT_EVD_ASYNC_EXISTS: this IA has none
  bool is_query = false;                 // opened for its attributes only
};

// The members of DAT_IA_ATTR and DAT_PROVIDER_ATTR that depend on the device.
struct AdapterAttributes {
  std::string name;
  std::string vendor;
  const SocketAddress* address;  // valid while the IA is open
  std::int32_t max_eps;
  std::int32_t max_dto_per_ep;
  std::int32_t max_rdma_read_per_ep_in;
  std::int32_t max_rdma_read_per_ep_out;
  std::int32_t max_evds;
  std::int32_t max_evd_qlen;
  std::int32_t max_iov_segments_per_dto;
  std::int32_t max_lmrs;
  std::uint64_t max_lmr_block_size;
  std::uint64_t max_lmr_virtual_address;
  std::int32_t max_pzs;
  std::uint64_t max_message_size;
  std::uint64_t max_rdma_size;
  std::int32_t max_rmrs;
  std::int32_t max_private_data_size;
  std::int32_t max_srqs;  // 0: no shared receive queues
  std::int32_t max_recv_per_srq;
  std::int32_t max_iov_segments_per_read;
  bool has_zero_based;
  bool has_atomics;
  bool has_immediate;
  bool has_datagrams;
  bool needs_remote_write_to_read;
  hca::Transport transport;
  hca::DirectAccess direct;
};

// Any thread.
class InterfaceAdapter final : public Object, private hca::DeviceSink {
 public:
  static constexpr Kind kKind = Kind::kIa;

  // dat_ia_open. `async_evd` is the EVD that was created or given; null with async_is_elsewhere.
  static Status open(const AdapterOpening& opening, Handle& ia, Handle& async_evd);

  // dat_ia_close. Graceful: INVALID_STATE, without any effect, while the consumer has objects other than the
  // asynchronous EVD. Abrupt: frees all objects of the IA. Waiters get DAT_ABORT or a null EVD, connections end, and
  // all handles are invalid after the return.
  static Status close(Pin<InterfaceAdapter> ia, bool is_graceful);

  ~InterfaceAdapter() override;

  AdapterAttributes attributes() const;
  // Null with async_is_elsewhere.
  Handle async_evd() const;

  const std::string& name() const { return name_; }
  bool is_query() const { return is_query_; }
  const void* provider_table() const { return provider_table_; }
  hca::Device& device() const { return *device_; }
  const std::shared_ptr<hca::Device>& shared_device() const { return device_; }
  const SocketAddress& address() const { return address_; }

  // --- For the other objects of this room ---

  // Posts an asynchronous error to the IA's asynchronous EVD.
  void report(const AsyncError& error);

  AdapterCounters& counters() { return counters_; }
  // What the tools of the user see of the IA (counter_publisher.h).
  base::IaRecord counters_now() const;

  // The thread that calls consumers' agents is started with the first reservation, which fails with
  // INSUFFICIENT_RESOURCES. Each is used up by one call_agent() or one release_agent_call(), which do not fail.
  Status reserve_agent_call();
  void release_agent_call();
  void call_agent(WaitAgent agent, Handle evd);

 private:
  friend class HandleTable;
  friend class Adoption;
  explicit InterfaceAdapter(const AdapterOpening& opening);
  void on_device_failed() override;
  Status set_up_async_evd(const AdapterOpening& opening);
  Status adopt(const std::shared_ptr<Object>& object, Maker maker);
  bool remember(Object& object, Maker maker);
  void forget(Object& object);
  void close_all(Kind kind);
  void detach() override;

  // Fixed after set_up().
  const std::string name_;
  const void* const provider_table_;
  const bool is_query_;
  std::shared_ptr<hca::Device> device_;
  SocketAddress address_{};

  std::optional<ShownAdapter> shown_;  // while tools are to see the counters
  UseCount consumer_objects_;
  AdapterCounters counters_;

  // Guarded by mutex_ (docs/THREADS.md).
  mutable base::Mutex<locks::kInterfaceAdapter> mutex_;
  std::array<std::unordered_map<Object*, Maker>, kKindCount> objects_;
  std::shared_ptr<EventDispatcher> async_evd_;
  bool is_async_evd_shared_ = false;
  std::uint64_t lost_errors_ = 0;
  std::unique_ptr<UpcallThread> upcalls_;
};

// Adds a new object to the handle table and to its IA. The object cannot be used until publish(). The destructor undoes
// all if publish() was not called.
class Adoption {
 public:
  Adoption(InterfaceAdapter& ia, std::shared_ptr<Object> object, Maker maker = Maker::kConsumer);
  ~Adoption();
  Adoption(const Adoption&) = delete;
  Adoption& operator=(const Adoption&) = delete;

  // INSUFFICIENT_RESOURCES: no handle is left. INVALID_HANDLE: the IA is being closed. publish() REQUIRES: ok().
  const Status& status() const { return status_; }
  Handle publish();

 private:
  std::shared_ptr<Object> object_;
  Status status_;
  const Maker maker_;
  bool is_published_ = false;
};

inline Handle Object::ia_handle() const {
  return ia_->handle();
}

}  // namespace softdat::object
