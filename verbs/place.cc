// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/place.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/local_addresses.h"

namespace softdat::verbs {
namespace {

struct LocalAddress {
  std::string interface;
  base::IpAddress address;
};

std::vector<std::string> device_names(const Library& library) {
  std::vector<std::string> names;
  int count = 0;
  ibv_device** const list = library.devices.get_device_list(&count);
  if (list == nullptr) return names;
  for (int i = 0; i < count; ++i) names.emplace_back(list[i]->name);
  library.devices.free_device_list(list);
  return names;
}

std::vector<LocalAddress> local_addresses() {
  std::vector<LocalAddress> result;
  base::for_each_local_address([&](const char* interface, const base::IpAddress& address) {
    result.push_back({interface, address});
  });
  std::stable_sort(result.begin(), result.end(), [](const LocalAddress& a, const LocalAddress& b) {
    return rank_of(a.address) < rank_of(b.address);
  });
  return result;
}

// The device that the connection manager gives to an address, if any.
// rdma_bind_addr() is the call that finds the device of an address. The id is made for that alone.
std::optional<Place> probe(const Library& library, const LocalAddress& local) {
  rdma_cm_id* id = nullptr;
  rdma_event_channel* const channel = library.cm.create_event_channel();
  if (channel == nullptr) return std::nullopt;
  std::optional<Place> place;
  if (library.cm.create_id(channel, &id, nullptr, RDMA_PS_TCP) == 0) {
    base::SocketAddress address = to_socket_address(local.address);
    // An address of no RDMA device can be bound as well; id->verbs is null then.
    if (library.cm.bind_addr(id, address.generic()) == 0 && id->verbs != nullptr) {
      place = Place{.device = id->verbs->device->name,
                    .interface = local.interface,
                    .port = std::max<std::uint8_t>(id->port_num, 1),
                    .address = local.address};
    }
    library.cm.destroy_id(id);
  }
  library.cm.destroy_event_channel(channel);
  return place;
}

std::string why_nothing_answers(const Library& library) {
  if (device_names(library).empty()) {
    return "this machine has no RDMA device (libibverbs lists none; are the kernel modules ib_uverbs and the device's "
           "loaded?)";
  }
  rdma_event_channel* const channel = library.cm.create_event_channel();
  if (channel == nullptr) {
    return std::string("the RDMA connection manager cannot be opened (") + std::strerror(errno) +
           "; is the kernel module rdma_ucm loaded?)";
  }
  library.cm.destroy_event_channel(channel);
  return {};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// An address without an interface means that of any.
bool is_same_host(const base::IpAddress& wanted, base::IpAddress local) {
  if (!is_link_local(wanted)) local.ipv6.scope = 0;
  return wanted == local;
}

bool is_candidate(const std::string& target, const std::optional<base::IpAddress>& wanted, const LocalAddress& local,
                  bool is_device) {
  if (target.empty() || is_device) return true;
  return wanted ? is_same_host(*wanted, local.address) : local.interface == target;
}

}  // namespace

base::Result<Place, std::string> find_place(const Library& library, const std::string& target) {
  if (const std::string problem = why_nothing_answers(library); !problem.empty()) return base::Failure{problem};
  const std::vector<std::string> devices = device_names(library);
  const bool is_device = std::find(devices.begin(), devices.end(), target) != devices.end();
  const auto wanted = base::read_ip_address(target);
  bool is_known = false;
  // In the order of rank_of(), so that the best address of a device is taken.
  for (const LocalAddress& local : local_addresses()) {
    if (!is_candidate(target, wanted, local, is_device)) continue;
    is_known = true;
    const auto place = probe(library, local);
    if (place && (!is_device || place->device == target)) return *place;
  }
  const std::string others = " (RDMA devices here: " + joined(devices) + ")";
  if (is_device) return base::Failure{"RDMA device " + target + " has no interface that is up and has an IP address"};
  if (target.empty()) return base::Failure{"no address of this host belongs to an RDMA device" + others};
  if (is_known) return base::Failure{target + " does not belong to an RDMA device" + others};
  return base::Failure{
      target + " is neither an RDMA device, nor an interface with an address, nor an address of this host" + others};
}

std::vector<Place> find_all_places(const Library& library, std::vector<RejectedCandidate>& others) {
  std::vector<Place> places;
  if (const std::string problem = why_nothing_answers(library); !problem.empty()) {
    others.push_back({"verbs", problem});
    return places;
  }
  for (const std::string& device : device_names(library)) {
    const auto place = find_place(library, device);
    if (place) places.push_back(place.value());
    if (!place) others.push_back({"verbs:" + device, place.reason()});
  }
  return places;
}

}  // namespace softdat::verbs
