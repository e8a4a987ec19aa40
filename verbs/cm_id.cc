// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/cm_id.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/log.h"
#include "verbs/address.h"
#include "verbs/private_data.h"
#include "verbs/service_port.h"
#include "verbs/status.h"

namespace softdat::verbs {

using hca::ConnectionEventType;

namespace {

constexpr std::uint8_t kRetries = 7;
constexpr std::uint8_t kRetriesForEver = 7;  // of a peer that has no receive posted
// A neighbour that does not answer by then is not there.
constexpr base::Duration kLongestResolution = std::chrono::seconds(4);
// On a host with half of its ports taken, one in 65536 requests finds none then.
constexpr int kPortsTried = 16;
// Set by the kernel for Ethernet, and not for us to modify.
constexpr int kEthernetBits = 0xe0'0000;

// rdma_conn_param and ibv_qp_attr count outstanding reads in 8 bits.
std::uint8_t to_count(std::uint32_t reads) {
  return static_cast<std::uint8_t>(std::min<std::uint32_t>(reads, 255));
}

// errno of rdma_resolve_addr() when no device of ours leads to the address. All else ends as kTimedOut.
bool is_unreachable(int number) {
  return number == ENETUNREACH || number == EHOSTUNREACH || number == ENODEV || number == EADDRNOTAVAIL ||
         number == EINVAL;
}

}  // namespace

CmId::CmId(const DeviceView& device, const hca::QueuePairConfig& config, DeviceQueuePair& device_pair,
           EventTarget& target)
    : device_(device),
      limits_(config.limits),
      has_srq_(config.srq != nullptr),
      device_pair_(device_pair),
      target_(target) {}

// Runs before the state changes: a failure here is the answer of connect(). Later steps fail by an event.
hca::Outcome CmId::open(const hca::ConnectParameters& parameters) try {
  const base::Time deadline = base::deadline_after(base::Clock::now(), parameters.timeout);
  private_data_.assign(parameters.private_data.begin(), parameters.private_data.end());
  const auto id = make_id();
  if (!id) return hca::fail(id.reason());
  id_ = id.value();
  remote_ = parameters.remote;
  service_id_ = parameters.service_id;
  deadline_ = deadline;
  ports_left_ = kPortsTried - 1;
  return hca::Done{};
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
}

hca::Result<rdma_cm_id*> CmId::make_id() {
  rdma_cm_id* id = nullptr;
  if (device_.library().cm.create_id(device_.adapter.connections, &id, nullptr, RDMA_PS_TCP) != 0) {
    return hca::fail(error_of(errno));
  }
  try {
    device_.events.add(key_of(id), target_);
  } catch (const std::bad_alloc&) {
    device_.library().cm.destroy_id(id);  // at once: it has no events yet
    return hca::fail(hca::Error::kNoMemory);
  }
  return id;
}

// For one step.
int CmId::milliseconds_left() const {
  const base::Duration left = deadline_ == base::kNever ? kLongestResolution : deadline_ - base::Clock::now();
  const auto bounded = std::clamp<base::Duration>(left, std::chrono::milliseconds(1), kLongestResolution);
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(bounded).count());
}

// The loopback interface leads to no other device, so only a device with a loopback address reaches one.
CmId::Failed CmId::resolve_address() {
  const hca::Address& own = device_.traits.place.address;
  sockaddr_storage source = socket_address(own, 0);
  sockaddr_storage target = socket_address(remote_, port_of_service(service_id_));
  if (is_loopback(remote_) && !is_loopback(own)) return ConnectionEventType::kUnreachable;
  const int failed = device_.library().cm.resolve_addr(id_, reinterpret_cast<sockaddr*>(&source),
                                                       reinterpret_cast<sockaddr*>(&target), milliseconds_left());
  if (failed == 0) return std::nullopt;
  return is_unreachable(errno) ? ConnectionEventType::kUnreachable : ConnectionEventType::kTimedOut;
}

CmId::Failed CmId::resolve_route() {
  if (device_.library().cm.resolve_route(id_, milliseconds_left()) == 0) return std::nullopt;
  return ConnectionEventType::kUnreachable;
}

CmId::Failed CmId::send_request() {
  const OutgoingPrivateData data(private_data_, device_.traits.is_iwarp);
  rdma_conn_param wish = conn_param(data, limits_.ird, limits_.ord);
  wish.retry_count = kRetries;
  note_port();
  // rdma_cm does not own the ibv_qp (the id has none), so we change its states. iWARP moves it on from INIT itself;
  // InfiniBand goes on in confirm().
  if (move_to(IBV_QPS_INIT, 0, 0) && device_.library().cm.connect(id_, &wish) == 0) return std::nullopt;
  const int error = errno;  // of TCP, where the device connects before it returns
  if (error == EADDRINUSE && take_another_port()) return resolve_address();
  base::log(base::LogLevel::kNotice, "verbs:%s cannot ask for a connection: %s", device_.traits.place.device.c_str(),
            std::strerror(error));
  return error == ECONNREFUSED || error == ECONNRESET ? ConnectionEventType::kNonPeerRejected
                                                      : ConnectionEventType::kUnreachable;
}

// The connection manager chooses our port among those that no id has. An iWARP device in software has TCP connect from
// there. A socket of some program may have that port, which the connection manager does not know.
bool CmId::take_another_port() {
  if (ports_left_ == 0) return false;
  const auto id = make_id();
  if (!id) return false;
  --ports_left_;
  // Events of the old id reach nobody from here on; the new id begins with its address.
  device_.events.bury(std::exchange(id_, id.value()));
  return true;
}

// What either side says of itself. Refers to the data.
rdma_conn_param CmId::conn_param(const OutgoingPrivateData& data, std::uint32_t ird, std::uint32_t ord) const {
  rdma_conn_param result{};
  result.private_data = data.data();
  result.private_data_len = data.size();
  result.responder_resources = to_count(ird);
  result.initiator_depth = to_count(ord);
  result.rnr_retry_count = kRetriesForEver;
  result.srq = has_srq_ ? 1 : 0;
  result.qp_num = device_pair_.number();
  return result;
}

// The connection manager knows what a state needs: addresses, numbers, times.
bool CmId::move_to(ibv_qp_state state, std::uint32_t ird, std::uint32_t ord) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  int mask = 0;
  if (device_.library().cm.init_qp_attr(id_, &attributes, &mask) != 0) return false;
  mask &= ~kEthernetBits;
  if (state == IBV_QPS_INIT) {
    attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    if (device_.traits.has_atomics) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  }
  if (state == IBV_QPS_RTR) attributes.max_dest_rd_atomic = to_count(ird);
  // With none allowed a read would wait for ever; so it goes out, and the peer that takes none refuses it.
  if (state == IBV_QPS_RTS) attributes.max_rd_atomic = to_count(std::max(ord, std::min(limits_.ord, 1u)));
  return device_pair_.modify(attributes, mask);
}

void CmId::adopt(CmEvent& request) {
  // First, because only this may throw: request keeps its id then.
  device_.events.add(key_of(request.id), target_);
  id_ = std::exchange(request.id, nullptr);
  remote_ = address_of(*rdma_get_peer_addr(id_));
  note_port();
}

// RFC 6581 section 9.1, and InfiniBand alike: neither side may promise more than the other can use. A peer of MPA
// revision 1 cannot speak of reads, and is taken to answer one at a time; one that has said 0 gets no more by it.
bool CmId::answer(const CmEvent& request, std::span<const std::byte> private_data) {
  const bool is_silent = device_.traits.is_iwarp && request.ird == 0 && request.ord == 0;
  const std::uint32_t ird = std::min(limits_.ird, is_silent ? limits_.ird : request.ord);
  const std::uint32_t ord = std::min(limits_.ord, is_silent ? 1 : request.ird);
  const OutgoingPrivateData data(private_data, device_.traits.is_iwarp);
  rdma_conn_param answer = conn_param(data, ird, ord);
  if (!move_to(IBV_QPS_INIT, 0, 0)) return false;
  // InfiniBand: the peer may send as soon as it has the reply, so the ibv_qp is ready before that goes out.
  const bool is_ready = device_.traits.is_iwarp || (move_to(IBV_QPS_RTR, ird, 0) && move_to(IBV_QPS_RTS, 0, ord));
  return is_ready && device_.library().cm.accept(id_, &answer) == 0;
}

bool CmId::confirm(const CmEvent& response) {
  const std::uint32_t ird = std::min(limits_.ird, response.ord);
  const std::uint32_t ord = std::min(limits_.ord, response.ird);
  // rdma_establish() sends the RTU, the third message of InfiniBand's handshake. The peer's numbers cross: its ORD
  // bounds our IRD.
  return move_to(IBV_QPS_RTR, ird, 0) && move_to(IBV_QPS_RTS, 0, ord) && device_.library().cm.establish(id_) == 0;
}

void CmId::on_established() {
  note_port();
  deadline_ = base::kNever;
}

void CmId::note_port() {
  port_ = port_of(*rdma_get_local_addr(id_));
}

void CmId::notify(ibv_event_type type) {
  if (id_ != nullptr) device_.library().cm.notify(id_, type);
}

void CmId::disconnect() {
  device_.library().cm.disconnect(id_);
}

void CmId::release() {
  device_.events.bury(std::exchange(id_, nullptr));
}

void CmId::forget_peer() {
  remote_ = {};
  port_ = 0;
}

}  // namespace softdat::verbs
