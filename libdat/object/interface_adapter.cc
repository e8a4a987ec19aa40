// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/interface_adapter.h"

#include <arpa/inet.h>

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include "base/assert.h"
#include "base/log.h"
#include "base/narrow.h"
#include "base/words.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/handle_words.h"
#include "libdat/object/refusal.h"
#include "libdat/object/run_report.h"
#include "libdat/object/socket_address.h"
#include "libdat/object/upcall_thread.h"

namespace softdat::object {
namespace {

// Children before parents, and what brings new objects before everything.
constexpr Kind kClosingOrder[] = {Kind::kPsp, Kind::kRsp, Kind::kCsp,           Kind::kCr,  Kind::kEp,  Kind::kSrq,
                                  Kind::kRmr, Kind::kLmr, Kind::kAddressHandle, Kind::kEvd, Kind::kCno, Kind::kPz};

std::int32_t clamp(std::uint64_t value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  return base::narrow<std::int32_t>(std::min(value, kMost));
}

}  // namespace

InterfaceAdapter::InterfaceAdapter(const AdapterOpening& opening)
    : Object(kKind, this),
      name_(opening.name),
      provider_table_(opening.provider_table),
      is_query_(opening.is_query),
      device_(opening.device),
      address_(socket_address(device_->attributes().address.with_port(0))) {}

Status InterfaceAdapter::open(const AdapterOpening& opening, Handle& ia, Handle& async_evd) {
  const std::shared_ptr<InterfaceAdapter> self(new InterfaceAdapter(opening));
  if (const Status status = self->set_up_async_evd(opening); !status.ok()) return status;
  HandleTable& table = HandleTable::instance();
  if (!table.add(self, opening.provider_table)) {
    self->detach();
    return insufficient_resources(StatusDetail::kResourceMemory);
  }
  SOFTDAT_DEBUG_CHECK(opening.async_is_elsewhere == (self->async_evd() == nullptr),
                      "an IA has an asynchronous EVD unless it is elsewhere");
  try {
    // From here on the device may tell this IA of an error.
    self->device_->watch(*self);
    // No Adoption undoes this: an IA is adopted by nobody.
  } catch (const std::bad_alloc&) {
    table.abandon(*self);
    self->detach();
    throw;
  }
  note_maker(*self);
  if (!self->is_query_ && are_counters_shown()) self->shown_.emplace();
  table.publish(*self);
  report_opened(*self);
  ia = self->handle();
  async_evd = self->async_evd();
  return kOk;
}

Status InterfaceAdapter::set_up_async_evd(const AdapterOpening& opening) {
  SOFTDAT_DEBUG_CHECK(async_evd_ == nullptr, "an IA gets its asynchronous EVD once");
  if (opening.async_is_elsewhere) return kOk;
  EventDispatcher* given = opening.async_evd;
  if (given == nullptr) return EventDispatcher::create_async(*this, opening.async_qlen, async_evd_);
  // dat_ia_open(3DAT): the asynchronous EVD of one IA may serve another IA of the same adapter.
  if (!given->streams().takes(kAsyncStream) || &given->ia().device() != device_.get() || !given->streams().add()) {
    return invalid_handle(StatusDetail::kInvalidHandleEvdAsync);
  }
  async_evd_ = std::static_pointer_cast<EventDispatcher>(given->shared_from_this());
  is_async_evd_shared_ = true;
  return kOk;
}

// A graceful close is refused while an object of the consumer's lives. From an abrupt one on none can be made.
Status InterfaceAdapter::close(Pin<InterfaceAdapter> ia, bool is_graceful) {
  if (!is_graceful) {
    ia->consumer_objects_.close();
  } else if (!ia->consumer_objects_.try_close()) {
    return because(invalid_state(StatusDetail::kInvalidStateIaInUse), [&] {
      return "a graceful close leaves nothing open, and these objects still live: " + objects_text(*ia, ia->handle()) +
             "; free them first, or close with DAT_CLOSE_ABRUPT_FLAG";
    });
  }
  const bool was_open = HandleTable::instance().close(as_object(std::move(ia)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleIa);
}

void InterfaceAdapter::on_device_failed() {
  constexpr std::int32_t kNoReason = 0;
  report({handle(), kNoReason, AsyncErrorType::kIaCatastrophic});
}

void InterfaceAdapter::detach() {
  SOFTDAT_DEBUG_CHECK(is_async_evd_shared_ <= (async_evd_ != nullptr), "an EVD that is shared is there");
  // Waits for a call of on_device_failed().
  device_->forget(*this);
  for (const Kind kind : kClosingOrder) close_all(kind);
  std::shared_ptr<EventDispatcher> async_evd;
  // Destroyed after the lock is gone: its end waits for an agent that runs, which may call this IA.
  std::unique_ptr<UpcallThread> upcalls;
  {
    std::lock_guard lock(mutex_);
    async_evd = std::move(async_evd_);
    upcalls = std::move(upcalls_);
  }
  if (async_evd != nullptr && is_async_evd_shared_) async_evd->streams().remove();
  shown_.reset();
}

// The consumer may be freeing some of them at the same time: those are waited for.
void InterfaceAdapter::close_all(Kind kind) {
  const auto& objects = objects_[static_cast<std::size_t>(kind)];
  for (;;) {
    Handle handle = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (objects.empty()) return;
      handle = objects.begin()->first->handle();
    }
    Pin<Object> pin = HandleTable::instance().pin_any(handle);
    // Another thread is closing this object, and will have the IA forget it.
    if (!pin || !HandleTable::instance().close(std::move(pin))) std::this_thread::yield();
  }
}

Status InterfaceAdapter::adopt(const std::shared_ptr<Object>& object, Maker maker) {
  // Fails once the IA is being closed: the consumer makes no further objects.
  if (maker == Maker::kConsumer && !consumer_objects_.try_acquire()) {
    return invalid_handle(StatusDetail::kInvalidHandleIa);
  }
  SOFTDAT_DEBUG_CHECK(object->ia_ == this, "an object is adopted by the IA that it was made for");
  SOFTDAT_DEBUG_CHECK(object->ia_owner_ == nullptr, "an object is adopted once");
  // The IA's memory stays until its last object is gone.
  object->ia_owner_ = std::static_pointer_cast<InterfaceAdapter>(shared_from_this());
  const bool has_handle = HandleTable::instance().add(object, provider_table_);
  if (has_handle && remember(*object, maker)) return kOk;
  if (has_handle) HandleTable::instance().abandon(*object);
  if (maker == Maker::kConsumer) consumer_objects_.release();
  return insufficient_resources(StatusDetail::kResourceMemory);
}

bool InterfaceAdapter::remember(Object& object, Maker maker) {
  std::lock_guard lock(mutex_);
  try {
    [[maybe_unused]] const bool is_new =
        objects_[static_cast<std::size_t>(object.kind())].emplace(&object, maker).second;
    SOFTDAT_DEBUG_CHECK(is_new, "an IA remembers an object once", static_cast<std::uint64_t>(object.kind()));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void InterfaceAdapter::forget(Object& object) {
  if (&object == this) return;
  std::lock_guard lock(mutex_);
  auto& objects = objects_[static_cast<std::size_t>(object.kind())];
  const auto known = objects.find(&object);
  base::check(known != objects.end(), "an IA knows each of its objects until it ends",
              static_cast<std::uint64_t>(object.kind()));
  if (known->second == Maker::kConsumer) consumer_objects_.release();
  objects.erase(known);
}

AdapterAttributes InterfaceAdapter::attributes() const {
  const hca::DeviceAttributes& device = device_->attributes();
  return {.name = name_,
          .vendor = device.vendor,
          .address = &address_,
          .max_eps = clamp(device.max_qp),
          .max_dto_per_ep = clamp(device.max_wr),
          .max_rdma_read_per_ep_in = clamp(device.max_ird),
          .max_rdma_read_per_ep_out = clamp(device.max_ord),
          .max_evds = clamp(device.max_cq),
          .max_evd_qlen = clamp(device.max_cqe),
          .max_iov_segments_per_dto = clamp(device.max_sge),
          .max_lmrs = clamp(device.max_mr),
          .max_lmr_block_size = device.max_mr_size,
          .max_lmr_virtual_address = std::numeric_limits<std::uint64_t>::max(),
          .max_pzs = clamp(device.max_pd),
          .max_message_size = device.max_message_size,
          .max_rdma_size = device.max_message_size,
          .max_rmrs = clamp(device.max_mw),
          .max_private_data_size = clamp(device.max_private_data),
          .max_srqs = clamp(device.max_srq),
          .max_recv_per_srq = device.max_srq == 0 ? 0 : clamp(device.max_srq_wr),
          .max_iov_segments_per_read = clamp(device.max_read_sge),
          .has_zero_based = device.has_zero_based,
          .has_atomics = device.has_atomics,
          .has_immediate = device.has_immediate,
          .has_datagrams = device.has_datagrams,
          .needs_remote_write_to_read = device.needs_remote_write_to_read,
          .transport = device.transport,
          .direct = device.direct};
}

Handle InterfaceAdapter::async_evd() const {
  std::lock_guard lock(mutex_);
  return async_evd_ == nullptr ? nullptr : async_evd_->handle();
}

void InterfaceAdapter::report(const AsyncError& error) {
  counters_.add(ia_counter::kAsyncError);
  if (error.type == AsyncErrorType::kEpBroken) counters_.add(ia_counter::kAsyncQpError);
  if (error.type == AsyncErrorType::kEvdOverflow) counters_.add(ia_counter::kAsyncCqError);
  // Kept alive by this pointer, and posted to without the lock.
  std::shared_ptr<EventDispatcher> evd;
  {
    std::lock_guard lock(mutex_);
    evd = async_evd_;
  }
  // The overflow of the asynchronous EVD cannot be told by that EVD.
  if (evd != nullptr && evd->handle() != error.object && evd->post({nullptr, error})) return;
  std::uint64_t lost = 0;
  {
    std::lock_guard lock(mutex_);
    lost = ++lost_errors_;
  }
  // Peers can cause one error after the other.
  if (!base::is_told(lost)) return;
  base::log(base::LogLevel::kWarning, "%s: asynchronous error %d of object %p is lost (%llu so far)", name_.c_str(),
            static_cast<int>(error.type), error.object, static_cast<unsigned long long>(lost));
}

base::IaRecord InterfaceAdapter::counters_now() const {
  static constexpr std::array<const char*, 3> kDirect{"none", "auto", "on"};
  base::IaRecord record{};
  static_assert(ia_counter::kCount == std::tuple_size_v<decltype(record.events)>);
  record.id = reinterpret_cast<std::uintptr_t>(handle());
  for (std::size_t i = 0; i < record.events.size(); ++i) record.events[i] = counters_.total(i);
  base::set_text(record.name, name_);
  base::set_text(record.address, address_text(address_));
  base::set_text(record.vendor, device_->attributes().vendor);
  SOFTDAT_DEBUG_CHECK(static_cast<std::size_t>(device_->attributes().direct) < kDirect.size(), "each way has a name");
  base::set_text(record.direct, kDirect[static_cast<std::size_t>(device_->attributes().direct)]);
  return record;
}

Status InterfaceAdapter::reserve_agent_call() {
  std::lock_guard lock(mutex_);
  try {
    if (upcalls_ == nullptr) upcalls_ = std::make_unique<UpcallThread>();
    upcalls_->reserve();
  } catch (const std::system_error&) {
    return insufficient_resources(StatusDetail::kResourceMemory);
  } catch (const std::bad_alloc&) {
    return insufficient_resources(StatusDetail::kResourceMemory);
  }
  return kOk;
}

void InterfaceAdapter::release_agent_call() {
  std::lock_guard lock(mutex_);
  if (upcalls_ != nullptr) upcalls_->release();
}

// Called under the CNO's lock. The agent itself runs later, in the upcall thread.
void InterfaceAdapter::call_agent(WaitAgent agent, Handle evd) {
  std::lock_guard lock(mutex_);
  if (upcalls_ != nullptr) upcalls_->post(agent, evd);
}

// Each object keeps its IA alive.
InterfaceAdapter::~InterfaceAdapter() {
  for ([[maybe_unused]] const auto& objects : objects_) {
    SOFTDAT_DEBUG_CHECK(objects.empty(), "an IA outlives its objects", objects.size());
  }
}

Adoption::Adoption(InterfaceAdapter& ia, std::shared_ptr<Object> object, Maker maker)
    : object_(std::move(object)), status_(ia.adopt(object_, maker)), maker_(maker) {}

Adoption::~Adoption() {
  if (is_published_ || !status_.ok()) return;
  object_->ia().forget(*object_);
  HandleTable::instance().abandon(*object_);
}

Handle Adoption::publish() {
  SOFTDAT_DEBUG_CHECK(status_.ok() && !is_published_, "an object that was adopted is published once");
  object_->ia().counters().add_created(object_->kind());
  if (maker_ == Maker::kConsumer) note_maker(*object_);
  HandleTable::instance().publish(*object_);
  is_published_ = true;
  return object_->handle();
}

}  // namespace softdat::object
