// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/users_words.h"

#include "base/place.h"
#include "libdat/object/common_service_point.h"
#include "libdat/object/consumer_notification.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/handle_words.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/memory_region.h"
#include "libdat/object/memory_window.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/refusal.h"
#include "libdat/object/reserved_service_point.h"
#include "libdat/object/service_point.h"
#include "libdat/object/shared_receive_queue.h"

namespace softdat::object {
namespace {

// Objects may come and go meanwhile: a list is for people, and nothing is decided by it.
// Lists the users: use_of(object, use) tells whether the object is one, and may say in `use` how.
template <typename UseOf>
std::string list_users(UseOf use_of) {
  constexpr int kMost = 6;
  return list_live(kMost, [&](const Object& object, const void*, std::string& use) { return use_of(object, use); });
}

std::string used_by(const std::string& users, const char* remedy) {
  if (users.empty()) return std::string("another object uses it. ") + remedy;
  return "it is used by " + users + ". " + remedy;
}

bool is_in_zone(const Object& object, Handle pz) {
  switch (object.kind()) {
    case Kind::kEp:
      return static_cast<const Endpoint&>(object).query().pz == pz;
    case Kind::kLmr:
      return static_cast<const MemoryRegion&>(object).query().pz == pz;
    case Kind::kRmr:
      return static_cast<const MemoryWindow&>(object).query().pz == pz;
    case Kind::kSrq:
      return static_cast<const SharedReceiveQueue&>(object).query().pz == pz;
    default:
      return false;
  }
}

// "receive, request and connection events".
std::string events_text(const EndpointParameters& ep, Handle evd) {
  std::string text;
  const auto add = [&](bool is_taken, const char* name) {
    if (is_taken) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(ep.recv_evd == evd, "receive");
  add(ep.request_evd == evd, "request");
  add(ep.connect_evd == evd, "connection");
  if (const std::size_t last = text.rfind(", "); last != std::string::npos) text.replace(last, 2, " and ");
  return text.empty() ? text : text + " events";
}

bool feeds(const Object& object, Handle evd, std::string& use) {
  switch (object.kind()) {
    case Kind::kEp:
      use = events_text(static_cast<const Endpoint&>(object).query(), evd);
      return !use.empty();
    case Kind::kPsp:
      return static_cast<const ServicePoint&>(object).query().evd == evd;
    case Kind::kRsp:
      return static_cast<const ReservedServicePoint&>(object).query().evd == evd;
    case Kind::kCsp:
      return static_cast<const CommonServicePoint&>(object).query().evd == evd;
    case Kind::kIa:
      use = "asynchronous events";
      return static_cast<const InterfaceAdapter&>(object).async_evd() == evd;
    default:
      return false;
  }
}

constexpr const char* kFreeFirst = "Free these first";

}  // namespace

std::string in_use_text(const ProtectionZone& pz) {
  const Handle handle = pz.handle();
  return used_by(list_users([&](const Object& object, std::string&) { return is_in_zone(object, handle); }),
                 kFreeFirst);
}

std::string in_use_text(const SharedReceiveQueue& srq) {
  const Handle handle = srq.handle();
  const auto uses = [&](const Object& object, std::string&) {
    return object.kind() == Kind::kEp && static_cast<const Endpoint&>(object).query().srq == handle;
  };
  return used_by(list_users(uses), kFreeFirst);
}

std::string in_use_text(const EventDispatcher& evd) {
  const Handle handle = evd.handle();
  return used_by(list_users([&](const Object& object, std::string& use) { return feeds(object, handle, use); }),
                 kFreeFirst);
}

std::string in_use_text(const MemoryRegion& lmr) {
  const std::uint32_t context = lmr.query().lmr_context;
  const auto is_bound = [&](const Object& object, std::string&) {
    if (object.kind() != Kind::kRmr || &object.ia() != &lmr.ia()) return false;
    const MemoryWindowParameters window = static_cast<const MemoryWindow&>(object).query();
    return window.length != 0 && window.lmr_context == context;
  };
  const std::string windows = list_users(is_bound);
  if (windows.empty()) return "a bind of a memory window (RMR) to the region is posted. Reap its completion first";
  return "memory windows are bound to the region: " + windows +
         ". Free these first, or bind them to nothing (a segment_length of 0)";
}

std::string in_use_text(const ConsumerNotification& cno, std::int64_t waiters) {
  if (waiters > 0) return count_text(waiters, "thread") + " of the program still wait in dat_cno_wait";
  const Handle handle = cno.handle();
  const auto triggers = [&](const Object& object, std::string&) {
    return object.kind() == Kind::kEvd && static_cast<const EventDispatcher&>(object).query().cno == handle;
  };
  return used_by(list_users(triggers), "Free these first, or give them another CNO (dat_evd_modify_cno)");
}

}  // namespace softdat::object
