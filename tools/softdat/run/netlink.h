// SPDX-License-Identifier: BSD-2-Clause
// The few requests of rtnetlink(7) that make network interfaces.
#pragma once

#include <cstdint>
#include <string>

namespace softdat::tools::run {

// Talks to the network namespace that the thread is in when it is made, and to that one for good. Each request throws
// Failure, with the kernel's reason, when it is refused.
class Netlink {
 public:
  Netlink();
  ~Netlink();
  Netlink(const Netlink&) = delete;
  Netlink& operator=(const Netlink&) = delete;

  void add_bridge(const std::string& name);
  // A cable: one end here, plugged into the bridge; the other in the network namespace `network`.
  void add_cable(const std::string& name, const std::string& bridge, const std::string& other_name, int network);
  void add_address(const std::string& name, const std::string& address, std::uint8_t prefix);
  void bring_up(const std::string& name);

 private:
  class Message;
  void request(Message& message, const std::string& what);

  int socket_ = -1;
};

}  // namespace softdat::tools::run
