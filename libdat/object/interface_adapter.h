// SPDX-License-Identifier: BSD-2-Clause
// IA: one opening of an adapter, and the root of everything created with it.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "hca/device.h"
#include "libdat/object/event.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"
#include "libdat/object/use_count.h"

namespace softdat::object {

class EventDispatcher;
class UpcallThread;

struct AdapterOpening {
  std::string name;
  std::shared_ptr<hca::Device> device;   // from backends/open_device.h
  const void* provider_table = nullptr;  // first word of every handle made under this IA
  std::int32_t async_qlen = 0;           // of the asynchronous EVD to be made
  EventDispatcher* async_evd = nullptr;  // the consumer's own instead (of the same device)
  bool async_is_elsewhere = false;       // DAT_EVD_ASYNC_EXISTS: none here
};

// The numbers of DAT_IA_ATTR and DAT_PROVIDER_ATTR that the device decides.
struct AdapterAttributes {
  std::string name;
  std::string vendor;
  const sockaddr_in* address;  // valid while the IA is open
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
};

// Any thread.
class InterfaceAdapter final : public Object {
 public:
  static constexpr Kind kKind = Kind::kIa;

  // dat_ia_open. `async_evd` is the EVD made or given; null when it is elsewhere.
  static Status open(const AdapterOpening& opening, Handle& ia, Handle& async_evd);

  // dat_ia_close. Graceful: INVALID_STATE, and the IA stays usable, while the consumer has objects
  // other than the asynchronous EVD. Abrupt: ends everything below: waiters leave with DAT_ABORT or
  // a null EVD, connections break, and all handles are dead when it returns.
  static Status close(Pin<InterfaceAdapter> ia, bool is_graceful);

  AdapterAttributes attributes() const;
  // Null when it is elsewhere.
  Handle async_evd() const;

  const std::string& name() const { return name_; }
  const void* provider_table() const { return provider_table_; }
  hca::Device& device() const { return *device_; }
  const std::shared_ptr<hca::Device>& shared_device() const { return device_; }
  const sockaddr_in& address() const { return address_; }

  // --- For the other objects of this room ---

  // Gives a new object its handle and its place under this IA. INSUFFICIENT_RESOURCES when there
  // are no handles left, INVALID_HANDLE when the IA is being closed. Objects of the provider (the
  // asynchronous EVD, CRs, tentative EPs) do not hinder a graceful close.
  enum class Maker : std::uint8_t { kConsumer, kProvider };
  Status adopt(const std::shared_ptr<Object>& object, Maker maker = Maker::kConsumer);

  // An asynchronous error, for the IA's asynchronous EVD.
  void report(const AsyncError& error);

  // Where consumers' agents are called. Started by the first use.
  UpcallThread& upcalls();

 private:
  friend class HandleTable;
  explicit InterfaceAdapter(const AdapterOpening& opening);
  Status set_up(const AdapterOpening& opening);
  void forget(Object& object);
  void close_all(Kind kind);
  void detach() override;

  // Fixed after set_up().
  const std::string name_;
  const void* const provider_table_;
  std::shared_ptr<hca::Device> device_;
  sockaddr_in address_{};

  UseCount consumer_objects_;

  // Guarded by mutex_ (the last lock of all: nothing is called while it is held).
  mutable std::mutex mutex_;
  std::array<std::unordered_set<Object*>, kKindCount> objects_;
  std::unordered_set<Object*> provider_objects_;
  bool is_closed_ = false;
  std::shared_ptr<EventDispatcher> async_evd_;
  bool owns_async_evd_ = false;
  std::unique_ptr<UpcallThread> upcalls_;
};

inline Handle Object::ia_handle() const {
  return ia_->handle();
}

}  // namespace softdat::object
