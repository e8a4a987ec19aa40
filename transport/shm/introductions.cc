// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/introductions.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/log.h"
#include "transport/shm/carrier_parts.h"
#include "transport/shm/reaper.h"
#include "transport/shm/shm_port.h"

namespace softdat::transport::shm {
namespace {

constexpr std::size_t kMostKnownServices = 4096;
constexpr int kMostQuestions = 3;
constexpr std::size_t kMostPendingAccepts = 256;

ServiceKey key_of(const Question& question) {
  return {question.remote.with_port(0), question.offer.service_id};
}

// The same on both sides, whatever either joins later.
SleepFence fence_of(const Sender& self, LinkFeatures peers) {
  return self.joins_fences && (peers & kJoinsFences) != 0 ? SleepFence::kConsumer : SleepFence::kBoth;
}

}  // namespace

Introductions::Introductions(CarrierParts& carrier)
    : carrier_(carrier), duty_(carrier.reactor, LinkConnector::kRetryPause) {}

Introductions::~Introductions() = default;

LinkConnector::Begin Introductions::start(ShmChannel& channel) {
  if (has_given_up_) return LinkConnector::Begin::kNoResources;
  Question& question = *channel.opening().question();
  const ServiceKey key = key_of(question);
  ++question.attempts;
  const auto known = known_services_.find(key);
  // Whether the peer of a known link still lives is not asked here, because that takes system calls. If it has died,
  // on_link_lost() asks again.
  if (known != known_services_.end() && !known->second->ending().is_due()) {
    known->second->conversations().open(channel);
    return LinkConnector::Begin::kUnderWay;
  }
  auto under_way = connectors_.find(key);
  if (under_way == connectors_.end() || under_way->second->is_done()) {
    if (under_way != connectors_.end()) connectors_.erase(under_way);
    auto connector = std::make_unique<LinkConnector>(carrier_, key);
    const LinkConnector::Begin begin = connector->begin();
    if (begin == LinkConnector::Begin::kNobody) tell_of_other_version(key);
    if (begin != LinkConnector::Begin::kUnderWay) return begin;
    carrier_.attention.stir();
    under_way = connectors_.emplace(key, std::move(connector)).first;
  }
  under_way->second->add(channel);
  return LinkConnector::Begin::kUnderWay;
}

LinkConnector::Begin Introductions::start_if_possible(ShmChannel& channel) try {
  return start(channel);
} catch (const std::bad_alloc&) {
  return LinkConnector::Begin::kNoResources;
}

bool Introductions::may_start_anew(ShmChannel& channel) const {
  return !has_given_up_ && channel.opening().question()->attempts < kMostQuestions;
}

// REQUIRES: may_start_anew().
LinkConnector::Begin Introductions::start_anew(ShmChannel& channel) {
  channel.ask_again();
  return start_if_possible(channel);
}

void Introductions::on_refused(ShmChannel& channel, Link& link, const RefusalNotice& notice) {
  const auto known = known_services_.find(key_of(*channel.opening().question()));
  if (notice.is_stale && known != known_services_.end() && known->second == &link) {
    known_services_.erase(known);
    if (may_start_anew(channel) && start_anew(channel) == LinkConnector::Begin::kUnderWay) return;
  }
  channel.on_refusal(notice);
}

// Another process may serve the id by now.
void Introductions::on_link_lost(ShmChannel& channel) {
  if (!may_start_anew(channel)) return channel.on_end(CloseReason::kLost, {}, Refusal::kUnreachable);
  // The owner retries after kNoListener, so a shortage is reported as that, too.
  if (start_anew(channel) != LinkConnector::Begin::kUnderWay)
    channel.on_end(CloseReason::kLost, {}, Refusal::kNoListener);
}

void Introductions::give_up() {
  has_given_up_ = true;
  for (const auto& [key, connector] : connectors_) connector->give_up(Refusal::kUnreachable);
}

void Introductions::greet(PeerSocket socket) try {
  carrier_.attention.stir();
  if (pending_accepts_.size() >= kMostPendingAccepts) pending_accepts_.erase(pending_accepts_.begin());
  auto pending = std::make_unique<PendingAccept>(carrier_, std::move(socket));
  if (!pending->is_done()) pending_accepts_.push_back(std::move(pending));
} catch (const std::bad_alloc&) {
  return;
}

void Introductions::welcome(PeerSocket socket, Hello hello) {
  const auto say_no = [&](Answer answer) {
    static_cast<void>(send_welcome(socket.get(), carrier_.sender(), answer, -1, {}));
  };
  if (!hello.is_our_version) return say_no(Answer::kNoCommonVersion);
  // Two carriers have one link, whichever side asked, and however many services they use of each other.
  if (carrier_.links.find(hello.sender) != nullptr) return say_no(Answer::kExistingLink);
  auto segment = Segment::create(carrier_.options.ring_bytes, carrier_.segment_places);
  if (!segment) return;
  const int memory = segment->memory_fd();
  const Sender self = carrier_.sender();
  if (!send_welcome(socket.get(), self, Answer::kNewLink, memory, resource_files())) return;
  // The mapping is enough, and each link costs one descriptor less.
  segment->drop_fd();
  add_link(
      {Side::kAcceptor, hello.sender, fence_of(self, hello.features), std::move(*segment), std::move(socket), nullptr},
      std::move(hello.files));
}

Link* Introductions::join(PeerSocket socket, const Sender& self, Welcome welcome) {
  auto segment = Segment::attach(std::move(welcome.memory), carrier_.segment_places);
  // The connector tries again, as if the peer had hung up.
  if (!segment) return nullptr;
  segment->drop_fd();
  return add_link({Side::kConnector, welcome.sender, fence_of(self, welcome.features), std::move(*segment),
                   std::move(socket), nullptr},
                  std::move(welcome.files));
}

// Throws std::bad_alloc, and then the peer's resources have been given back.
Link* Introductions::add_link(LinkParts parts, std::array<base::UniqueFd, kResourceFiles> files) {
  const std::shared_ptr<PeerResources> resources = attach_peer(parts.socket.get(), std::move(files));
  parts.resources = resources;
  try {
    return carrier_.links.add(std::move(parts));
  } catch (const std::bad_alloc&) {
    // No channel has been opened, so the peer has nothing to touch here.
    if (resources) static_cast<void>(carrier_.options.resources->detach_peer(resources, false));
    throw;
  }
}

ResourceFiles Introductions::resource_files() const {
  const auto& resources = carrier_.options.resources;
  return resources == nullptr ? ResourceFiles{} : resources->resource_files();
}

std::shared_ptr<PeerResources> Introductions::attach_peer(int socket,
                                                          std::array<base::UniqueFd, kResourceFiles> files) {
  const auto& resources = carrier_.options.resources;
  if (resources == nullptr || !std::ranges::all_of(files, [](const auto& file) { return static_cast<bool>(file); })) {
    return nullptr;
  }
  return resources->attach_peer(std::move(files), open_process(socket));
}

void Introductions::remember(const ServiceKey& key, Link& link) {
  if (known_services_.size() >= kMostKnownServices) known_services_.clear();
  try {
    known_services_[key] = &link;
  } catch (const std::bad_alloc&) {
    return;  // it will be asked for again
  }
}

void Introductions::forget(const Link& link) {
  std::erase_if(known_services_, [&](const auto& known) {
    const bool is_its = known.second == &link;
    if (is_its) carrier_.abandoned.add(known.first);
    return is_its;
  });
}

void Introductions::turn(base::Time now) {
  bool has_retries = false;
  for (const auto& [key, connector] : connectors_) {
    connector->retry_if_due(now);
    connector->give_up_if_unwanted(now);
    has_retries |= connector->is_retrying();
  }
  duty_.note(has_retries);
  std::erase_if(connectors_, [](const auto& connector) { return connector.second->is_done(); });
  for (const auto& pending : pending_accepts_) pending->give_up_if_late(now);
  std::erase_if(pending_accepts_, [](const auto& pending) { return pending->is_done(); });
}

// A listener of another build has another name, so it is found by TCP. Said once.
void Introductions::tell_of_other_version(const ServiceKey& key) {
  if (has_told_of_version_) return;
  const std::uint32_t version = carrier_.rendezvous.other_version(key.first, key.second);
  if (version == 0) return;
  has_told_of_version_ = true;
  base::log(
      base::LogLevel::kWarning,
      "%s service %llu: its process speaks version %u of shared memory and this one version %u, so the two do not "
      "share memory; run the same build of SoftDAT in both",
      base::text_of(key.first).c_str(), static_cast<unsigned long long>(key.second), version, kSegmentVersion);
}

}  // namespace softdat::transport::shm
