// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/tcp/raw_peer.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <thread>

#include "base/byte_order.h"
#include "tests/transport/conformance/tcp_world.h"

namespace softdat::transport::tcp {
namespace {

sockaddr_in to_sockaddr(std::uint32_t ipv4, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(ipv4);
  return address;
}

}  // namespace

RawPeer::RawPeer(std::uint32_t ipv4, std::uint16_t port, std::uint32_t from)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_in own = to_sockaddr(from, 0);
  const bool is_free = from == 0 || ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0;
  EXPECT_TRUE(is_free);
  const sockaddr_in address = to_sockaddr(ipv4, port);
  EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

RawPeer RawPeer::listening(std::uint32_t ipv4, std::uint16_t port) {
  RawPeer peer;
  peer.listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int one = 1;
  ::setsockopt(peer.listener_.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  const sockaddr_in address = to_sockaddr(ipv4, port);
  EXPECT_EQ(::bind(peer.listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(peer.listener_.get(), 16), 0);
  return peer;
}

bool RawPeer::adopt() {
  if (fd_) return true;
  fd_.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return is_connected();
}

void RawPeer::send(const Bytes& bytes) {
  EXPECT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

bool RawPeer::has_unacknowledged() const {
  int count = 0;
  EXPECT_EQ(::ioctl(fd_.get(), SIOCOUTQ, &count), 0);
  return count > 0;
}

bool RawPeer::is_hung_up_within(base::Duration time) const {
  pollfd entry{.fd = fd_.get(), .events = POLLRDHUP, .revents = 0};
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(time);
  return ::poll(&entry, 1, static_cast<int>(wait.count())) > 0;
}

void RawPeer::pump() {
  if (listener_) adopt();
  std::byte buffer[65536];
  while (fd_ && !is_ended_) {
    const ssize_t got = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    is_ended_ = got <= 0;
    if (got > 0) received_.insert(received_.end(), buffer, buffer + got);
  }
}

Bytes RawPeer::take(std::size_t length) {
  EXPECT_GE(received_.size(), length);
  length = std::min(length, received_.size());
  const auto end = received_.begin() + static_cast<std::ptrdiff_t>(length);
  Bytes taken(received_.begin(), end);
  received_.erase(received_.begin(), end);
  return taken;
}

void RawPeer::shut_down() {
  ::shutdown(fd_.get(), SHUT_WR);
}

void RawPeer::cut() {
  sock_filter drop_all{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0};
  const sock_fprog program{.len = 1, .filter = &drop_all};
  for (const int fd : {listener_.get(), fd_.get()}) {
    if (fd < 0) continue;
    EXPECT_EQ(::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), 0);
  }
}

void RawPeer::mend() {
  const int ignored = 0;
  for (const int fd : {listener_.get(), fd_.get()}) {
    if (fd < 0) continue;
    EXPECT_EQ(::setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &ignored, sizeof ignored), 0);
  }
}

void RawPeer::reset() {
  const linger hard{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  fd_.reset();
}

Bytes mpa_request(const char* flags_and_revision, const Bytes& rest) {
  Bytes length(2);
  base::store_be(length.data(), static_cast<std::uint16_t>(rest.size()));
  return hex("'MPA ID Req Frame'") + hex(flags_and_revision) + length + rest;
}

Bytes mpa_reply(const char* flags_and_revision, const Bytes& rest) {
  Bytes length(2);
  base::store_be(length.data(), static_cast<std::uint16_t>(rest.size()));
  return hex("'MPA ID Rep Frame'") + hex(flags_and_revision) + length + rest;
}

void RawTest::start(TcpOptions options) {
  address_ = own_loopback_address(1);
  options.address = {.ipv4 = address_};
  carrier_.reset();
  reactor_ = Reactor::create();
  carrier_ = std::make_unique<TcpCarrier>(*reactor_, options);
}

bool RawTest::reach(const std::function<bool()>& is_done, RawPeer* raw) {
  const base::Time deadline = base::Clock::now() + std::chrono::seconds(240);
  while (!is_done()) {
    const std::size_t count = carrier_->turn(now_);
    if (raw != nullptr) raw->pump();
    if (count == 0) std::this_thread::yield();
    if (base::Clock::now() > deadline) return false;
  }
  return true;
}

void RawTest::settle(RawPeer* raw) {
  for (int idle = 0; idle < 100;) {
    idle = carrier_->turn(now_) == 0 ? idle + 1 : 0;
    if (raw != nullptr) raw->pump();
    std::this_thread::yield();
  }
}

void RawTest::connect_raw(RawPeer& raw, Peer& peer, PeerPort& port) {
  raw.send(mpa_request("10 02", hex("0004 0004")));
  ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
  ASSERT_TRUE(peer.accept(*port.requests[0]));
  port.requests.clear();
  ASSERT_TRUE(reach([&] { return raw.received().size() == 24; }, &raw));
  raw.take(24);
}

}  // namespace softdat::transport::tcp
