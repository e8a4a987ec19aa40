// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/netlink.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "tools/softdat/dat_call.h"

namespace softdat::tools::run {

// A request under construction. Everything in it begins at a multiple of four bytes.
class Netlink::Message {
 public:
  Message(std::uint16_t type, std::uint16_t flags) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    append(&header, sizeof header);
  }

  void append(const void* data, std::size_t size) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + NLMSG_ALIGN(size));
    std::memcpy(bytes_.data() + at, data, size);
  }

  void add(std::uint16_t type, const void* data, std::size_t size) {
    const rtattr attribute{static_cast<std::uint16_t>(RTA_LENGTH(size)), type};
    append(&attribute, sizeof attribute);
    if (size != 0) append(data, size);
  }
  void add(std::uint16_t type, const std::string& text) { add(type, text.c_str(), text.size() + 1); }

  // Attributes that are added until end() of the returned place belong to this one.
  std::size_t begin(std::uint16_t type) {
    const std::size_t at = bytes_.size();
    add(type, nullptr, 0);
    return at;
  }
  void end(std::size_t at) {
    const auto size = static_cast<std::uint16_t>(bytes_.size() - at);
    std::memcpy(bytes_.data() + at, &size, sizeof size);
  }

  const std::vector<char>& finish() {
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &size, sizeof size);
    return bytes_;
  }

 private:
  std::vector<char> bytes_;
};

namespace {

int index_of(const std::string& name) {
  const unsigned index = ::if_nametoindex(name.c_str());
  if (index == 0) throw Failure(fmt::format("the interface {} is not there: {}", name, std::strerror(errno)));
  return static_cast<int>(index);
}

ifinfomsg link_up() {
  ifinfomsg link{};
  link.ifi_family = AF_UNSPEC;
  link.ifi_flags = IFF_UP;
  link.ifi_change = IFF_UP;
  return link;
}

}  // namespace

Netlink::Netlink() : socket_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
  if (socket_ < 0) throw Failure(fmt::format("cannot talk to the kernel about networks: {}", std::strerror(errno)));
}

Netlink::~Netlink() {
  ::close(socket_);
}

// NLM_F_ACK: the kernel answers every request with an NLMSG_ERROR, whose error is 0 when it was done (netlink(7)). It
// does so before send() returns, so recv() waits for nobody.
void Netlink::request(Message& message, const std::string& what) {
  const std::vector<char>& bytes = message.finish();
  struct {
    nlmsghdr header;
    nlmsgerr answer;
    char rest[8192];
  } reply{};
  const bool is_answered =
      ::send(socket_, bytes.data(), bytes.size(), 0) >= 0 && ::recv(socket_, &reply, sizeof reply, 0) >= 0;
  const int error = !is_answered ? errno : reply.header.nlmsg_type == NLMSG_ERROR ? -reply.answer.error : EPROTO;
  if (error != 0) throw Failure(fmt::format("{}: {}", what, std::strerror(error)));
}

void Netlink::add_bridge(const std::string& name) {
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  const ifinfomsg link = link_up();
  message.append(&link, sizeof link);
  message.add(IFLA_IFNAME, name);
  const std::size_t info = message.begin(IFLA_LINKINFO);
  message.add(IFLA_INFO_KIND, "bridge");
  message.end(info);
  request(message, "cannot make a bridge");
}

void Netlink::add_cable(const std::string& name, const std::string& bridge, const std::string& other_name,
                        int network) {
  Message message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  const ifinfomsg link = link_up();
  const int bridge_index = index_of(bridge);
  message.append(&link, sizeof link);
  message.add(IFLA_IFNAME, name);
  message.add(IFLA_MASTER, &bridge_index, sizeof bridge_index);
  const std::size_t info = message.begin(IFLA_LINKINFO);
  message.add(IFLA_INFO_KIND, "veth");
  const std::size_t data = message.begin(IFLA_INFO_DATA);
  const std::size_t peer = message.begin(VETH_INFO_PEER);
  // The peer's attribute begins with a header of its own, as a request does (veth.h).
  const ifinfomsg other{};
  message.append(&other, sizeof other);
  message.add(IFLA_IFNAME, other_name);
  message.add(IFLA_NET_NS_FD, &network, sizeof network);
  for (const std::size_t nest : {peer, data, info}) message.end(nest);
  request(message, "cannot make a pair of veth interfaces");
}

void Netlink::add_address(const std::string& name, const std::string& address, std::uint8_t prefix) {
  Message message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  ifaddrmsg what{};
  what.ifa_family = AF_INET;
  what.ifa_prefixlen = prefix;
  what.ifa_index = static_cast<unsigned>(index_of(name));
  message.append(&what, sizeof what);
  in_addr binary{};
  ::inet_pton(AF_INET, address.c_str(), &binary);
  message.add(IFA_LOCAL, &binary, sizeof binary);
  message.add(IFA_ADDRESS, &binary, sizeof binary);
  request(message, fmt::format("cannot give {} the address {}", name, address));
}

void Netlink::bring_up(const std::string& name) {
  Message message(RTM_NEWLINK, 0);
  ifinfomsg link = link_up();
  link.ifi_index = index_of(name);
  message.append(&link, sizeof link);
  request(message, fmt::format("cannot bring {} up", name));
}

}  // namespace softdat::tools::run
