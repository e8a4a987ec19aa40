// SPDX-License-Identifier: BSD-2-Clause
// Rendezvous: how carriers of one host and one user find each other: by socket files in directories of the user
// (base/socket_directory.h), named `VERSION-NETNS-ADDRESS-SERVICE`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/ip_address.h"
#include "base/socket_directory.h"

namespace softdat::transport::shm {

using base::Listening;
using base::SocketFile;
using base::SocketResult;

// Address and service id: the name under which a service is found.
using ServiceKey = std::pair<base::IpAddress, std::uint64_t>;

class Rendezvous {
 public:
  // Asks the system which network namespace this process is in.
  Rendezvous();

  // Why no directory can be used, in words for the user; empty when one can.
  std::string problem() const;

  Listening listen(const base::IpAddress& address, std::uint64_t service_id) const;
  // error ECONNREFUSED: nobody listens there.
  SocketResult connect(const base::IpAddress& address, std::uint64_t service_id) const;
  // A process of this user listens there, or is about to.
  bool is_served(const base::IpAddress& address, std::uint64_t service_id) const;
  // The version of this protocol that a listener of another build has at that name; 0 when there is none.
  std::uint32_t other_version(const base::IpAddress& address, std::uint64_t service_id) const;

  // Unlinks that file wherever no process has its socket open. False when one still has: ask again later.
  bool remove_if_stale(const base::IpAddress& address, std::uint64_t service_id) const;
  // The same for every file in the directories, up to a bound.
  void sweep() const;

  // The path of a name in the first usable directory. For tests, and for people.
  std::string path(const base::IpAddress& address, std::uint64_t service_id) const;

 private:
  std::string suffix(const base::IpAddress& address, std::uint64_t service_id) const;
  std::string name(const base::IpAddress& address, std::uint64_t service_id) const;

  // Fixed after construction; empty: unknown, and then there is no rendezvous.
  std::string network_;
};

}  // namespace softdat::transport::shm
