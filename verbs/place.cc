// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/place.h"

#include <arpa/inet.h>
#include <ifaddrs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

namespace softdat::verbs {
namespace {

struct LocalAddress {
  std::string interface;
  sockaddr_storage address{};
};

std::vector<std::string> device_names(const Library& library) {
  std::vector<std::string> names;
  int count = 0;
  ibv_device** const list = library.get_device_list(&count);
  if (list == nullptr) return names;
  for (int i = 0; i < count; ++i) names.emplace_back(list[i]->name);
  library.free_device_list(list);
  return names;
}

std::size_t length_of(sa_family_t family) {
  return family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

bool is_link_local(const sockaddr& address) {
  return address.sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

// IPv4 before IPv6, link-local last, otherwise as the system lists them.
std::vector<LocalAddress> local_addresses() {
  std::vector<LocalAddress> result;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return result;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const sa_family_t family : {sa_family_t{AF_INET}, sa_family_t{AF_INET6}}) {
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != family) continue;
      LocalAddress& found = result.emplace_back();
      found.interface = entry->ifa_name;
      std::memcpy(&found.address, entry->ifa_addr, length_of(family));
    }
  }
  std::stable_partition(result.begin(), result.end(), [](const LocalAddress& local) {
    return !is_link_local(reinterpret_cast<const sockaddr&>(local.address));
  });
  return result;
}

// The device that the connection manager gives to an address, if any.
std::optional<Place> probe(const Library& library, const LocalAddress& local) {
  rdma_cm_id* id = nullptr;
  rdma_event_channel* const channel = library.create_event_channel();
  if (channel == nullptr) return std::nullopt;
  std::optional<Place> place;
  if (library.create_id(channel, &id, nullptr, RDMA_PS_TCP) == 0) {
    sockaddr_storage address = local.address;
    if (library.bind_addr(id, reinterpret_cast<sockaddr*>(&address)) == 0 && id->verbs != nullptr) {
      place = Place{.device = id->verbs->device->name,
                    .interface = local.interface,
                    .port = std::max<std::uint8_t>(id->port_num, 1),
                    .address = local.address};
    }
    library.destroy_id(id);
  }
  library.destroy_event_channel(channel);
  return place;
}

std::string why_nothing_answers(const Library& library) {
  if (device_names(library).empty()) {
    return "this machine has no RDMA device (libibverbs lists none; are the kernel modules ib_uverbs and the device's "
           "loaded?)";
  }
  rdma_event_channel* const channel = library.create_event_channel();
  if (channel == nullptr) {
    return std::string("the RDMA connection manager cannot be opened (") + std::strerror(errno) +
           "; is the kernel module rdma_ucm loaded?)";
  }
  library.destroy_event_channel(channel);
  return {};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool is_same_host(const sockaddr_storage& a, const sockaddr_storage& b) {
  return a.ss_family == b.ss_family && text_of(a) == text_of(b);
}

std::optional<sockaddr_storage> literal(const std::string& text) {
  sockaddr_storage result{};
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&result);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&result);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    result.ss_family = AF_INET;
    return result;
  }
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    result.ss_family = AF_INET6;
    return result;
  }
  return std::nullopt;
}

bool is_candidate(const std::string& target, const std::optional<sockaddr_storage>& wanted, const LocalAddress& local,
                  bool is_device) {
  if (target.empty() || is_device) return true;
  return wanted ? is_same_host(*wanted, local.address) : local.interface == target;
}

}  // namespace

std::string text_of(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof text);
  } else {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text, sizeof text);
  }
  return text;
}

base::Result<Place, std::string> find_place(const Library& library, const std::string& target) {
  if (const std::string problem = why_nothing_answers(library); !problem.empty()) return base::Failure{problem};
  const std::vector<std::string> devices = device_names(library);
  const bool is_device = std::find(devices.begin(), devices.end(), target) != devices.end();
  const auto wanted = literal(target);
  bool is_known = false;
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

std::vector<Place> find_all_places(const Library& library, std::vector<Hopeless>& others) {
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
