// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/remote_peer.h"

#include <arpa/inet.h>

#include <cstring>

namespace softdat::conformance {

RemotePeer::RemotePeer(Child::Become become)
    : qualifier_(unused_qualifier()),
      child_(kIsDat2 ? "conformance_peer_dat20" : "conformance_peer_dat12", {std::to_string(qualifier_)}, become) {
  const std::string greeting = child_.read_line();
  const std::string expected = "listening ";
  if (greeting.rfind(expected, 0) != 0) throw SetupFailure("the other process said: " + greeting);
  address_ = greeting.substr(expected.size());
}

DAT_RETURN RemotePeer::request(Peer& client, std::string_view private_data) {
  std::string copy(private_data);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  const bool is_ipv6 = inet_pton(AF_INET6, address_.c_str(), &v6.sin6_addr) == 1;
  if (!is_ipv6) inet_pton(AF_INET, address_.c_str(), &v4.sin_addr);
  const auto address = is_ipv6 ? reinterpret_cast<DAT_IA_ADDRESS_PTR>(&v6) : reinterpret_cast<DAT_IA_ADDRESS_PTR>(&v4);
  return dat_ep_connect(client.ep, address, qualifier_, kPatience, static_cast<DAT_COUNT>(copy.size()),
                        copy.empty() ? nullptr : copy.data(), DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

void RemotePeer::connect(Peer& client) {
  require(request(client), "dat_ep_connect");
  const auto data = next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED).event_data.connect_event_data;
  if (data.private_data_size < static_cast<DAT_COUNT>(sizeof offer_)) throw SetupFailure("no offer of memory");
  std::memcpy(&offer_, data.private_data, sizeof offer_);
  if (child_.read_line() != "connected") throw SetupFailure("the other process did not connect");
}

DAT_RMR_TRIPLET RemotePeer::memory(std::size_t offset, std::size_t length) const {
  return make_remote(offer_.address + offset, length, offer_.context);
}

}  // namespace softdat::conformance
