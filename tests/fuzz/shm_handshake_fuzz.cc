// SPDX-License-Identifier: BSD-2-Clause
// The packets by which two processes of one host come to share a link. The first byte says how many descriptors come
// along; the rest is the packet. Nothing but a descriptor that was sent is taken, and none is left open.
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/unique_fd.h"
#include "tests/fuzz/fuzz.h"
#include "transport/shm/handshake.h"

namespace {

using namespace softdat::transport::shm;
using softdat::base::UniqueFd;
using softdat::fuzz::expect;

struct Pair {
  UniqueFd near;
  UniqueFd far;
};

Pair make_pair() {
  int ends[2];
  expect(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0, "a socket pair");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// The number of the next descriptor: the same before and after when none has leaked.
int next_descriptor() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)).get();
}

template <typename Packet>
void receive_as(softdat::fuzz::Input bytes, std::span<const int> fds, ReceiveResult (*receive)(int, Packet&)) {
  const Pair pair = make_pair();
  if (!send_packet(pair.far.get(), bytes, fds)) return;
  Packet packet;
  receive(pair.near.get(), packet);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 1024) return 0;
  static const UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  static const std::array<int, kMostFds> files{file.get(), file.get(), file.get(), file.get()};
  const auto fds = std::span(files).first(data[0] % (kMostFds + 1));
  const int before = next_descriptor();
  receive_as<Hello>(softdat::fuzz::as_input(data + 1, size - 1), fds, receive_hello);
  receive_as<Welcome>(softdat::fuzz::as_input(data + 1, size - 1), fds, receive_welcome);
  expect(next_descriptor() == before, "no descriptor stays open");
  return 0;
}
