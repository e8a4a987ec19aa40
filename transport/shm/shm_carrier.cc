// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/shm_carrier.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/fault_guard.h"
#include "base/local_addresses.h"
#include "base/log.h"
#include "base/place.h"
#include "base/socket_holder.h"
#include "transport/shm/link.h"
#include "transport/shm/reaper.h"
#include "transport/shm/shm_port.h"
#include "transport/shm/unix_socket.h"

namespace softdat::transport::shm {
namespace {

constexpr std::size_t kMostKnownServices = 4096;
constexpr int kMostQuestions = 3;
constexpr std::size_t kMostPendingAccepts = 256;

}  // namespace

ShmCarrier::ShmCarrier(Reactor& reactor, const ShmOptions& options)
    : reactor_(reactor), options_(options), id_(make_carrier_id()), packet_buffer_(kMostPacketBytes) {
  prepare_reaper();
  rendezvous_.sweep();
}

std::string ShmCarrier::problem(const ShmOptions& options) {
  const std::string no_directory = Rendezvous().problem();
  return no_directory.empty() ? Segment::problem(options.ring_bytes) : no_directory;
}

ShmCarrier::~ShmCarrier() {
  // Before the links are destroyed, which closes their sockets.
  for (const auto& link : links_) link->say_farewell();
}

ListenResult ShmCarrier::listen(std::uint64_t service_id, std::uint32_t backlog, PortSink& sink) {
  if (has_failed_) return {nullptr, ListenError::kNoResources};
  Listening listening = rendezvous_.listen(options_.address, service_id);
  if (listening.error == EADDRINUSE) {
    const std::string path = rendezvous_.path(options_.address, service_id);
    base::blame_holder_of_unix_socket(base::file_name(path.c_str()));
    return {nullptr, ListenError::kAddressInUse};
  }
  if (!listening.socket) {
    base::log(base::LogLevel::kWarning, "service %llu is not found by shared memory: no socket file could be made (%s)",
              static_cast<unsigned long long>(service_id), std::strerror(listening.error));
    return {nullptr, ListenError::kNoResources};
  }
  auto port = std::make_unique<ShmPort>(*this, service_id, backlog, sink, std::move(listening));
  if (!port->is_open()) return {nullptr, ListenError::kNoResources};
  ports_[service_id] = port.get();
  return {std::move(port)};
}

// Without TCP beside it: a service that nobody serves in shared memory is refused here.
std::unique_ptr<Channel> ShmCarrier::connect(const Address& remote, const Offer& request, ChannelSink& sink) {
  auto channel = std::make_unique<ShmChannel>(*this, sink);
  channel->ask({.remote = remote, .offer = request});
  const LinkConnector::Begin begin = start(*channel);
  const bool is_known_host = begin == LinkConnector::Begin::kNobody && is_local_address(remote);
  if (begin != LinkConnector::Begin::kUnderWay) {
    channel->tell_later(News::kRefused, is_known_host ? Refusal::kNoListener : Refusal::kUnreachable);
  }
  if (tapper_ != nullptr) channel->begin_tap(tapper_->on_connect(remote, request, channel->carrier_name(), sink));
  return channel;
}

void ShmCarrier::tap(Tapper* tapper) {
  for (ShmChannel& channel : channels_) channel.end_tap();
  tapper_ = tapper;
  if (tapper == nullptr) return;
  for (ShmChannel& channel : channels_) channel.join_tap(*tapper);
}

std::unique_ptr<Channel> ShmCarrier::try_connect(const Address& remote, const Offer& request, ChannelSink& sink) {
  auto channel = std::make_unique<ShmChannel>(*this, sink);
  channel->ask({.remote = remote, .offer = request});
  // Null, without a word to the sink: the caller goes on by TCP.
  if (start(*channel) != LinkConnector::Begin::kUnderWay) return nullptr;
  if (tapper_ != nullptr) channel->begin_tap(tapper_->on_connect(remote, request, channel->carrier_name(), sink));
  return channel;
}

// By the link to whoever served this id before, or by asking at its rendezvous.
LinkConnector::Begin ShmCarrier::start(ShmChannel& channel) {
  const ServiceKey key{channel.question()->remote.with_port(0), channel.question()->offer.service_id};
  channel.count_attempt();
  const auto known = known_services_.find(key);
  // The heir of a process that has just died is found at the rendezvous, not on the dead one's link.
  if (known != known_services_.end() && known->second->is_alive()) {
    known->second->open(channel);
    return LinkConnector::Begin::kUnderWay;
  }
  auto under_way = connectors_.find(key);
  if (under_way == connectors_.end() || under_way->second->is_done()) {
    if (under_way != connectors_.end()) connectors_.erase(under_way);
    auto connector = std::make_unique<LinkConnector>(*this, key);
    const LinkConnector::Begin begin = connector->begin();
    if (begin == LinkConnector::Begin::kNobody) tell_of_other_version(key);
    if (begin != LinkConnector::Begin::kUnderWay) return begin;
    stir();
    under_way = connectors_.emplace(key, std::move(connector)).first;
  }
  under_way->second->add(channel);
  return LinkConnector::Begin::kUnderWay;
}

// The answer of a service that has moved sends us back to its rendezvous.
void ShmCarrier::on_refused(ShmChannel& channel, Link& link, const RefusalNotice& notice) {
  const ServiceKey key{channel.question()->remote.with_port(0), channel.question()->offer.service_id};
  const auto known = known_services_.find(key);
  if (notice.is_stale && known != known_services_.end() && known->second == &link) {
    known_services_.erase(known);
    const bool may_ask_again = channel.question()->attempts < kMostQuestions;
    channel.be_contacting();
    if (may_ask_again && start_if_possible(channel) == LinkConnector::Begin::kUnderWay) return;
  }
  channel.on_refusal(notice);
}

LinkConnector::Begin ShmCarrier::start_if_possible(ShmChannel& channel) try {
  return start(channel);
} catch (const std::bad_alloc&) {
  return LinkConnector::Begin::kNoResources;
}

ShmPort* ShmCarrier::find_port(std::uint64_t service_id) {
  const auto found = ports_.find(service_id);
  return found == ports_.end() ? nullptr : found->second;
}

// A peer that is hung up on, for want of memory or because too many are silent, comes again.
void ShmCarrier::greet(PeerSocket socket) try {
  stir();
  if (pending_accepts_.size() >= kMostPendingAccepts) pending_accepts_.erase(pending_accepts_.begin());
  auto pending = std::make_unique<PendingAccept>(*this, std::move(socket));
  if (!pending->is_done()) pending_accepts_.push_back(std::move(pending));
} catch (const std::bad_alloc&) {
  return;
}

// Without memory to note its rest a port has none.
void ShmCarrier::rest(std::uint64_t service_id) try {
  stir();
  resting_ports_.push_back(service_id);
} catch (const std::bad_alloc&) {
  if (ShmPort* const port = find_port(service_id)) port->look_again();
}

void ShmCarrier::welcome(PeerSocket socket, Hello hello) {
  const auto say_no = [&](Answer answer) { static_cast<void>(send_welcome(socket.get(), id_, answer, -1, {})); };
  if (!hello.is_our_version) return say_no(Answer::kNoCommonVersion);
  // Two carriers have one link, whichever side asked, and however many services they use of each other.
  if (find_link(hello.sender) != nullptr) return say_no(Answer::kExistingLink);
  auto segment = Segment::create(options_.ring_bytes, segment_places_);
  if (!segment) return;
  if (!send_welcome(socket.get(), id_, Answer::kNewLink, segment->memory_fd(), resource_files())) return;
  // The mapping is enough, and each link costs one descriptor less.
  segment->drop_fd();
  auto resources = attach_peer(socket.get(), std::move(hello.files));
  add_link({Side::kAcceptor, hello.sender, std::move(*segment), std::move(socket), std::move(resources)});
}

Link* ShmCarrier::join(PeerSocket socket, Welcome welcome) {
  auto segment = Segment::attach(std::move(welcome.memory), segment_places_);
  // The connector tries again, as if the peer had hung up.
  if (!segment) return nullptr;
  segment->drop_fd();
  auto resources = attach_peer(socket.get(), std::move(welcome.files));
  return add_link({Side::kConnector, welcome.sender, std::move(*segment), std::move(socket), std::move(resources)});
}

ResourceFiles ShmCarrier::resource_files() const {
  return resources() == nullptr ? ResourceFiles{} : resources()->resource_files();
}

std::shared_ptr<PeerResources> ShmCarrier::attach_peer(int socket, std::array<base::UniqueFd, kResourceFiles> files) {
  if (resources() == nullptr || !std::ranges::all_of(files, [](const auto& file) { return static_cast<bool>(file); })) {
    return nullptr;
  }
  return resources()->attach_peer(std::move(files), open_process(socket));
}

// Room first: a link in one list alone would be forgotten.
Link* ShmCarrier::add_link(LinkParts parts) {
  stir();
  // The program may have registered no memory, or have replaced the handlers since it did.
  may_show_words_ = base::install_fault_guard();
  const std::size_t count = links_.size() + 1;
  if (links_.capacity() < count) links_.reserve(2 * count);
  if (hot_.capacity() < count) hot_.reserve(2 * count);
  if (auto sleepers = sleepers_.lock(); sleepers->capacity() < count) sleepers->reserve(2 * count);
  links_.push_back(std::make_unique<Link>(*this, std::move(parts)));
  Link* link = links_.back().get();
  sleepers_.lock()->push_back(link);
  heat(*link);
  return link;
}

Link* ShmCarrier::find_link(const CarrierId& peer) const {
  for (const auto& link : links_) {
    if (link->peer() == peer && !link->is_ending()) return link.get();
  }
  return nullptr;
}

void ShmCarrier::remember(const ServiceKey& key, Link& link) {
  // A cache only: what is forgotten is asked for at the rendezvous.
  if (known_services_.size() >= kMostKnownServices) known_services_.clear();
  try {
    known_services_[key] = &link;
  } catch (const std::bad_alloc&) {
    return;  // it will be asked for again
  }
}

// A listener of another build has another name, so it is found by TCP. Said once.
void ShmCarrier::tell_of_other_version(const ServiceKey& key) {
  if (has_told_of_version_) return;
  const std::uint32_t version = rendezvous_.other_version(key.first, key.second);
  if (version == 0) return;
  has_told_of_version_ = true;
  base::log(
      base::LogLevel::kWarning,
      "%s service %llu: its process speaks version %u of shared memory and this one version %u, so the two do not "
      "share memory; run the same build of SoftDAT in both",
      base::text_of(key.first).c_str(), static_cast<unsigned long long>(key.second), version, kSegmentVersion);
}

void ShmCarrier::add_news(ShmChannel& channel) {
  news_.push_back(channel);
  note_work();
}

}  // namespace softdat::transport::shm
